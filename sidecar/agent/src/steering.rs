//! What the user decided meanwhile, as the next step is told it.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use redline_providers::Provider;
use serde::{Deserialize, Serialize};

use crate::usage::ModelFacts;

/// Lines of a hunk that a note repeats.
const MAX_LINES: usize = 12;

/// What the user decides while a turn runs. The server implements it over the hub.
pub trait Steering: Send + Sync {
    /// Takes what was decided since the last call, and what the next step runs with. Asked before each step:
    /// a change of mode, model or environment counts from here on, never in the middle of a step.
    fn before_step(&self) -> BoxFuture<'_, StepContext>;

    /// What earlier conversations in this workspace wrote down. Asked once, when a conversation begins.
    fn memory(&self) -> BoxFuture<'_, Memory> {
        Box::pin(std::future::ready(Memory::default()))
    }

    /// Waits until an approval or a plan, by its id, is decided, has expired or is void.
    fn decided<'a>(&'a self, _id: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }

    /// Commits the turn's own edits, if the user's policy says so: at the end of the turn, and before a tool that
    /// reads the disk.
    fn commit_edits(&self) -> BoxFuture<'_, Option<AutoCommit>> {
        Box::pin(std::future::ready(None))
    }
}

/// What agents wrote down in a workspace: material for those who come later, and no more than that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// What every conversation should know; empty when there is nothing.
    pub text: String,
    /// Names of the notes that can be read.
    pub notes: Vec<String>,
}

/// What became of a turn's own edits that the policy wanted committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoCommit {
    /// `tx_…`.
    pub transaction_id: String,
    /// What became of them, in one sentence.
    pub text: String,
    /// They were committed; else they are still pending, and the text says why.
    pub is_committed: bool,
}

/// Nothing is ever decided.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSteering;

impl Steering for NoSteering {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        Box::pin(std::future::ready(StepContext::default()))
    }
}

/// The state of the review before a step, and what the step runs with.
#[derive(Clone, Default)]
pub struct StepContext {
    /// Decided since the last step, oldest first.
    pub decisions: Vec<Decision>,
    /// Pending hunks of the session.
    pub pending: Vec<PendingHunk>,
    /// What else the model must know of the workspace now: mode, plans, approvals. Stands before the prompt.
    pub hints: Option<String>,
    /// The model from this step on; `None` keeps the one before.
    pub model: Option<StepModel>,
}

/// A model that can be asked.
#[derive(Clone)]
pub struct StepModel {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The vendor's name of the model.
    pub name: String,
    /// What is known of it now: prices and contexts may be learned while a turn runs.
    pub facts: Arc<dyn Fn() -> ModelFacts + Send + Sync>,
}

impl StepModel {
    /// A model of which nothing is known.
    pub fn new(provider: Arc<dyn Provider>, name: impl Into<String>) -> Self {
        Self {
            provider,
            name: name.into(),
            facts: Arc::new(ModelFacts::default),
        }
    }

    /// `PROVIDER/MODEL`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider.name(), self.name)
    }
}

/// A decision about one hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Path from the root.
    pub path: String,
    /// First line in the text as it stands now, from 1.
    pub line: usize,
    /// What was decided.
    pub verdict: Verdict,
    /// Why, in the user's words.
    pub reason: Option<String>,
    /// Why the agent had proposed it.
    pub rationale: Option<String>,
    /// Lines that were to go.
    pub removed: String,
    /// Lines that were to come.
    pub added: String,
    /// Lines that the user put in place of `added`.
    pub amended: Option<String>,
}

/// What can become of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The user accepted it.
    Accepted,
    /// The user made the same change by hand.
    AcceptedByHand,
    /// The user rejected it.
    Rejected,
    /// The user changed the proposed text; it is still pending.
    Amended,
    /// The user took it apart, to decide on each part; they are still pending.
    Split,
    /// The user's own change of these lines won.
    KeptMine,
    /// The lines below it have changed.
    Conflict,
    /// What had been accepted was undone.
    Undone,
}

/// A hunk that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingHunk {
    /// Path from the root.
    pub path: String,
    /// First line, from 1.
    pub line: usize,
    /// Lines that go.
    pub removed: usize,
    /// Lines that come.
    pub added: usize,
    /// Why.
    pub rationale: Option<String>,
}

