//! How the text of a proposal was found in the file.

use serde::{Deserialize, Serialize};

/// A rung of the matching ladder; a greater one is a worse match.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MatchRung {
    /// Byte for byte, line endings aside.
    #[default]
    Exact,
    /// Exact, but not at the line that the diff named.
    Offset,
    /// After ignoring trailing white space.
    Whitespace,
    /// After one uniform shift of indentation.
    Indentation,
    /// After folding typographic look-alikes.
    Lookalike,
}

impl MatchRung {
    /// The name that reviewers see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Offset => "offset",
            Self::Whitespace => "whitespace",
            Self::Indentation => "indentation",
            Self::Lookalike => "lookalike",
        }
    }
}
