//! What the user decides.

use std::ops::Range;

use ropey::Rope;

use super::{
    super::{
        input::Input,
        model::{line_of, lines},
    },
    Session,
};
use crate::{Hunk, HunkId, HunkSet, HunkState, Selection, TextChange};

impl Session {
    pub(super) fn accept(&mut self, input: &mut Input<'_>) {
        let ids = self.pending_ids(input);
        let rope = self.rope();
        let shown: Vec<(Hunk, Range<usize>)> = ids
            .iter()
            .map(|id| {
                (
                    self.set.get(id).unwrap().clone(),
                    self.set.range(id).unwrap(),
                )
            })
            .collect();
        let mut others = self.placed();
        others.retain(|placed| !ids.contains(&placed.id));
        let accepted = self.set.accept_all(&rope, &ids).unwrap();
        let before = self.text.clone();
        self.apply(&accepted.changes, &shown);
        let sides = |side: fn(&Hunk) -> &str| -> String {
            shown.iter().map(|(hunk, _)| side(hunk)).collect()
        };
        let (gone, come) = (sides(|hunk| &hunk.removed), sides(|hunk| &hunk.replacement));
        assert_eq!(
            typed(&(before + &come)),
            typed(&(self.text.clone() + &gone)),
            "the user's letters are all there but for those that were shown to go"
        );
        assert_eq!(accepted.text.to_string(), self.text);
        for id in &ids {
            assert_eq!(
                self.set.get(id).unwrap().state,
                HunkState::Accepted { by_hand: false }
            );
        }
        for other in &others {
            let hunk = self.set.get(&other.id).unwrap();
            assert_eq!(
                hunk.state,
                HunkState::Pending,
                "accepting {ids:?} broke {hunk:?}"
            );
        }
    }

    /// Applies `changes` to the text the plain way; each removes what its hunk showed, no more.
    fn apply(&mut self, changes: &[TextChange], shown: &[(Hunk, Range<usize>)]) {
        assert_eq!(changes.len(), shown.len());
        let mut inverse = Vec::new();
        for change in changes.iter().rev() {
            let found = &self.text[change.range.clone()];
            let (hunk, _) = shown
                .iter()
                .find(|(hunk, range)| {
                    *range == change.range && same_applied(&change.text, &hunk.replacement)
                })
                .unwrap_or_else(|| panic!("{change:?} was not shown in {shown:?}"));
            assert_eq!(
                lines(found),
                lines(&hunk.removed),
                "more goes than was shown"
            );
            let start = change.range.start;
            inverse.push((start..start + change.text.len(), found.to_owned()));
            self.text.replace_range(change.range.clone(), &change.text);
        }
        self.undo.extend(inverse);
    }

    pub(super) fn undo_accept(&mut self, input: &mut Input<'_>) {
        let Some(id) = self.chosen(input, |hunk| {
            matches!(hunk.state, HunkState::Accepted { .. })
        }) else {
            return;
        };
        let hunk = self.set.get(&id).unwrap().clone();
        let rope = self.rope();
        if let Ok(undone) = self.set.undo_accept(&rope, std::slice::from_ref(&id)) {
            let change = &undone.changes[0];
            let found = self.text[change.range.clone()].to_owned();
            assert!(
                same_applied(&found, &hunk.replacement),
                "more goes than was accepted"
            );
            let start = change.range.start;
            self.undo.push((start..start + change.text.len(), found));
            self.text.replace_range(change.range.clone(), &change.text);
            assert_eq!(undone.text.to_string(), self.text);
            assert_eq!(
                typed(&(rope.to_string() + &hunk.removed)),
                typed(&(self.text.clone() + &hunk.replacement)),
                "undoing an acceptance takes what it brought, and nothing that was typed"
            );
            assert_eq!(self.set.get(&id).unwrap().state, HunkState::Pending);
        }
    }

    pub(super) fn decide(
        &mut self,
        input: &mut Input<'_>,
        decision: impl Fn(&mut HunkSet, &Rope, &HunkId),
    ) {
        let Some(id) = self.chosen(input, |_| true) else {
            return;
        };
        let rope = self.rope();
        let places = |set: &HunkSet| -> Vec<(HunkId, Range<usize>)> {
            let others = set.placed().filter(|(hunk, _)| hunk.id != id);
            let mut places: Vec<_> = others
                .map(|(hunk, range)| (hunk.id.clone(), range))
                .collect();
            places.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            places
        };
        let before = places(&self.set);
        decision(&mut self.set, &rope, &id);
        assert_eq!(places(&self.set), before, "deciding {id} moved others");
    }

    pub(super) fn amend(&mut self, input: &mut Input<'_>) {
        let Some(id) = self.chosen(input, |hunk| hunk.state == HunkState::Pending) else {
            return;
        };
        let amended = *input.pick(&["!\n", "?\n!\n", "", "!", "?\n\n"]).unwrap();
        let rope = self.rope();
        let agent = self.set.get(&id).unwrap().agent_text().to_owned();
        if self.set.amend(&rope, &id, amended).is_ok() {
            let hunk = self.set.get(&id).unwrap();
            assert_eq!(hunk.agent_text(), agent, "the agent's text is kept");
        }
    }

    pub(super) fn split(&mut self, input: &mut Input<'_>) {
        let Some(id) = self.chosen(input, |hunk| hunk.state == HunkState::Pending) else {
            return;
        };
        let rope = self.rope();
        let proposed = lines(&self.set.proposed(&rope).to_string());
        let ids = &mut self.ids;
        let parts = self.set.split(&rope, &id, &mut || {
            *ids += 1;
            HunkId::new(format!("h{ids:06}"))
        });
        if let Ok(parts) = parts {
            assert!(parts.len() > 1 && parts[0] == id);
        }
        assert_eq!(
            lines(&self.set.proposed(&rope).to_string()),
            proposed,
            "splitting changed the proposal"
        );
    }

    pub(super) fn select(&mut self, input: &mut Input<'_>) {
        let Some(id) = self.chosen(input, |hunk| hunk.state == HunkState::Pending) else {
            return;
        };
        let rope = self.rope();
        let proposed = lines(&self.set.proposed(&rope).to_string());
        let start = input.below(6);
        let selection = match input.below(2) {
            0 => {
                let first = line_of(&self.text, self.set.range(&id).unwrap().start);
                Selection::Base(first + start..first + start + 1 + input.below(3))
            }
            _ => Selection::Added(start..start + 1 + input.below(3)),
        };
        let ids = &mut self.ids;
        let chosen = self.set.split_at_lines(&rope, &id, &selection, &mut || {
            *ids += 1;
            HunkId::new(format!("h{ids:06}"))
        });
        if let Ok(chosen) = chosen {
            assert!(self.set.get(&chosen).is_some());
        }
        assert_eq!(
            lines(&self.set.proposed(&rope).to_string()),
            proposed,
            "splitting changed the proposal"
        );
    }
}

/// The letters of the user's alphabet in `text`, each as often as it is there.
fn typed(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|c| c.is_lowercase()).collect();
    letters.sort_unstable();
    letters
}

/// Whether `found` is `replacement` as it is applied: its lines, perhaps with one more LF.
fn same_applied(found: &str, replacement: &str) -> bool {
    lines(found) == lines(replacement) || lines(found) == lines(&format!("{replacement}\n"))
}
