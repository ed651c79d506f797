//! What undoing a checkpoint means on today's files. Pure: files and kept contents are read through closures.
//!
//! Changes of one file that follow each other without anybody else in between form a *segment*:
//! its first `before` and last `after` are all that matters. Segments are taken back from the last
//! to the first, on a virtual copy of today's files:
//!
//! | today the path is | it becomes |
//! |---|---|
//! | what the segment left | what the segment found, byte for byte |
//! | a text with other changes in it | the same text with the segment's hunks reversed |
//! | anything else | contested: a person has to look |
//!
//! A created file that somebody edited since is contested, too: deleting it would lose their text.

use std::collections::BTreeMap;
use std::sync::Arc;

use ropey::Rope;

use super::format::Change;
use super::segment::{Segment, segments};
use super::target::{Now, Target, contested, exact, is_same, merged, restored, reverse_text};
use crate::commit::Fingerprint;

/// One path that an undo changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reversal {
    /// Where it is today.
    pub(crate) path: String,
    /// Where it goes back to, when it was renamed.
    pub(crate) back_to: Option<String>,
    /// What it becomes.
    pub(crate) target: Target,
    /// Folders made for it, to be removed when they are left empty; outermost first.
    pub(crate) made: Vec<String>,
    /// Somebody else's change stands in the way.
    pub(crate) contest: Option<Contest>,
}

/// What stands in the way of taking a path back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contest {
    /// The first thing that does.
    pub(crate) refusal: Refusal,
    /// How that concerns its content.
    pub(crate) content: Contested,
    /// The name that it would go back to is taken.
    pub(crate) is_name_taken: bool,
}

/// How the content of a path is contested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contested {
    /// Not at all.
    Not,
    /// By lines: hunks laid over today's text show where.
    Lines(Chain),
    /// As a whole.
    Whole,
}

/// The segments of one file, as the hunks that take them back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The text that the last segment left.
    pub(crate) left: Arc<str>,
    /// That text with all segments taken back, as far as what was changed between them allows.
    pub(crate) found: Arc<str>,
    /// What of earlier segments somebody changed before a later one.
    pub(crate) buried: Vec<Buried>,
}

/// Hunks of an earlier segment that were in conflict before the next segment began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buried {
    /// The text that the segment left.
    pub(crate) left: Arc<str>,
    /// The text that it found.
    pub(crate) found: Arc<str>,
    /// Which of the hunks from the one to the other, in order.
    pub(crate) hunks: Vec<usize>,
}

/// Why a path cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The path.
    pub path: String,
    /// 1-based line of today's text, where one can be named.
    pub line: Option<usize>,
    /// One clause: `changed since`, `was deleted since`, …
    pub reason: String,
}

impl Refusal {
    pub(super) fn new(path: &str, reason: &str) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            reason: reason.to_owned(),
        }
    }
}

/// Works out what undoing `changes` (in the order in which they were made) means today.
///
/// `kept` reads a kept file as text (None when it is not text).
pub(crate) fn reverse(
    changes: &[Change],
    now: &mut dyn FnMut(&str) -> Now,
    kept: &mut dyn FnMut(&str) -> Option<Arc<str>>,
) -> Vec<Reversal> {
    let mut world = World {
        seen: BTreeMap::new(),
        stuck: Vec::new(),
        now,
    };
    for segment in segments(changes, kept).iter().rev() {
        world.take_back(segment);
    }
    world.reversals()
}

/// Today's files, and what became of those that were looked at.
struct World<'a> {
    seen: BTreeMap<String, Virtual>,
    /// Renames that cannot go back, since their old name is taken.
    stuck: Vec<Reversal>,
    now: &'a mut dyn FnMut(&str) -> Now,
}

#[derive(Debug, Clone)]
struct Virtual {
    path: String,
    today: Now,
    value: Now,
    target: Option<Target>,
    came_from: Option<String>,
    made: Vec<String>,
    /// None when lines do not tell the whole of what happened here.
    chain: Option<Chain>,
    refusal: Option<Refusal>,
}

impl Virtual {
    /// Adds a segment before those that were taken back already.
    fn extend_chain(&mut self, segment: &Segment) {
        let (Some(left), Some(found)) = (&segment.text_after, &segment.text_before) else {
            self.chain = None;
            return;
        };
        self.chain = match (self.target.is_some(), self.chain.take()) {
            (false, _) => Some(Chain {
                left: left.clone(),
                found: found.clone(),
                buried: Vec::new(),
            }),
            (true, None) => None,
            (true, Some(mut chain)) => {
                let reversed = reverse_text(left, found, &Rope::from_str(&chain.found));
                chain.found = reversed.text;
                if !reversed.conflicts.is_empty() {
                    chain.buried.push(Buried {
                        left: left.clone(),
                        found: found.clone(),
                        hunks: reversed.conflicts,
                    });
                }
                Some(chain)
            }
        };
    }

    fn contest(&self, is_name_taken: bool) -> Option<Contest> {
        let content = match (&self.refusal, &self.chain) {
            (None, _) => Contested::Not,
            (Some(_), Some(chain)) => Contested::Lines(chain.clone()),
            (Some(_), None) => Contested::Whole,
        };
        let taken = || Refusal::new(&self.path, "exists again");
        let refusal = self.refusal.clone().or_else(|| is_name_taken.then(taken))?;
        Some(Contest {
            refusal,
            content,
            is_name_taken,
        })
    }
}

