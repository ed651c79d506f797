//! Rows of the kind `permissions`: a command, a policy, and what the gate says.
//!
//! The gate is the real one of a session, with the workspace's own approvals behind it. Only the rules come from the row;
//! their ceiling is the highest, since rows say nothing of it. A `shell` is what an agent would have `sh -c` run.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use redline_tools::gate::{
    Admission, Ceiling, CommandSpec, GateHost, GatedCall, Gatekeeper, Mode, Policy, RuleSpec,
    RulesSpec, SessionGate, Start, effect_of, files_of_command,
};
use redline_tools::{CommandLine, ErrorCode, MutationKind, Operation, Status, ToolError};
use redline_workspace::{
    Ids, JournalOptions, Programs, RootOptions, SealKey, Voice, Workspace, WorkspaceOptions,
};
use serde_json::{Map, Value, json};

use super::load::Row;
use super::observe::{Event, Observed, When};
use super::play::Stage;
use super::step::{Act, Step};

/// How long a command that was let run may take, where the row says nothing.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Plays a row.
pub(super) fn play(row: &Row) -> Result<Observed> {
    let stage = Arc::new(Stage::of(row)?);
    let options = WorkspaceOptions {
        root: RootOptions::default(),
        key: SealKey::new([3; 32]),
        clock: Arc::new(|| 1_000),
        journal: JournalOptions::default(),
    };
    let (workspace, _) = Workspace::open(&stage.world.project.root(), options)?;
    let ids = Arc::new(Numbers::default());
    let gate = SessionGate::new(&workspace, ids.clone(), Arc::new(Host::new(row)?));
    let mut player = Player {
        before: stage.world.snapshot()?,
        stage,
        workspace,
        gate,
        ids,
        command: tokens(row.get("proposal"))?,
        env: variables(row.get("proposal"))?,
        limit: row.get("proposal")["timeout_ms"]
            .as_u64()
            .map_or(TIME_LIMIT, Duration::from_millis),
        events: Vec::new(),
        messages: String::new(),
        flags: BTreeSet::new(),
        denies_the_rest: row.get("policy")["default"] == "deny",
    };
    let begun = Instant::now();
    player.ask(When::Propose, None)?;
    let meanwhile = Step::parse_all(row.list("meanwhile")?)?;
    for step in &meanwhile {
        player.take(step)?;
    }
    if !meanwhile.is_empty() {
        player.before = player.stage.world.snapshot()?;
    }
    for step in Step::parse_all(row.list("action")?)? {
        player.take(&step)?;
    }
    player.observed(begun.elapsed())
}

struct Player {
    stage: Arc<Stage>,
    workspace: Workspace,
    gate: SessionGate,
    ids: Arc<Numbers>,
    command: Vec<String>,
    env: BTreeMap<String, String>,
    limit: Duration,
    before: super::world::Snapshot,
    events: Vec<Event>,
    messages: String,
    flags: BTreeSet<String>,
    /// What no rule speaks of is forbidden.
    denies_the_rest: bool,
}

impl Player {
    fn take(&mut self, step: &Step) -> Result<()> {
        match &step.act {
            Act::Approve(yes) => self.approve(*yes),
            Act::Command("run") => {
                let approved = self.approvals()?.pop();
                self.ask(When::Run, approved.as_deref())
            }
            _ => self.stage.by_others(step),
        }
    }

    fn approvals(&self) -> Result<Vec<String>> {
        let all = self.workspace.approvals().list()?;
        Ok(all.iter().map(|approval| approval.id.clone()).collect())
    }

    fn approve(&mut self, yes: bool) -> Result<()> {
        let id = self
            .approvals()?
            .pop()
            .context("nothing waits for an approval")?;
        let voice = if yes { Voice::Yes } else { Voice::No };
        if let Err(error) = self
            .workspace
            .approvals()
            .decide(&id, voice, "the reviewer", None)
        {
            self.refused(When::Accept, &ToolError::from(error));
        }
        Ok(())
    }

    /// Asks the gate. When the action says so, what it lets through is run.
    fn ask(&mut self, when: When, resumes: Option<&str>) -> Result<()> {
        let operation = self.operation()?;
        let arguments = Map::from_iter([("argv".to_owned(), json!(self.command))]);
        let call = GatedCall {
            session: "se_1",
            turn: "turn_1",
            call_id: &self.ids.next("call_"),
            tool: &operation.tool,
            arguments: &arguments,
            resumes,
        };
        match self.gate.admit(&call, &operation) {
            Admission::Run(claim) => {
                if when == When::Run {
                    self.run()?;
                } else {
                    self.events.push(Event::ok(when, &["allow"]));
                }
                if let Some(claim) = claim {
                    self.gate.settle(claim, Start::Began);
                }
            }
            Admission::Staged(envelope) => {
                debug_assert_eq!(envelope.status, Status::PendingApproval);
                self.messages.push_str(&envelope.to_text());
                let mut event = Event::ok(when, &["ask", "pending", "needs_confirmation"]);
                if self.denies_the_rest {
                    event = Event::ok(when, &["deny"]);
                }
                if when == When::Run {
                    event.outcomes.push("error");
                    event.code = ErrorCode::ApprovalRequired.as_str().to_owned();
                }
                self.events.push(event);
            }
            Admission::Refused(error) => self.refused(when, &error),
        }
        Ok(())
    }

