//! The arguments of `workspace_plan`, and what they ask for.

use redline_workspace::PlanScope;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{ErrorCode, MutationKind, ToolError};

pub(super) fn schema() -> Value {
    let texts = |most: u64, longest: u64, what: &str| {
        json!({
            "type": "array", "maxItems": most, "description": what,
            "items": {"type": "string", "minLength": 1, "maxLength": longest},
        })
    };
    let kinds: Vec<&str> = MutationKind::ALL.map(MutationKind::as_str).to_vec();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["action"],
        "properties": {
            "action": {"type": "string", "enum": ["propose", "complete", "list"], "description": "What to do."},
            "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "propose: the plan in one line."},
            "steps": texts(50, 500, "propose: what is to be done, in order, a line for each."),
            "kinds": {
                "type": "array", "maxItems": 6, "description": "propose: the kinds of change that it needs.",
                "items": {"type": "string", "enum": kinds},
            },
            "paths": texts(200, 400, "propose: globs of the files that it changes, like `src/**`; needed with `transaction`."),
            "commands": {
                "type": "array", "maxItems": 100,
                "description": "propose: first words of the commands that it runs, like [\"cargo\", \"test\"]; needed with `command`.",
                "items": {
                    "type": "array", "minItems": 1, "maxItems": 64,
                    "items": {"type": "string", "minLength": 1, "maxLength": 1000},
                },
            },
            "hosts": texts(100, 253, "propose: hosts that it reaches, like `docs.rs`; needed with `web` and `browser`."),
            "body": {"type": "string", "maxLength": 20000, "description": "propose: why and how, in Markdown."},
            "plan": {"type": "string", "minLength": 1, "maxLength": 64, "description": "complete, list: id of the plan."},
            "done": {
                "type": "array", "maxItems": 50, "items": {"type": "integer", "minimum": 1, "maximum": 50},
                "description": "complete: numbers of the steps that are done, from 1; without, the whole plan is.",
            },
        },
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    action: String,
    title: Option<String>,
    #[serde(default)]
    steps: Vec<String>,
    #[serde(default)]
    kinds: Vec<MutationKind>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    commands: Vec<Vec<String>>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    body: String,
    plan: Option<String>,
    #[serde(default)]
    done: Vec<usize>,
}

pub(super) enum Action {
    Propose(Box<Proposal>),
    Complete { plan: String, steps: Vec<usize> },
    List { plan: Option<String> },
}

pub(super) struct Proposal {
    pub(super) title: String,
    pub(super) steps: Vec<String>,
    pub(super) body: String,
    pub(super) scope: PlanScope,
}

impl Arguments {
    pub(super) fn action(self) -> Result<Action, ToolError> {
        match self.action.as_str() {
            "propose" => self
                .proposal()
                .map(|proposal| Action::Propose(Box::new(proposal))),
            "complete" => Ok(Action::Complete {
                plan: self
                    .plan
                    .ok_or_else(|| wrong("`complete` needs `plan`, the id of an approved plan"))?,
                steps: self.done,
            }),
            // The schema lets nothing else through.
            _ => Ok(Action::List { plan: self.plan }),
        }
    }

    fn proposal(self) -> Result<Proposal, ToolError> {
        let title = self.title.filter(|title| !title.trim().is_empty());
        let title = title.ok_or_else(|| wrong("`propose` needs `title`"))?;
        if self.steps.is_empty() {
            return Err(wrong(
                "`propose` needs `steps`: what is to be done, a line for each",
            ));
        }
        if self.kinds.is_empty() {
            return Err(wrong(
                "`propose` needs `kinds`: a plan lets through the kinds of change that it lists, and no others",
            ));
        }
        let needs = |kinds: &[MutationKind], is_empty: bool, name: &str| {
            let needing = self.kinds.iter().find(|kind| kinds.contains(kind));
            match needing {
                Some(kind) if is_empty => Err(wrong(format!(
                    "the kind `{kind}` needs `{name}`: a plan covers what it lists, and nothing else"
                ))),
                _ => Ok(()),
            }
        };
        needs(&[MutationKind::Transaction], self.paths.is_empty(), "paths")?;
        needs(
            &[MutationKind::Command],
            self.commands.is_empty(),
            "commands",
        )?;
        needs(
            &[MutationKind::Web, MutationKind::Browser],
            self.hosts.is_empty(),
            "hosts",
        )?;
        Ok(Proposal {
            title,
            steps: self.steps,
            body: self.body,
            scope: PlanScope {
                kinds: self
                    .kinds
                    .iter()
                    .map(|kind| kind.as_str().to_owned())
                    .collect(),
                paths: self.paths,
                commands: self.commands,
                hosts: self
                    .hosts
                    .iter()
                    .map(|host| host.to_ascii_lowercase())
                    .collect(),
            },
        })
    }
}

fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
