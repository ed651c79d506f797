//! What a hunk is: one contiguous replacement of whole lines, its state and where it came from.
//!
//! Values only; [`HunkSet`](crate::HunkSet) places them in a text. Texts in a hunk have LF endings.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

use crate::MatchRung;

/// The id of a hunk (`h_…`), stable while its base lines overlap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HunkId(String);

impl HunkId {
    /// Wraps an id that the caller made; its uniqueness is the caller's.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a hunk stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    /// Waits for a decision; part of the proposed text.
    Pending,
    /// Cannot be applied as it is; pinned outside the proposed text.
    Conflict(ConflictInfo),
    /// Its text is in the base.
    Accepted {
        /// The user wrote the same text; nobody pressed accept.
        by_hand: bool,
    },
    /// Refused by the user.
    Rejected,
    /// Taken back: by its agent, or by the user who keeps the own side of a conflict.
    Withdrawn,
}

impl HunkState {
    /// Whether a decision is still open.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::Conflict(_))
    }
}

/// Why a hunk is a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictInfo {
    /// Lines that it replaces, or between which it goes, were changed.
    Changed,
    /// The lines are there, but a duplicate of them is just as likely to be the place.
    Ambiguous,
    /// The agent edited lines that the user had amended.
    Amended {
        /// What the agent proposes now; the hunk's replacement is the user's text.
        proposed: String,
        /// Who wrote `proposed`.
        provenance: Vec<Provenance>,
    },
}

/// Which call made which lines of a replacement, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Lines of the replacement; empty when the call only removed lines, or when all that it wrote
    /// was replaced since.
    pub lines: Range<usize>,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Why, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// Where a proposal comes from: the provenance of every hunk that it makes or changes.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The turn.
    pub turn: Option<String>,
    /// The transaction.
    pub transaction: Option<String>,
    /// The tool call.
    pub call: Option<String>,
    /// The reason of the whole proposal.
    pub rationale: Option<String>,
    /// Reasons of parts: zero-based lines of the proposed text, later ones win.
    pub rationales: Vec<(Range<usize>, String)>,
    /// How the places were found.
    pub rung: MatchRung,
    /// Rungs of parts: zero-based lines of the proposed text, the worst one counts.
    pub rungs: Vec<(Range<usize>, MatchRung)>,
}

/// One contiguous replacement of whole lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Its id.
    pub id: HunkId,
    /// Grows with every change of what it would do; a decision names the one that was shown.
    pub revision: u64,
    /// Where it stands.
    pub state: HunkState,
    /// The lines it was written against; empty for an insertion.
    pub removed: String,
    /// The lines that take their place; empty for a deletion.
    pub replacement: String,
    /// Who wrote which lines of the replacement, oldest first.
    pub provenance: Vec<Provenance>,
    /// How its place was found; the worst rung of the calls that made it.
    pub rung: MatchRung,
    /// What the agent had proposed, once the user amended the replacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amended: Option<String>,
    /// The hunk that it was split from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<HunkId>,
}

impl Hunk {
    /// The turn that first made it.
    pub fn turn(&self) -> Option<&str> {
        self.provenance.first()?.turn.as_deref()
    }

    /// The transaction that first made it.
    pub fn transaction(&self) -> Option<&str> {
        self.provenance.first()?.transaction.as_deref()
    }

