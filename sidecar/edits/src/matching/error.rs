//! What is said when there is no one place.

use super::MAX_PLACES;

/// Why a search has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MatchError {
    /// An empty search in a file that has text.
    EmptySearch,
    /// Several places on the first rung that has any.
    Ambiguous {
        /// Their lines, from 1, ascending.
        lines: Vec<usize>,
        /// Whether they match only with some tolerance.
        tolerant: bool,
    },
    /// No place on any rung.
    NoMatch {
        /// The block of the file that is most like the search.
        nearest: Option<Nearest>,
        /// What the search holds that a file does not.
        oddity: Option<Oddity>,
    },
    /// The replacement is there already, at this line from 1, and the search is not.
    AlreadyApplied {
        /// Where.
        line: usize,
    },
    /// The place is clear, but the replacement is less indented than the shift takes away.
    CannotShift {
        /// The line of the place, from 1.
        line: usize,
    },
}

/// A way of quoting that never matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// A line like `...` that stands for others.
    Elided,
    /// Line numbers before every line.
    Numbered,
}

/// A block that nearly matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// First line of the block, from 1.
    pub(crate) start: usize,
    /// First line that differs, from 1; `None` when only more lines than the file has are wanted.
    pub(crate) differs: usize,
    /// What the file has there, clipped; `None` past its end.
    pub(crate) found: Option<String>,
    /// What the search has there, clipped.
    pub(crate) searched: String,
    /// The code points in which they differ, where they look alike.
    pub(crate) code_points: Option<(char, char)>,
}

impl MatchError {
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Ambiguous { .. } => "AMBIGUOUS_MATCH",
            Self::NoMatch { .. } | Self::CannotShift { .. } => "NO_MATCH",
            Self::AlreadyApplied { .. } => "ALREADY_APPLIED",
            Self::EmptySearch => "MALFORMED_PROPOSAL",
        }
    }

    /// What happened, as the end of a sentence that begins with who searched.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::EmptySearch => "is empty, and the file has text already".to_owned(),
            Self::Ambiguous { lines, tolerant } => {
                let n = lines.len();
                let count = if n >= MAX_PLACES {
                    format!("{n} or more")
                } else {
                    n.to_string()
                };
                let what = if *tolerant {
                    "candidate places"
                } else {
                    "matches"
                };
                let but = if *tolerant {
                    " (not exactly, and only one may be meant)"
                } else {
                    ""
                };
                format!("has {count} {what}, lines {}{but}", list(lines))
            }
            Self::NoMatch {
                nearest: Some(nearest),
                ..
            } => nearest.message(),
            Self::NoMatch { nearest: None, .. } => {
                "matches no place, and nothing there resembles it".to_owned()
            }
            Self::AlreadyApplied { line } => {
                format!("is applied already: line {line} reads as it should afterwards")
            }
            Self::CannotShift { line } => format!(
                "matches line {line} only with less indentation, which the replacement does not \
                 have to give"
            ),
        }
    }

    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Ambiguous { .. } => {
                "quote more of the lines around the place, so that it can be only one"
            }
            Self::NoMatch {
                oddity: Some(Oddity::Elided),
                ..
            } => "the searched text stands in for lines with “...”: quote them in full",
            Self::NoMatch {
                oddity: Some(Oddity::Numbered),
                ..
            } => "the searched lines begin with line numbers: quote them without",
            Self::NoMatch { .. } => "read the file again and quote it exactly",
            Self::EmptySearch => "quote the lines to be replaced; an empty search makes a new file",
            Self::AlreadyApplied { .. } => "nothing is to be done; leave this edit out",
            Self::CannotShift { .. } => "quote the lines with the indentation of the file",
        }
    }
}

impl Nearest {
    fn message(&self) -> String {
        let mut message = format!(
            "matches no place: the nearest block starts at line {}, and line {} differs",
            self.start, self.differs
        );
        match &self.found {
            Some(found) => {
                message += &format!(" (it is {found:?}, the search has {:?}", self.searched);
            }
            None => {
                message += &format!(
                    " (the file ends before it, the search has {:?}",
                    self.searched
                );
            }
        }
        if let Some((found, searched)) = self.code_points {
            message += &format!(
                "; U+{:04X} where the search has U+{:04X}",
                u32::from(found),
                u32::from(searched)
            );
        }
        message + ")"
    }
}

/// `3 and 6`, `3, 6 and 9`, at most ten of them.
fn list(lines: &[usize]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    match shown.split_last() {
        Some((last, rest)) if lines.len() <= SHOWN && !rest.is_empty() => {
            format!("{} and {last}", rest.join(", "))
        }
        _ if lines.len() > SHOWN => {
            format!("{} and {} more", shown.join(", "), lines.len() - SHOWN)
        }
        _ => shown.join(""),
    }
}

/// At most 80 characters of a line, around byte `at`.
pub(crate) fn clip(line: &str, at: usize) -> String {
    const BEFORE: usize = 30;
    const LENGTH: usize = 80;
    let chars_before = line[..at].chars().count();
    let skip = if line.chars().nth(LENGTH).is_none() {
        0
    } else {
        chars_before.saturating_sub(BEFORE)
    };
    let mut clipped: String = line.chars().skip(skip).take(LENGTH).collect();
    if skip > 0 {
        clipped.insert(0, '…');
    }
    if line.chars().nth(skip + LENGTH).is_some() {
        clipped.push('…');
    }
    clipped
}
