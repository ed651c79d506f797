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
//! | anything else | a conflict; nothing is undone |
//!
//! A created file that somebody edited since is a conflict, too: deleting it would lose their text.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::format::Change;
use super::segment::{Segment, segments};
use super::target::{Now, Target, exact, is_same, merged, restored};
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

/// Works out what undoing `changes` (in the order in which they were made) means today.
///
/// `kept` reads a kept file as text (None when it is not text).
///
/// # Errors
///
/// Every path that stands in the way; nothing may be undone then.
pub(crate) fn reverse(
    changes: &[Change],
    now: &mut dyn FnMut(&str) -> Now,
    kept: &mut dyn FnMut(&str) -> Option<Arc<str>>,
) -> Result<Vec<Reversal>, Vec<Refusal>> {
    let segments = segments(changes, kept);
    let mut world = World {
        seen: BTreeMap::new(),
        now,
    };
    let mut refusals = Vec::new();
    for segment in segments.iter().rev() {
        if let Err(refusal) = world.take_back(segment) {
            refusals.push(refusal);
        }
    }
    if refusals.is_empty() {
        Ok(world.reversals())
    } else {
        Err(refusals)
    }
}

/// Today's files, and what became of those that were looked at.
struct World<'a> {
    seen: BTreeMap<String, Virtual>,
    now: &'a mut dyn FnMut(&str) -> Now,
}

#[derive(Debug, Clone)]
struct Virtual {
    today: Now,
    value: Now,
    target: Option<Target>,
    came_from: Option<String>,
    made: Vec<String>,
}

impl World<'_> {
    fn at(&mut self, path: &str) -> &mut Virtual {
        let Self { seen, now } = self;
        seen.entry(path.to_owned()).or_insert_with(|| {
            let today = now(path);
            Virtual {
                value: today.clone(),
                today,
                target: None,
                came_from: None,
                made: Vec::new(),
            }
        })
    }

    fn take_back(&mut self, segment: &Segment) -> Result<(), Refusal> {
        let refuse = |path: &str, reason: &str| {
            Err(Refusal {
                path: path.to_owned(),
                line: None,
                reason: reason.to_owned(),
            })
        };
        let at = self.at(&segment.to).clone();
        if segment.from != segment.to && self.at(&segment.from).value != Now::Missing {
            return refuse(&segment.from, "exists again");
        }
        let target = match (&at.value, &segment.after, &segment.before) {
            (Now::Missing, None, None) | (Now::Missing, Some(_), None) => Target::Gone,
            (Now::Missing, None, Some(before)) => restored(segment, before),
            (Now::Missing, Some(_), Some(_)) => return refuse(&segment.to, "was deleted since"),
            (Now::File { .. }, None, _) => {
                return refuse(&segment.to, "exists again, so it changed since");
            }
            (Now::File { disk, text, open }, Some(after), before) => {
                let same = is_same(disk.as_ref(), text.as_deref(), *open, after, segment);
                match (before, same) {
                    (None, true) => Target::Gone,
                    (None, false) => return refuse(&segment.to, "changed since"),
                    (Some(before), true) => exact(segment, before, after, disk.as_ref(), *open),
                    (Some(before), false) => {
                        merged(segment, before, after, disk.as_ref(), text.as_deref())?
                    }
                }
            }
        };
        let value = self.value_of(&target, &at.value);
        if segment.from == segment.to {
            let at = self.at(&segment.to);
            at.value = value;
            at.target = Some(target);
            at.made.extend(segment.made.iter().cloned());
        } else {
            let came_from = at.came_from.clone().unwrap_or_else(|| segment.to.clone());
            let leaving = self.at(&segment.to);
            leaving.value = Now::Missing;
            leaving.target = Some(Target::Gone);
            leaving.made.extend(segment.made.iter().cloned());
            let back = self.at(&segment.from);
            back.value = value;
            back.target = Some(target);
            back.came_from = Some(came_from);
        }
        Ok(())
    }

    fn value_of(&self, target: &Target, today: &Now) -> Now {
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

    fn reversals(self) -> Vec<Reversal> {
        let mut reversals = Vec::new();
        let moved: BTreeMap<String, String> = self
            .seen
            .iter()
            .filter_map(|(path, at)| Some((at.came_from.clone()?, path.clone())))
            .collect();
        let mut made_at: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, at) in &self.seen {
            made_at.insert(path.clone(), at.made.clone());
        }
        for (path, at) in self.seen {
            let Some(target) = at.target else { continue };
            if at.value == at.today && at.came_from.is_none() {
                continue;
            }
            match &at.came_from {
                Some(from) if *from != path => reversals.push(Reversal {
                    path: from.clone(),
                    back_to: Some(path),
                    target,
                    made: made_at.remove(from).unwrap_or_default(),
                }),
                _ if target == Target::Gone && moved.contains_key(&path) => {}
                _ => reversals.push(Reversal {
                    path,
                    back_to: None,
                    target,
                    made: at.made,
                }),
            }
        }
        reversals
    }
}
