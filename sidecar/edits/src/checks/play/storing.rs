//! Texts that change while nobody watches, and the store.

use std::ops::Range;

use ropey::Rope;

use super::{
    super::{input::Input, model::lines},
    Session,
};
use crate::{HunkId, HunkRecord, HunkSet, HunkState, Reads};

impl Session {
    /// The file changes while nobody watches.
    pub(super) fn drift(&mut self, input: &mut Input<'_>) {
        let text = self.mutated(&self.text, input, false);
        self.log.push(format!("  drift {text:?}"));
        let old = self.rope();
        let new = Rope::from_str(&text);
        self.set.rebase(&old, &new);
        self.text = text;
        self.undo.clear();
    }

    /// What is stored comes back as it was.
    pub(super) fn store(&mut self, input: &mut Input<'_>) {
        let mut stored = self.clone();
        let snapshot = self.rope();
        stored.set.snapshot(&snapshot);
        for _ in 0..input.below(3) {
            stored.accept(input);
        }
        let records = stored.set.records();
        let json = serde_json::to_string(&records).unwrap();
        let records: Vec<HunkRecord> = serde_json::from_str(&json).unwrap();
        let is_plain = records
            .iter()
            .all(|record| !matches!(record.reads, Reads::Changed { .. }));
        let (mut set, text) = HunkSet::restore(&snapshot, records).unwrap();
        let seen = |set: &HunkSet| -> Vec<(HunkId, HunkState, Range<usize>)> {
            let open = set.placed().filter(|(hunk, _)| hunk.state.is_open());
            open.map(|(hunk, range)| (hunk.id.clone(), hunk.state.clone(), range))
                .collect()
        };
        if is_plain {
            // Hunks are stored without line endings and without the order in which they were accepted:
            // which ending an insertion took from its neighbors while these came and went, and
            // whether a last line got one because others followed it then, only the text tells.
            let told = |text: &str| match text.strip_suffix('\n') {
                Some(text) => lines(text.trim_end_matches('\r')),
                None => lines(text),
            };
            assert_eq!(
                told(&text.to_string()),
                told(&stored.text),
                "the accepted hunks are replayed"
            );
        }
        // What was changed when the snapshot was taken is read from today's text again.
        set.rebase(&text, &stored.rope());
        if is_plain {
            assert_eq!(seen(&set), seen(&stored.set));
        }
        self.set = set;
        self.text.clone_from(&stored.text);
        self.ids = stored.ids;
        self.undo.clear();
    }
}