    fn refused(&mut self, when: When, error: &ToolError) {
        let mut event = Event::coded(when, error.code.as_str());
        let is_denied = matches!(
            error.code,
            ErrorCode::ApprovalDenied | ErrorCode::ProtectedPath | ErrorCode::OutsideWorkspace
        );
        if is_denied {
            event.outcomes.push("deny");
        }
        self.events.push(event);
        self.messages
            .push_str(&format!("{error}\n{}\n", error.hint));
    }

    /// What the command would do, as the workspace stands now.
    fn operation(&self) -> Result<Operation> {
        let root = self.workspace.root();
        let (program, arguments) = self
            .command
            .split_first()
            .context("a command has a program")?;
        let path = std::env::var("PATH").ok();
        // A program that this machine lacks is judged like any other.
        let found = Programs::default()
            .resolve(root, program, None, path.as_deref())
            .ok();
        let effect = effect_of(program, arguments, &root.path().to_string_lossy());
        Ok(Operation {
            tool: "workspace_command".to_owned(),
            kind: MutationKind::Command,
            class: effect.class,
            reads_only: false,
            arguments: json!({"program": program, "arguments": arguments}),
            paths: effect.writes,
            hosts: Vec::new(),
            base_revisions: files_of_command(root, "", program, arguments),
            command: Some(CommandLine {
                program: program.clone(),
                resolved: found
                    .as_ref()
                    .map_or_else(String::new, |found| found.path.display().to_string()),
                revision: found.map_or_else(String::new, |found| found.revision),
                arguments: arguments.to_vec(),
                env: self.env.clone(),
            }),
            workspace: root.id(),
            session: "se_1".to_owned(),
            cwd: String::new(),
            env_digest: String::new(),
            summary: self.command.join(" "),
        })
    }

    fn run(&mut self) -> Result<()> {
        let project = &self.stage.world.project;
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .current_dir(project.root())
            .env_clear()
            .envs(project.environment())
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {:?}", self.command))?;
        let (sender, ended) = std::sync::mpsc::channel();
        let id = rustix::process::Pid::from_child(&child);
        let waiter = std::thread::spawn(move || {
            let _ = sender.send(child.wait());
        });
        let outcome = match ended.recv_timeout(self.limit) {
            Ok(status) => match status?.code() {
                Some(_) => "exited",
                None => "signalled",
            },
            Err(_) => {
                rustix::process::kill_process(id, rustix::process::Signal::KILL)?;
                "timeout"
            }
        };
        let _ = waiter.join();
        self.events.push(Event::ok(When::Run, &[outcome, "allow"]));
        Ok(())
    }

    fn observed(self, wall: Duration) -> Result<Observed> {
        Ok(Observed {
            events: self.events,
            after: self.stage.world.snapshot()?,
            documents_after: BTreeMap::new(),
            before: self.before,
            documents_before: BTreeMap::new(),
            states: Vec::new(),
            flags: self.flags,
            messages: self.messages,
            wall,
            checkpoint: Duration::ZERO,
            client_requests: BTreeMap::new(),
            emitted: Vec::new(),
            path: None,
            state_growth_bytes: 0,
            resident_growth_bytes: 0,
            preview_bytes: 0,
            always: Vec::new(),
            compare_git: true,
            stage: self.stage,
        })
    }
}

/// The row's policy.
struct Host {
    policy: Arc<Policy>,
    mode: Mode,
}

impl Host {
    fn new(row: &Row) -> Result<Host> {
        let policy = row.get("policy");
        let list = |name: &str| -> Result<Vec<RuleSpec>> {
            let rules = policy[name].as_array().map_or(&[][..], Vec::as_slice);
            let rule = |tokens: &Value| {
                Ok(RuleSpec {
                    command: Some(CommandSpec::Tokens(texts(tokens)?)),
                    ..RuleSpec::default()
                })
            };
            rules.iter().map(rule).collect()
        };
        let spec = RulesSpec {
            allow: list("allow")?,
            deny: list("deny")?,
        };
        let mode = match policy["default"].as_str().unwrap_or("ask") {
            "allow" => Mode::Auto,
            // What no rule allows is staged; where it is to be forbidden, the player says no to it.
            "ask" | "deny" => Mode::Manual,
            other => bail!("a policy's default is not {other}"),
        };
        Ok(Host {
            policy: Arc::new(Policy::new(Ceiling::Outside, &spec)?),
            mode,
        })
    }
}

impl GateHost for Host {
    fn mode(&self) -> Mode {
        self.mode
    }

    fn policy(&self) -> Arc<Policy> {
        self.policy.clone()
    }

    fn changed(&self, _approval: &str) {}
}

#[derive(Default)]
struct Numbers(AtomicU64);

impl Ids for Numbers {
    fn next(&self, prefix: &str) -> String {
        // Unlike those of every other process: jobs are found by their ids.
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{count:016}{:010}", std::process::id())
    }
}

/// The command line of a proposal.
fn tokens(proposal: &Value) -> Result<Vec<String>> {
    if let Some(script) = proposal["shell"].as_str() {
        return Ok(["sh", "-c", script].map(str::to_owned).to_vec());
    }
    texts(&proposal["argv"]).context("a command has `argv` or `shell`")
}

fn variables(proposal: &Value) -> Result<BTreeMap<String, String>> {
    let variables = proposal["env"].as_object().into_iter().flatten();
    variables
        .map(|(name, value)| {
            let value = value.as_str().context("a variable is text")?;
            Ok((name.clone(), value.to_owned()))
        })
        .collect()
}

fn texts(list: &Value) -> Result<Vec<String>> {
    let list = list.as_array().context("tokens are a list")?;
    let text = |one: &Value| Ok(one.as_str().context("a token is text")?.to_owned());
    list.iter().map(text).collect()
}
