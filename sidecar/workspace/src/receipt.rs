//! Receipts: what was shown, who decided, and what it did.
//!
//! Owns the shape of a receipt, which is also its stored form (one JSON object a line in a
//! transaction's `receipts.ndjson`). Knows nothing of how the decision is carried out.

use serde::{Deserialize, Serialize};

/// What a receipt records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Hunks or files were accepted.
    Accept,
    /// Hunks or files were rejected.
    Reject,
    /// Hunks were withdrawn: by their agent, or because the user kept what stands there.
    Withdraw,
    /// What had been accepted was taken back.
    Undo,
    /// What had been taken back was put back.
    Redo,
}

impl Action {
    /// The name used on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Withdraw => "withdraw",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }
}

/// How far the decision got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Outcome {
    /// Everything was done.
    Complete,
    /// Nothing of it holds; `note` says why and what was put back.
    RolledBack {
        /// One sentence for people.
        note: String,
    },
}

/// A hunk as the decider saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownHunk {
    /// Path from the workspace root.
    pub path: String,
    /// `h_…`.
    pub id: String,
    /// The revision that was shown.
    pub revision: u64,
    /// blake3 of the lines that go.
    pub removed: String,
    /// blake3 of the lines that come.
    pub replacement: String,
    /// When the user amended the hunk: both texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amended: Option<Amendment>,
}

/// The two texts of an amended hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// What the agent proposed.
    pub proposed: String,
    /// What the user made of it.
    pub accepted: String,
}

/// What the decision did to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathResult {
    /// Path from the workspace root, before the decision.
    pub path: String,
    /// What happened to it.
    pub effect: Effect,
    /// Revision before: of the bytes on disk, or of an open document's text. None: no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Revision after, of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Facts about it: `reanchored`, `by_hand`, `overwrite`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// What happened to a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Effect {
    /// Its bytes on disk were replaced.
    Written,
    /// It was created.
    Created,
    /// It was deleted.
    Deleted,
    /// It was renamed (and perhaps edited).
    Renamed {
        /// Its new path.
        to: String,
    },
    /// Its mode was set.
    ModeSet {
        /// The new permission bits.
        mode: u32,
    },
    /// An open document was edited; the disk was left alone.
    Unsaved,
    /// Nothing had to be done: the text was already so.
    Already,
}

/// The record of one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// `rc_…`.
    pub id: String,
    /// The transaction decided on.
    pub transaction_id: String,
    /// The turn that had made it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What was decided.
    pub action: Action,
    /// Who decided: `cli`, `neovim`, `policy`, …
    pub decided_by: String,
    /// Unix seconds.
    pub decided_at: u64,
    /// The hunks, as shown.
    pub shown: Vec<ShownHunk>,
    /// Files whose own operation was decided (create, delete, rename, set-mode).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Why, when the decider said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it did.
    #[serde(default)]
    pub results: Vec<PathResult>,
    /// How far it got.
    pub outcome: Outcome,
}

impl Receipt {
    /// Paths that this decision changed on disk.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.results
            .iter()
            .filter_map(|result| match &result.effect {
                Effect::Unsaved | Effect::Already => None,
                Effect::Renamed { to } => Some(to.as_str()),
                Effect::Written | Effect::Created | Effect::Deleted | Effect::ModeSet { .. } => {
                    Some(result.path.as_str())
                }
            })
    }

    /// Paths whose open documents it changed, which nobody has saved yet.
    pub fn unsaved(&self) -> impl Iterator<Item = &str> {
        self.results
            .iter()
            .filter(|result| result.effect == Effect::Unsaved)
            .map(|result| result.path.as_str())
    }

    /// All facts about it, each once, in order of first mention.
    pub fn flags(&self) -> Vec<&str> {
        let mut flags: Vec<&str> = Vec::new();
        for flag in self.results.iter().flat_map(|result| &result.flags) {
            if !flags.contains(&flag.as_str()) {
                flags.push(flag);
            }
        }
        flags
    }
}
