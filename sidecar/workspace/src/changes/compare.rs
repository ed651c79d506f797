//! The tree before against the tree after.

use redline_edits::{decode, diff_lines};

use super::scan::{Pair, Scan};
use super::{Before, ChangeLimits, Gap};
use crate::boundary::{Batch, WorkspacePath, WorkspaceRoot};
use crate::checkpoint::{Edit, What, apply};
use crate::commit::{Fingerprint, fingerprint};
use crate::handle::{Kind, Stat};
use crate::read::Entry;

/// Texts beyond this are compared as one change, not line by line.
const LARGEST_DIFF: usize = 1 << 20;

/// What a command changed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// In order of their paths.
    pub(crate) changes: Vec<Changed>,
    /// What changed and cannot be brought back.
    pub(crate) gaps: Vec<Gap>,
}

/// One changed path.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) what: What,
    /// The bytes before, when there were any and they, not only the mode, matter.
    pub(crate) kept: Option<Vec<u8>>,
    pub(crate) edits: Vec<Edit>,
    /// Folders that were made for it, outermost first.
    pub(crate) made: Vec<String>,
    /// The text after, for comparing it with what editors saved.
    pub(crate) text_after: Option<String>,
    /// An accepted proposal changed it, too.
    pub(crate) committed: bool,
}

pub(super) fn compare(
    root: &WorkspaceRoot,
    before: &Before,
    after: &Scan,
    limits: &ChangeLimits,
) -> Found {
    let comparing = Comparing {
        batch: root.batch(),
        root,
        before,
    };
    let mut found = Found::default();
    let mut bytes = 0;
    for pair in before.scan.with(after) {
        if comparing.is_untouched(pair) {
            continue;
        }
        let path = pair.path;
        match comparing.look(pair) {
            Ok(None) => {}
            Ok(Some(_)) if found.changes.len() >= limits.paths => found.gaps.push(Gap {
                path: path.to_string(),
                reason: format!("more than {} paths changed", limits.paths),
            }),
            Ok(Some(changed)) => {
                bytes += changed.kept.as_ref().map_or(0, |kept| kept.len() as u64);
                if bytes > limits.total_bytes {
                    found.gaps.push(Gap {
                        path: path.to_string(),
                        reason: format!("more than {} bytes changed", limits.total_bytes),
                    });
                } else {
                    found.changes.push(changed);
                }
            }
            Err(gap) => found.gaps.push(gap),
        }
    }
    found
}

struct Comparing<'a> {
    batch: Batch,
    root: &'a WorkspaceRoot,
    before: &'a Before,
}

/// A file's identity and its bytes (a link's: its target).
struct State {
    fingerprint: Fingerprint,
    bytes: Vec<u8>,
}

