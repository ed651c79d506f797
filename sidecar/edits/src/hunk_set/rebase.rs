//! Hunks follow a change whose cut into edits only a diff tells: the text changed on disk or between
//! runs, or an editor replaced many lines at once.
//!
//! A hunk moves along where its lines are unchanged and no other reading of the same two texts puts
//! it elsewhere (see `doubt`); any other is a conflict.

use std::{collections::HashSet, ops::Range};

use ropey::Rope;

use super::{Entry, HunkSet, change::Edit, doubt::Doubt};
use crate::{
    diff::{LineDiff, LineEdit, diff_with_ids},
    hunk::{ConflictInfo, HunkEvent, HunkId, HunkState},
    linewise,
};

/// Whole lines that became others, in a way that only a diff tells.
pub(super) struct Change<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Where `old` begins in the text.
    pub(super) start: usize,
    /// A part of the first line was not touched, so the first line is still the first.
    pub(super) keeps_first: bool,
    /// A part of the last line was not touched.
    pub(super) keeps_last: bool,
}

/// A hunk whose place is in doubt where a diff cuts a change, as it was before.
pub(super) struct Suspect {
    key: u32,
    range: Range<usize>,
    was_pending: bool,
}

/// What the edits of a diff were to the hunks.
#[derive(Default)]
struct Told {
    /// Edits that are no hunk's own: their place is not certain.
    undecided: Vec<LineEdit>,
    /// Hunks whose application was undone, with the edit that did.
    reopened: Vec<(HunkId, LineEdit)>,
}

impl HunkSet {
    /// Moves the set from `old`, on which it is anchored, to `new`; gives what that did.
    pub fn rebase(&mut self, old: &Rope, new: &Rope) -> Vec<HunkEvent> {
        let mut events = Vec::new();
        if self.is_empty() || old == new {
            return events;
        }
        let old_text = linewise::slice(old, 0..old.len_bytes());
        let new_text = linewise::slice(new, 0..new.len_bytes());
        let all = 0..old.len_bytes();
        let suspects = self.suspects(&all, |_, _| true);
        let change = Change {
            old: &old_text,
            new: &new_text,
            start: 0,
            keeps_first: false,
            keeps_last: false,
        };
        self.follow_diff(&change, suspects, (old, new), &mut events);
        events
    }

    /// Follows a change whose cut into edits only a diff tells: those of the `suspects` that another
    /// cut would put elsewhere become conflicts.
    pub(super) fn follow_diff(
        &mut self,
        change: &Change<'_>,
        suspects: Vec<Suspect>,
        (before, after): (&Rope, &Rope),
        events: &mut Vec<HunkEvent>,
    ) {
        let &Change {
            old, new, start, ..
        } = change;
        let (diff, old_ids, new_ids) = diff_with_ids(old, new);
        let mut dirty = Vec::new();
        let told = self.line_edits(&diff, (old, new), start, before, &mut dirty, events);
        self.evaluate(&dirty, after, events);
        if suspects.is_empty() && told.reopened.is_empty() {
            return;
        }
        let doubt = Doubt::new(&diff.edits, &told.undecided, &old_ids, &new_ids)
            .with_kept_ends(change.keeps_first, change.keeps_last);
        let mut undone = HashSet::new();
        for (id, edit) in told.reopened {
            // Its text did not go if it came elsewhere: then nothing was undone, but lines moved.
            let Ok(key) = self.pending_key(&id) else {
                continue;
            };
            undone.insert(key);
            if doubt.is_moved(&edit) {
                self.turn(key, HunkState::Conflict(ConflictInfo::Ambiguous));
                events.push(HunkEvent::Conflicted { id });
            }
        }
        let line = |offsets: &[usize], byte: usize| {
            offsets.partition_point(|offset| start + offset < byte)
        };
        for Suspect {
            key,
            range,
            was_pending,
        } in suspects
        {
            if undone.contains(&key) || !self.entry(key).is_some_and(Entry::is_pending) {
                continue;
            }
            let old = &diff.old_offsets;
            let lines = line(old, range.start)..line(old, range.end);
            let here = line(&diff.new_offsets, self.range_of(key).start);
            let is_doubtful = match was_pending {
                true => doubt.is_ambiguous(&lines, here),
                // What had kept it from being pending may be there still, elsewhere.
                false => doubt.is_displaced(&lines) || doubt.has_moved_lines(&lines),
            };
            if is_doubtful {
                self.turn(key, HunkState::Conflict(ConflictInfo::Ambiguous));
                self.event(key, events, |id| HunkEvent::Conflicted { id });
            }
        }
    }