impl StepContext {
    /// The note for the model; `None` when nothing was decided.
    pub fn note(&self) -> Option<String> {
        if self.decisions.is_empty() {
            return None;
        }
        let mut note =
            String::from("<decisions>\nWhile you worked, the user decided on your edits:\n");
        for decision in &self.decisions {
            decision.write(&mut note);
        }
        note.push_str(
            "Do not propose again what was rejected unless the user asks for it.\n</decisions>",
        );
        Some(note)
    }
}

impl Decision {
    fn write(&self, out: &mut String) {
        let says = match self.verdict {
            Verdict::Accepted => "ACCEPTED: it is in the file now",
            Verdict::AcceptedByHand => "DONE BY THE USER: the same change is in the file now",
            Verdict::Rejected => "REJECTED: it is gone, the file reads as before there",
            Verdict::Amended => "AMENDED: the user's version is pending instead of yours",
            Verdict::Split => "SPLIT: the user decides on its parts one by one; all are pending",
            Verdict::KeptMine => "WITHDRAWN: the user keeps their own change of these lines",
            Verdict::Conflict => "CONFLICT: the user changed these lines; read them again",
            Verdict::Undone => "UNDONE: it was accepted and taken back again",
        };
        let _ = write!(out, "- {} line {}: {says}.", self.path, self.line);
        if let Some(rationale) = self
            .rationale
            .as_deref()
            .filter(|text| !text.trim().is_empty())
        {
            let _ = write!(out, " It was to: {}.", one_line(rationale));
        }
        if let Some(reason) = self
            .reason
            .as_deref()
            .filter(|text| !text.trim().is_empty())
        {
            let _ = write!(out, " The user says: {}.", one_line(reason));
        }
        out.push('\n');
        let shown = match self.verdict {
            Verdict::Rejected | Verdict::Conflict | Verdict::KeptMine | Verdict::Undone => true,
            Verdict::Accepted | Verdict::AcceptedByHand | Verdict::Amended | Verdict::Split => {
                false
            }
        };
        if shown {
            block(out, "-", &self.removed);
            block(out, "+", &self.added);
        }
        if let Some(amended) = &self.amended {
            block(out, "+", amended);
        }
    }
}

/// Writes the pending hunks as a list; empty for none.
pub(crate) fn pending_list(pending: &[PendingHunk]) -> String {
    let mut out = String::new();
    for hunk in pending {
        let _ = write!(
            out,
            "- {} line {} (+{} -{})",
            hunk.path, hunk.line, hunk.added, hunk.removed
        );
        if let Some(rationale) = &hunk.rationale {
            let _ = write!(out, ": {}", one_line(rationale));
        }
        out.push('\n');
    }
    out
}

fn block(out: &mut String, sign: &str, text: &str) {
    let total = text.lines().count();
    for line in text.lines().take(MAX_LINES) {
        let _ = writeln!(out, "  {sign} {line}");
    }
    if total > MAX_LINES {
        let _ = writeln!(out, "  … {} more lines", total - MAX_LINES);
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_note_says_which_edit_is_gone_and_why() {
        let decision = |verdict, reason: Option<&str>| Decision {
            path: "src/a.rs".to_owned(),
            line: 3,
            verdict,
            reason: reason.map(str::to_owned),
            rationale: Some("Use a loop.".to_owned()),
            removed: "f()\n".to_owned(),
            added: "g()\n".to_owned(),
            amended: (verdict == Verdict::Amended).then(|| "h()\n".to_owned()),
        };
        let context = StepContext {
            decisions: vec![
                decision(Verdict::Accepted, None),
                decision(Verdict::Rejected, Some("too\nclever")),
                decision(Verdict::Amended, None),
            ],
            ..StepContext::default()
        };
        expect![[r#"
            <decisions>
            While you worked, the user decided on your edits:
            - src/a.rs line 3: ACCEPTED: it is in the file now. It was to: Use a loop.
            - src/a.rs line 3: REJECTED: it is gone, the file reads as before there. It was to: Use a loop. The user says: too clever.
              - f()
              + g()
            - src/a.rs line 3: AMENDED: the user's version is pending instead of yours. It was to: Use a loop.
              + h()
            Do not propose again what was rejected unless the user asks for it.
            </decisions>"#]]
        .assert_eq(&context.note().unwrap_or_default());
        assert_eq!(StepContext::default().note(), None);
    }
}
