//! Accepted edits that an editor applies and tells.

use super::{super::input::Input, Session};
use crate::{HunkId, HunkState};

impl Session {
    /// The editor applies what was accepted, and tells it by changes of its own cut.
    pub(super) fn editor_accepts(&mut self, input: &mut Input<'_>) {
        let ids = self.pending_ids(input);
        let rope = self.rope();
        let changes = self.set.edits_for(&rope, &ids).unwrap();
        // One that only drops an ending which is needed by now has nothing to deliver.
        let needless: Vec<HunkId> = ids
            .iter()
            .filter(|id| {
                let alone = self
                    .set
                    .edits_for(&rope, std::slice::from_ref(*id))
                    .unwrap();
                let change = &alone[0];
                rope.byte_slice(change.range.clone()) == change.text.as_str()
            })
            .cloned()
            .collect();
        self.set.expect(&ids);
        let mut events = Vec::new();
        match input.below(3) {
            0 => {
                let mut whole = self.text.clone();
                for change in changes.iter().rev() {
                    whole.replace_range(change.range.clone(), &change.text);
                }
                let old = self.text.clone();
                self.undo.push((0..whole.len(), old));
                let placed = self.placed();
                events.extend(self.untold_change(0..self.text.len(), &whole));
                let others = placed.iter().filter(|other| !ids.contains(&other.id));
                for other in others {
                    assert_eq!(self.set.get(&other.id).unwrap().state, HunkState::Pending);
                }
            }
            1 => {
                for change in changes.iter().rev() {
                    let found = self.text[change.range.clone()].to_owned();
                    let start = change.range.start;
                    self.undo.push((start..start + change.text.len(), found));
                    events.extend(self.change(change.range.clone(), &change.text));
                }
            }
            _ => {
                // In place, the removed lines first.
                for change in changes.iter().rev() {
                    let found = self.text[change.range.clone()].to_owned();
                    let start = change.range.start;
                    self.undo.push((start..start, found));
                    events.extend(self.change(change.range.clone(), ""));
                    self.undo
                        .push((start..start + change.text.len(), String::new()));
                    events.extend(self.change(start..start, &change.text));
                }
            }
        }
        for id in &ids {
            let needs_none = needless.contains(id);
            if needs_none {
                self.set.absorb_applied(&self.rope(), id);
            }
            let hunk = self.set.get(id).unwrap();
            assert!(
                matches!(hunk.state, HunkState::Accepted { .. }),
                "{hunk:?} has arrived, and was not noticed: {:?}, {events:?}",
                self.text
            );
        }
        self.set.expect_no_more(&ids);
    }
}