    /// Every distinct reason, oldest first.
    pub fn rationales(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self
            .provenance
            .iter()
            .filter_map(|p| p.rationale.as_deref())
        {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// Every distinct tool call, oldest first.
    pub fn calls(&self) -> Vec<&str> {
        let mut calls: Vec<&str> = Vec::new();
        for call in self.provenance.iter().filter_map(|p| p.call.as_deref()) {
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
        calls
    }

    /// Whether all it does is to take the LF from the end of the text: more lines there oppose it.
    pub(crate) fn only_drops_last_ending(&self) -> bool {
        self.removed.strip_suffix('\n') == Some(&self.replacement) && !self.replacement.is_empty()
    }

    /// Whether anything of it is left to do: the user may have done it all in another way.
    pub(crate) fn changes_something(&self) -> bool {
        self.removed != self.replacement
    }

    /// What the agent wrote, amended or not.
    pub fn agent_text(&self) -> &str {
        match &self.state {
            HunkState::Conflict(ConflictInfo::Amended { proposed, .. }) => proposed,
            _ => self.amended.as_deref().unwrap_or(&self.replacement),
        }
    }
}

/// The three sides of a conflict, as they stand now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictSides {
    /// One sentence: what changed, for example `line 8 changed`.
    pub reason: String,
    /// What the hunk was written against.
    pub base: String,
    /// What stands there now (for an amended hunk: what the user made of it).
    pub current: String,
    /// What the agent proposes in the place of `base`.
    pub proposed: String,
}

/// What a change of the text did to a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkEvent {
    /// Its base lines are no longer what it was written against.
    Conflicted {
        /// The hunk.
        id: HunkId,
    },
    /// The change that made the conflict was undone: it is pending again.
    Lifted {
        /// The hunk.
        id: HunkId,
    },
    /// The user wrote the same text by hand.
    AcceptedByHand {
        /// The hunk.
        id: HunkId,
    },
    /// An edit announced by [`HunkSet::expect`](crate::HunkSet::expect) has arrived.
    Applied {
        /// The hunk.
        id: HunkId,
    },
    /// The acceptance was undone: it is pending again.
    Reopened {
        /// The hunk.
        id: HunkId,
    },
    /// The undone acceptance was redone.
    AcceptedAgain {
        /// The hunk.
        id: HunkId,
    },
}

impl HunkEvent {
    /// The hunk it happened to.
    pub fn id(&self) -> &HunkId {
        match self {
            Self::Conflicted { id }
            | Self::Lifted { id }
            | Self::AcceptedByHand { id }
            | Self::Applied { id }
            | Self::Reopened { id }
            | Self::AcceptedAgain { id } => id,
        }
    }
}

/// One replacement of bytes in a text, ready to be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// Bytes that go.
    pub range: Range<usize>,
    /// Text that comes, with the line endings of its place.
    pub text: String,
}

/// Why a hunk was not touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HunkError {
    /// No such hunk here.
    #[error("no hunk {id} in this file")]
    Unknown {
        /// The id that was asked for.
        id: HunkId,
    },
    /// The decision names a revision that is no longer shown.
    #[error("hunk {id} is at revision {now}, the decision was made on {shown}")]
    Stale {
        /// The hunk.
        id: HunkId,
        /// The revision that the decision names.
        shown: u64,
        /// The present one.
        now: u64,
    },
    /// It was settled before.
    #[error("hunk {id} was already settled ({how})")]
    Settled {
        /// The hunk.
        id: HunkId,
        /// `accepted`, `rejected` or `withdrawn`.
        how: &'static str,
    },
    /// It is a conflict, which cannot be accepted or edited as it is.
    #[error("hunk {id} is a conflict")]
    Conflict {
        /// The hunk.
        id: HunkId,
    },
    /// The operation needs a conflict, and this hunk is none.
    #[error("hunk {id} is not a conflict")]
    NotAConflict {
        /// The hunk.
        id: HunkId,
    },
    /// One changed line cannot be split.
    #[error("hunk {id} cannot be split further")]
    NotSplittable {
        /// The hunk.
        id: HunkId,
    },
    /// The selection names no line of it.
    #[error("lines {}..{} hold no line of hunk {id}", lines.start + 1, lines.end)]
    OutsideSelection {
        /// The hunk.
        id: HunkId,
        /// Zero-based lines that were selected.
        lines: Range<usize>,
    },
    /// What it would put there stands there already.
    #[error("the text of hunk {id} equals the lines it replaces")]
    NothingLeft {
        /// The hunk.
        id: HunkId,
    },
    /// Another pending hunk claims the same lines.
    #[error("hunk {id} overlaps pending hunk {other}")]
    Overlap {
        /// The hunk.
        id: HunkId,
        /// The other one.
        other: HunkId,
    },
}

impl HunkError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "UNKNOWN_HUNK",
            Self::Stale { .. } => "STALE_HUNK",
            Self::Settled { .. } => "ALREADY_SETTLED",
            Self::Conflict { .. } | Self::Overlap { .. } => "CONFLICT",
            Self::NotAConflict { .. }
            | Self::NotSplittable { .. }
            | Self::OutsideSelection { .. }
            | Self::NothingLeft { .. } => "INVALID_ARGUMENTS",
        }
    }

    /// What to do next, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => {
                "list the hunks again: it may have been merged into another one"
            }
            Self::Stale { .. } => "look at the hunk as it is now, then decide again",
            Self::Settled { .. } => "undo the decision first if it was wrong",
            Self::Conflict { .. } => "propose it again on today's text, or keep yours",
            Self::NotAConflict { .. } => "accept, reject or amend it",
            Self::NotSplittable { .. } => "amend it instead",
            Self::OutsideSelection { .. } => "select lines that the hunk removes or adds",
            Self::NothingLeft { .. } => "reject it, or leave it settled",
            Self::Overlap { .. } => "settle the other hunk first",
        }
    }
}
