//! What the agent proposes.

use std::ops::Range;

use super::{
    super::{input::Input, model::lines},
    Session,
};
use crate::{ConflictInfo, Hunk, HunkId, HunkState, Origin, diff_lines};

impl Session {
    pub(super) fn propose(&mut self, input: &mut Input<'_>) {
        let rope = self.rope();
        self.written += 1;
        let proposed = self.set.proposed(&rope).to_string();
        let after = self.mutated(&proposed, input, true);
        self.log.push(format!("  propose {after:?}"));
        let before: Vec<(Hunk, Range<usize>)> = self
            .set
            .placed()
            .map(|(hunk, range)| (hunk.clone(), range))
            .collect();
        let origin = Origin {
            call: Some(format!("call{}", self.written)),
            ..Origin::default()
        };
        self.note_written(&proposed, &after);
        let ids = &mut self.ids;
        let report = self.set.propose(&rope, &after, &origin, &mut || {
            *ids += 1;
            HunkId::new(format!("h{ids:06}"))
        });
        if report.conflicts.is_empty() {
            assert_eq!(
                lines(&self.set.proposed(&rope).to_string()),
                lines(&after),
                "the proposed text is not what the agent wrote: {report:?} over {before:?}"
            );
        }
        for id in &report.conflicts {
            let text = self.set.get(id).unwrap().agent_text().to_owned();
            self.agent_lines.extend(lines(&text));
        }
        for (hunk, range) in before {
            self.check_id(&hunk, &range);
        }
        if self.set.is_empty() {
            assert_eq!(lines(&proposed), lines(&after));
        }
    }

    /// Notes the lines that this proposal has and the one before had not, or fewer of.
    fn note_written(&mut self, before: &str, after: &str) {
        let after_lines = lines(after);
        for edit in diff_lines(before, after) {
            self.agent_lines
                .extend(after_lines[edit.new].iter().cloned());
        }
    }

    /// A hunk that is gone was merged into an older one that shares its lines.
    fn check_id(&self, old: &Hunk, range: &Range<usize>) {
        let id = &old.id;
        let touches = |other: &Range<usize>| other.start <= range.end && range.start <= other.end;
        match self.set.get(id) {
            None => assert!(
                self.set
                    .placed()
                    .any(|(hunk, other)| hunk.id < *id && touches(&other)
                        || matches!(
                            hunk.state,
                            HunkState::Conflict(ConflictInfo::Amended { .. })
                        ) && touches(&other)),
                "{id} is lost"
            ),
            Some(now) if now.revision > old.revision => {
                assert!(touches(&self.set.range(id).unwrap()), "{id} went elsewhere");
            }
            Some(_) => assert_eq!(self.set.range(id).as_ref(), Some(range), "{id} moved"),
        }
    }
}
