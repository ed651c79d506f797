//! Where a searched text is: the ladder.
//!
//! Owns the rungs and their order (exact; trailing white space; uniform indentation; unicode
//! look-alikes), the rule that a rung must match exactly one place, and what is said when none
//! does. Knows no format and no path.
//!
//! **Invariant:** the first rung that matches anywhere decides, and two matches there are an
//! error. Line endings are no part of a line, so an LF search matches CRLF lines on the first
//! rung.

mod error;
mod fold;
mod indentation;
mod index;
mod nearest;
mod search;
mod transplant;

pub(crate) use self::{
    error::{MatchError, clip},
    fold::flags as lookalike_flags,
    indentation::Shift,
    index::{Pattern, TextIndex},
    nearest::nearest,
    search::{Found, Search},
    transplant::transplant,
};

/// Matches beyond this many are counted no further.
pub(crate) const MAX_PLACES: usize = 1000;

#[cfg(test)]
mod tests;
