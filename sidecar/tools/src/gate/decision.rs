//! The decision whether a mutation may run now. Pure: no clock, no files, no prompt.
//!
//! The first row that holds decides, and the answer names it:
//!
//! ```text
//! 1  the target is protected or outside                    Refuse PROTECTED_PATH / OUTSIDE_WORKSPACE
//! 2  a deny rule matches, or this operation was denied     Refuse APPROVAL_DENIED
//! 3  an unspent, unexpired approval for this operation     Allow, and claim it
//! 4  mode plan, no approved plan, and not a web read       Refuse APPROVAL_REQUIRED, naming workspace_plan
//! 5  its class is above the ceiling                        Stage
//! 6  mode plan, an approved plan covers it                 Allow
//! 7  mode auto, or an allow rule matches                   Allow
//! 8  otherwise                                             Stage
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Class, ErrorCode, MutationKind};

/// How much the agent does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The user is asked for every mutation.
    #[default]
    Manual,
    /// Nothing is changed until a plan is approved, and then what the plan covers.
    Plan,
    /// Mutations run, up to the ceiling.
    Auto,
}

/// The highest class that may run unasked. `None` asks for everything that no approval covers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// Nothing runs unasked.
    None,
    /// What undo brings back.
    Reversible,
    /// What stays inside the workspace.
    #[default]
    Workspace,
    /// Everything.
    Outside,
}

/// Where an operation would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// At places that may be written.
    Free,
    /// At a protected path.
    Protected,
    /// Beyond the workspace.
    Outside,
}

/// What the rules say of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ruling {
    /// No rule matches, or what matched does not hold for these arguments.
    Silent,
    /// An allow rule matches.
    Allow,
    /// A deny rule matches.
    Deny,
}

/// What the user has said of this operation before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Nothing that holds now.
    Unasked,
    /// Yes, once; and it is neither spent nor expired.
    Approved,
    /// No, for this turn.
    Denied,
}

/// What the session's plan means for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanStanding {
    /// No plan is approved.
    NonApproved,
    /// One is, and this operation is not in it.
    Beside,
    /// One is, and it covers this operation.
    Covered,
}

/// Everything that the decision depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Facts {
    /// The session's mode.
    pub mode: Mode,
    /// The operation's kind.
    pub kind: MutationKind,
    /// It changes nothing anywhere.
    pub reads_only: bool,
    /// The operation's class.
    pub class: Class,
    /// The user's ceiling.
    pub ceiling: Ceiling,
    /// The plan.
    pub plan: PlanStanding,
    /// The user's earlier answer.
    pub standing: Standing,
    /// The rules.
    pub ruling: Ruling,
    /// Where it would write.
    pub target: Target,
}

/// The decision, with the row that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decision {
    /// What happens.
    pub verdict: Verdict,
    /// Why.
    pub row: Row,
}

/// What happens to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It runs now.
    Allow,
    /// It waits for the user.
    Stage,
    /// It does not run.
    Refuse(ErrorCode),
}

/// The rows, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Row {
    /// 1: a place that nothing may write.
    Target,
    /// 2: a deny rule.
    DenyRule,
    /// 2: the user's no.
    Denied,
    /// 3: the user's yes; it is claimed.
    Approval,
    /// 4: mode `plan` without an approved plan.
    NoPlan,
    /// 5: above the ceiling.
    Ceiling,
    /// 6: in the approved plan.
    Plan,
    /// 7: mode `auto`.
    Auto,
    /// 7: an allow rule.
    AllowRule,
    /// 8: nothing above.
    Otherwise,
}

/// Decides whether an operation may run now.
pub fn decide(facts: &Facts) -> Decision {
    let refuse = |code, row| Decision {
        verdict: Verdict::Refuse(code),
        row,
    };
    let allow = |row| Decision {
        verdict: Verdict::Allow,
        row,
    };
    let stage = |row| Decision {
        verdict: Verdict::Stage,
        row,
    };
    match facts.target {
        Target::Protected => return refuse(ErrorCode::ProtectedPath, Row::Target),
        Target::Outside => return refuse(ErrorCode::OutsideWorkspace, Row::Target),
        Target::Free => {}
    }
    if facts.ruling == Ruling::Deny {
        return refuse(ErrorCode::ApprovalDenied, Row::DenyRule);
    }
    match facts.standing {
        Standing::Denied => return refuse(ErrorCode::ApprovalDenied, Row::Denied),
        Standing::Approved => return allow(Row::Approval),
        Standing::Unasked => {}
    }
    let is_planned = facts.mode == Mode::Plan;
    let is_web_read = facts.kind == MutationKind::Web && facts.reads_only;
    if is_planned && facts.plan == PlanStanding::NonApproved && !is_web_read {
        return refuse(ErrorCode::ApprovalRequired, Row::NoPlan);
    }
    if !facts.ceiling.lets(facts.class) {
        return stage(Row::Ceiling);
    }
    if is_planned && facts.plan == PlanStanding::Covered {
        return allow(Row::Plan);
    }
    if facts.mode == Mode::Auto {
        return allow(Row::Auto);
    }
    if facts.ruling == Ruling::Allow {
        return allow(Row::AllowRule);
    }
    stage(Row::Otherwise)
}

impl Ceiling {
    /// Whether an operation of this class may run unasked.
    ///
    /// Only `none` holds back what undo brings back; for the others, what is above them is destructive.
    pub fn lets(self, class: Class) -> bool {
        match self {
            Self::None => false,
            Self::Reversible => class <= Class::Reversible,
            Self::Workspace => class <= Class::Workspace,
            Self::Outside => true,
        }
    }

    /// All ceilings, the lowest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Reversible, Self::Workspace, Self::Outside];

    /// The word for it in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reversible => "reversible",
            Self::Workspace => "workspace",
            Self::Outside => "outside",
        }
    }
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Manual, Self::Plan, Self::Auto];

    /// The word for it in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Plan => "plan",
            Self::Auto => "auto",
        }
    }
}

/// A word that names none of them; its message lists those that there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is none of {known}")]
pub struct UnknownWord {
    /// The word, cut to a readable length.
    pub word: String,
    /// Those that there are.
    pub known: String,
}

impl UnknownWord {
    fn new(word: &str, known: &[&str]) -> Self {
        Self {
            word: word.chars().take(40).collect(),
            known: known.join(", "),
        }
    }
}

macro_rules! words {
    ($($kind:ty),*) => {$(
        impl FromStr for $kind {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                <$kind>::ALL
                    .into_iter()
                    .find(|one| one.as_str() == word)
                    .ok_or_else(|| UnknownWord::new(word, &<$kind>::ALL.map(<$kind>::as_str)))
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

words!(Mode, Ceiling, MutationKind, Class);

#[cfg(test)]
mod tests;