impl Comparing<'_> {
    /// Whether the file system says that nothing happened to it, in a way that can be relied on.
    fn is_untouched(&self, pair: Pair<'_>) -> bool {
        match (pair.before, pair.after) {
            (Some(before), Some(after)) => before == after && !self.before.scan.is_racy(before),
            _ => false,
        }
    }

    fn look(&self, pair: Pair<'_>) -> Result<Option<Changed>, Gap> {
        let path = pair.path;
        if let Some(rule) = self.root.protection(path) {
            return match is_same_look(pair) {
                true => Ok(None),
                false => Err(gap(path, &format!("is protected: {rule}"))),
            };
        }
        let after = match pair.after {
            None => None,
            Some(stat) => self.now(path, stat)?,
        };
        let before = match pair.before {
            None => None,
            Some(stat) => match self.then(path, stat) {
                Ok(state) => Some(state),
                // Not kept; but then it may only have been touched.
                Err(_) if is_same_look(pair) => return Ok(None),
                Err(gap) => return Err(gap),
            },
        };
        let (what, kept) = match (&before, &after) {
            (None, None) => return Ok(None),
            (None, Some(after)) => (
                What::Created {
                    after: after.fingerprint.clone(),
                },
                None,
            ),
            (Some(before), None) => (
                What::Deleted {
                    before: before.fingerprint.clone(),
                },
                Some(before.bytes.clone()),
            ),
            (Some(before), Some(after)) if before.fingerprint == after.fingerprint => {
                return Ok(None);
            }
            (Some(before), Some(after)) => (
                What::Disk {
                    before: before.fingerprint.clone(),
                    after: after.fingerprint.clone(),
                },
                Some(before.bytes.clone()),
            ),
        };
        let text = |state: &Option<State>| match state {
            None => Some(String::new()),
            Some(state) if state.fingerprint.symlink => None,
            Some(state) => decode(&state.bytes).ok().map(|decoded| decoded.text),
        };
        let (text_before, text_after) = (text(&before), text(&after));
        let edits = match (&text_before, &text_after) {
            (Some(before), Some(after)) => edits(before, after),
            _ => Vec::new(),
        };
        Ok(Some(Changed {
            path: path.to_string(),
            made: self.made_for(path, before.is_none()),
            what,
            kept,
            edits,
            text_after: text_after.filter(|_| after.is_some()),
            committed: false,
        }))
    }

    /// What it holds now; None when it is gone after all.
    fn now(&self, path: &WorkspacePath, stat: &Stat) -> Result<Option<State>, Gap> {
        let entry = self
            .batch
            .read(path)
            .map_err(|error| gap(path, &format!("changed, and cannot be read: {error}")))?;
        let bytes = match &entry {
            Entry::Missing => return Ok(None),
            Entry::File(file) => file.bytes.clone(),
            Entry::Symlink { target } => target.clone().into_bytes(),
            Entry::TooLarge { len, .. } => {
                return Err(gap(
                    path,
                    &format!("changed, and with {len} bytes is too large to compare"),
                ));
            }
            Entry::Directory | Entry::Special { .. } => {
                return Err(gap(path, &format!("became {}", stat.kind.word())));
            }
        };
        Ok(fingerprint(&entry).map(|fingerprint| State { fingerprint, bytes }))
    }

    /// What it held before.
    fn then(&self, path: &WorkspacePath, stat: &Stat) -> Result<State, Gap> {
        if let Some(gap) = self.before.shadow.gap(path) {
            return Err(gap);
        }
        let bytes = match self.before.shadow.content(path) {
            Some(copied) => {
                copied.map_err(|error| gap(path, &format!("its copy cannot be read: {error}")))?
            }
            None => self
                .before
                .git
                .as_ref()
                .and_then(|git| git.content(path.as_str(), stat))
                .ok_or_else(|| {
                    gap(
                        path,
                        "changed, and git stores what it was in another form (a filter)",
                    )
                })?,
        };
        let fingerprint = match stat.kind {
            Kind::Symlink => Fingerprint::of_link(&String::from_utf8_lossy(&bytes)),
            Kind::File | Kind::Directory | Kind::Fifo | Kind::Socket | Kind::Device => {
                Fingerprint {
                    symlink: false,
                    revision: crate::revision::revision(&bytes),
                    mode: stat.mode,
                }
            }
        };
        Ok(State { fingerprint, bytes })
    }

    /// The folders above a new file that were not there before, outermost first.
    fn made_for(&self, path: &WorkspacePath, created: bool) -> Vec<String> {
        if !created {
            return Vec::new();
        }
        let text = path.as_str();
        text.match_indices('/')
            .map(|(end, _)| &text[..end])
            .filter(|folder| {
                let admitted = self.root.admit(folder);
                admitted.is_ok_and(|folder| !self.before.scan.folders.contains(&folder))
            })
            .map(str::to_owned)
            .collect()
    }
}

/// Whether it looks as before, as far as can be told without its content.
fn is_same_look(pair: Pair<'_>) -> bool {
    let of =
        |stat: Option<&Stat>| stat.map(|stat| (stat.len, stat.mode, stat.ino, stat.modified_ns));
    of(pair.before) == of(pair.after)
}

fn gap(path: &WorkspacePath, reason: &str) -> Gap {
    Gap {
        path: path.to_string(),
        reason: reason.to_owned(),
    }
}

/// The line edits from one text to another; one edit in the middle where lines do not tell all.
fn edits(before: &str, after: &str) -> Vec<Edit> {
    if before == after {
        return Vec::new();
    }
    if before.len().max(after.len()) <= LARGEST_DIFF {
        let (old, new) = (offsets(before), offsets(after));
        let lines: Vec<Edit> = diff_lines(before, after)
            .into_iter()
            .map(|edit| Edit {
                at: old[edit.old.start],
                removed: before[old[edit.old.start]..old[edit.old.end]].to_owned(),
                added: after[new[edit.new.start]..new[edit.new.end]].to_owned(),
            })
            .collect();
        // A difference in line ends alone is none to a diff of lines.
        if apply(before, &lines).as_deref() == Some(after) {
            return lines;
        }
    }
    vec![middle(before, after)]
}

fn offsets(text: &str) -> Vec<usize> {
    let mut offsets = vec![0];
    offsets.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    if offsets.last() != Some(&text.len()) {
        offsets.push(text.len());
    }
    offsets
}

/// All that lies between the ends that both have in common.
fn middle(before: &str, after: &str) -> Edit {
    let common = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(one, other)| one == other)
            .map(|(c, _)| c.len_utf8())
            .sum()
    };
    let start = common(&mut before.chars().zip(after.chars()));
    let (old, new) = (&before[start..], &after[start..]);
    let end = common(&mut old.chars().rev().zip(new.chars().rev()));
    Edit {
        at: start,
        removed: old[..old.len() - end].to_owned(),
        added: new[..new.len() - end].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edits_lead_from_one_text_to_the_other(before in "[ab\r\né]{0,30}", after in "[ab\r\né]{0,30}") {
            let edits = edits(&before, &after);
            prop_assert_eq!(edits.is_empty(), before == after);
            prop_assert_eq!(apply(&before, &edits), Some(after.clone()));
            let middle = middle(&before, &after);
            prop_assert_eq!(apply(&before, &[middle]), Some(after));
        }
    }
}
