//! What must hold at any time.

use ropey::Rope;

use super::{super::model::lines, Session};
use crate::{ConflictInfo, Hunk, HunkId, HunkState};

impl Session {
    /// What must hold at any time.
    pub(super) fn check(&self) {
        let rope = self.rope();
        let mut end = 0;
        for (hunk, range) in self.set.placed() {
            assert!(range.end <= self.text.len(), "{hunk:?} lies outside");
            for at in [range.start, range.end] {
                let is_edge =
                    at == 0 || at == self.text.len() || self.text.as_bytes()[at - 1] == b'\n';
                assert!(
                    is_edge,
                    "{hunk:?} at {range:?} cuts a line of {:?}",
                    self.text
                );
            }
            if hunk.state == HunkState::Pending {
                assert!(range.start >= end, "{hunk:?} overlaps the one before it");
                end = range.end;
                assert_ne!(hunk.removed, hunk.replacement, "{hunk:?} does nothing");
                assert_eq!(
                    lines(&self.text[range.clone()]),
                    lines(&hunk.removed),
                    "{hunk:?} is anchored elsewhere"
                );
                assert!(range.start == 0 || self.text.as_bytes()[range.start - 1] == b'\n');
            }
            if let HunkState::Conflict(_) = hunk.state {
                let sides = self.set.conflict(&hunk.id, &rope).unwrap();
                assert!(!sides.reason.is_empty());
                self.check_ways_out(&hunk.id, &rope);
            }
            self.check_author(hunk);
            self.check_alphabet(hunk);
            assert_eq!(self.set.get(&hunk.id), Some(hunk));
            assert_eq!(self.set.range(&hunk.id), Some(range));
        }
        assert_eq!(self.set.iter().count(), self.set.len());
    }

    /// However a conflict is decided, it claims no lines that another hunk claims by now.
    fn check_ways_out(&self, id: &HunkId, rope: &Rope) {
        let (mut kept, mut again) = (self.set.clone(), self.set.clone());
        kept.keep_mine(id).unwrap();
        let claimed = again.propose_again(rope, id).err();
        for (set, way) in [(kept, "keeping mine"), (again, "proposing again")] {
            let mut end = 0;
            for (hunk, range) in set.pending() {
                assert!(
                    range.start >= end,
                    "{way} of {id} ({claimed:?}): {hunk:?} overlaps"
                );
                end = range.end;
                assert_eq!(
                    lines(&self.text[range]),
                    lines(&hunk.removed),
                    "{way} of {id}: {hunk:?} is anchored elsewhere"
                );
            }
        }
    }

    /// Whatever is done but a proposal, every hunk keeps its id; what it does is only changed with
    /// its revision.
    pub(super) fn check_known(&self, known: &[Hunk]) {
        for old in known {
            let Some(now) = self.set.get(&old.id) else {
                panic!("{old:?} is lost");
            };
            let does = |hunk: &Hunk| {
                let amended = hunk.amended.clone();
                (hunk.removed.clone(), hunk.replacement.clone(), amended)
            };
            assert!(now.revision >= old.revision, "{now:?} was {old:?}");
            if now.revision == old.revision {
                assert_eq!(does(now), does(old), "what was shown is done: {now:?}");
            }
        }
    }

    /// The user's and the base's letters are no agent's: a hunk has none but in lines that an agent
    /// took up itself, or in lines that it was written against.
    fn check_alphabet(&self, hunk: &Hunk) {
        let is_amended = hunk.amended.is_some()
            || matches!(
                hunk.state,
                HunkState::Conflict(ConflictInfo::Amended { .. })
            );
        if is_amended {
            return;
        }
        let is_foreign =
            |line: &String| line.contains(|c: char| c.is_ascii_digit() || c.is_lowercase());
        let removed = lines(&hunk.removed);
        // At the end of the text a line may come without its ending, or with one that others need.
        let content = |line: &String| {
            line.trim_end_matches('\n')
                .trim_end_matches('\r')
                .to_owned()
        };
        let written: Vec<String> = self
            .agent_lines
            .iter()
            .chain(&removed)
            .map(content)
            .collect();
        for line in lines(&hunk.replacement)
            .iter()
            .filter(|line| is_foreign(line))
        {
            assert!(
                written.contains(&content(line)),
                "no agent wrote {line:?} of {hunk:?}"
            );
        }
    }

    /// What an agent proposes holds nothing that the user typed since.
    fn check_author(&self, hunk: &Hunk) {
        let lines_of = hunk.provenance.iter().map(|part| part.lines.clone());
        let count = lines(&hunk.replacement).len();
        for part in lines_of {
            assert!(
                part.end <= count.max(part.start) || matches!(hunk.state, HunkState::Conflict(_)),
                "{hunk:?}"
            );
        }
        if hunk.state.is_open() && hunk.provenance.is_empty() && hunk.amended.is_none() {
            panic!("nobody wrote {hunk:?}");
        }
    }
}