impl World<'_> {
    fn at(&mut self, path: &str) -> &mut Virtual {
        let Self { seen, now, .. } = self;
        seen.entry(path.to_owned()).or_insert_with(|| {
            let today = now(path);
            Virtual {
                path: path.to_owned(),
                value: today.clone(),
                today,
                target: None,
                came_from: None,
                made: Vec::new(),
                chain: None,
                refusal: None,
            }
        })
    }

    fn take_back(&mut self, segment: &Segment) {
        let mut at = self.at(&segment.to).clone();
        let (target, refusal) = target_of(segment, &at.value);
        at.extend_chain(segment);
        at.refusal = at.refusal.or(refusal);
        at.value = match (&at.refusal, &at.chain) {
            // Earlier segments go back from where this one would have brought it.
            (Some(_), Some(chain)) => value_of(&Target::of_text(&chain.found), &at.value),
            _ => value_of(&target, &at.value),
        };
        at.target = Some(target);
        at.made.extend(segment.made.iter().cloned());
        if segment.from == segment.to {
            *self.at(&segment.to) = at;
            return;
        }
        let came_from = at.came_from.take().unwrap_or_else(|| segment.to.clone());
        let is_taken = self.at(&segment.from).value != Now::Missing;
        let leaving = self.at(&segment.to);
        leaving.value = Now::Missing;
        leaving.target = Some(Target::Gone);
        leaving.made.clone_from(&at.made);
        at.path.clone_from(&segment.from);
        if is_taken {
            self.stuck.push(Reversal {
                path: came_from,
                back_to: Some(segment.from.clone()),
                contest: at.contest(true),
                target: at.target.unwrap_or(Target::Gone),
                made: at.made,
            });
            return;
        }
        let back = self.at(&segment.from);
        *back = Virtual {
            today: back.today.clone(),
            came_from: Some(came_from),
            made: std::mem::take(&mut back.made),
            ..at
        };
    }

    fn reversals(self) -> Vec<Reversal> {
        let moved: BTreeMap<String, Vec<String>> = self
            .seen
            .values()
            .filter_map(|at| at.came_from.clone())
            .chain(self.stuck.iter().map(|stuck| stuck.path.clone()))
            .map(|from| {
                let made = self.seen.get(&from).map(|at| at.made.clone());
                (from, made.unwrap_or_default())
            })
            .collect();
        let mut reversals = self.stuck;
        for (path, at) in self.seen {
            let contest = at.contest(false);
            let Some(target) = at.target else { continue };
            if at.value == at.today && at.came_from.is_none() && contest.is_none() {
                continue;
            }
            match at.came_from {
                Some(from) if from != path => reversals.push(Reversal {
                    made: moved.get(&from).cloned().unwrap_or_default(),
                    path: from,
                    back_to: Some(path),
                    target,
                    contest,
                }),
                _ if target == Target::Gone && moved.contains_key(&path) => {}
                _ => reversals.push(Reversal {
                    path,
                    back_to: None,
                    target,
                    made: at.made,
                    contest,
                }),
            }
        }
        reversals
    }
}

/// What taking `segment` back makes of what stands at its path, and what stands in the way of that.
fn target_of(segment: &Segment, value: &Now) -> (Target, Option<Refusal>) {
    let refuse = |reason: &str| Some(Refusal::new(&segment.to, reason));
    match (value, &segment.after, &segment.before) {
        (Now::Missing, None, None) | (Now::Missing, Some(_), None) => (Target::Gone, None),
        (Now::Missing, None, Some(before)) => (restored(segment, before), None),
        (Now::Missing, Some(_), Some(before)) => {
            (restored(segment, before), refuse("was deleted since"))
        }
        (Now::File { .. }, None, before) => {
            let target = before
                .as_ref()
                .map_or(Target::Gone, |before| restored(segment, before));
            (target, refuse("exists again, so it changed since"))
        }
        (Now::File { disk, text, open }, Some(after), before) => {
            let same = is_same(disk.as_ref(), text.as_deref(), *open, after, segment);
            match (before, same) {
                (None, true) => (Target::Gone, None),
                (None, false) => (Target::Gone, refuse("changed since")),
                (Some(before), true) => {
                    let target = exact(segment, before, after, disk.as_ref(), *open);
                    (target, None)
                }
                (Some(before), false) => {
                    match merged(segment, before, after, disk.as_ref(), text.as_deref()) {
                        Ok(target) => (target, None),
                        Err(refusal) => {
                            let target = contested(segment, before, after, disk.as_ref());
                            (target, Some(refusal))
                        }
                    }
                }
            }
        }
    }
}

/// What stands at a path that became `target`.
fn value_of(target: &Target, today: &Now) -> Now {
    match target {
        Target::Gone => Now::Missing,
        Target::Kept {
            fingerprint, text, ..
        } => Now::File {
            disk: Some(fingerprint.clone()),
            text: text.clone(),
            open: false,
        },
        Target::Text { text, mode } => match today {
            Now::Missing => Now::File {
                disk: None,
                text: Some(text.clone()),
                open: false,
            },
            Now::File { disk, open, .. } => Now::File {
                // The bytes are no longer known by their hash; the text is.
                disk: disk.clone().map(|disk| Fingerprint {
                    revision: String::new(),
                    mode: mode.unwrap_or(disk.mode),
                    ..disk
                }),
                text: Some(text.clone()),
                open: *open,
            },
        },
        Target::Mode { mode } => match today.clone() {
            Now::Missing => Now::Missing,
            Now::File { disk, text, open } => Now::File {
                disk: disk.map(|disk| Fingerprint {
                    mode: *mode,
                    ..disk
                }),
                text,
                open,
            },
        },
    }
}