    /// Follows the edits of `diff`, whose two texts begin at `start`.
    fn line_edits(
        &mut self,
        diff: &LineDiff,
        (old, new): (&str, &str),
        start: usize,
        before: &Rope,
        dirty: &mut Vec<u32>,
        events: &mut Vec<HunkEvent>,
    ) -> Told {
        let mut told = Told::default();
        let mut moved: i64 = 0;
        let (mut old_line, mut new_line) = (0, 0);
        let mut done = 0;
        for edit in &diff.edits {
            let run = old_line..edit.old.start;
            let longer = self.follow_endings(diff, (old, new), (run, new_line), start, moved);
            moved += longer.unwrap_or(0);
            let (gone, come) = (diff.old_bytes(edit), diff.new_bytes(edit));
            let at = (start + gone.start).saturating_add_signed(moved as isize);
            if longer.is_some() {
                done = at;
            }
            let line_edit = Edit {
                at: at..at + gone.len(),
                origin: start + gone.start,
                floor: done,
                text: &new[come.clone()],
            };
            let known = events.len();
            if !self.line_edit(&line_edit, None, before, dirty, events) {
                told.undecided.push(edit.clone());
            }
            let reopened = events[known..].iter().filter_map(|event| match event {
                HunkEvent::Reopened { id } => Some((id.clone(), edit.clone())),
                _ => None,
            });
            told.reopened.extend(reopened);
            moved += come.len() as i64 - gone.len() as i64;
            done = at + come.len();
            (old_line, new_line) = (edit.old.end, edit.new.end);
        }
        let run = old_line..diff.old_offsets.len() - 1;
        self.follow_endings(diff, (old, new), (run, new_line), start, moved);
        told
    }

    /// Lines of a common run may differ in their endings; gives how many bytes that adds if so.
    fn follow_endings(
        &mut self,
        diff: &LineDiff,
        (old, new): (&str, &str),
        (run, new_line): (Range<usize>, usize),
        start: usize,
        moved: i64,
    ) -> Option<i64> {
        let old_bytes = diff.old_offsets[run.start]..diff.old_offsets[run.end];
        let new_bytes = diff.new_offsets[new_line]..diff.new_offsets[new_line + run.len()];
        if old[old_bytes] == new[new_bytes] {
            return None;
        }
        let mut added = 0;
        for (line, new_line) in run.zip(new_line..) {
            let length =
                |offsets: &[usize], line: usize| (offsets[line + 1] - offsets[line]) as i64;
            let delta = length(&diff.new_offsets, new_line) - length(&diff.old_offsets, line);
            let end = (start + diff.old_offsets[line + 1]) as i64 + moved + added;
            self.nudge(end as usize, delta);
            added += delta;
        }
        Some(added)
    }

    /// The hunks that touch `bytes`, pending ones where `wanted`, and those that may become so.
    pub(super) fn suspects(
        &self,
        bytes: &Range<usize>,
        wanted: impl Fn(&Entry, &Range<usize>) -> bool,
    ) -> Vec<Suspect> {
        let touched = self.touched(bytes).into_iter();
        let suspects = touched.filter_map(|slot| {
            let (key, range) = (self.anchors.key(slot), self.anchors.range(slot));
            let entry = self.entry(key)?;
            let is_suspect = match entry.hunk.state {
                HunkState::Pending => wanted(entry, &range),
                HunkState::Conflict(ConflictInfo::Changed) | HunkState::Accepted { .. } => {
                    bytes.start <= range.start && range.end <= bytes.end
                }
                HunkState::Conflict(_) | HunkState::Rejected | HunkState::Withdrawn => false,
            };
            is_suspect.then(|| Suspect {
                key,
                range,
                was_pending: entry.is_pending(),
            })
        });
        suspects.collect()
    }
}
