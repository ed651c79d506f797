//! What the user does to the text, beside a model of it.

use std::ops::Range;

use super::{
    super::{
        input::Input,
        model::{Placed, follow, line_of, lines, naive_edits},
    },
    Session,
};
use crate::{ConflictInfo, HunkEvent, HunkState};

impl Session {
    /// A change as a person makes it.
    pub(super) fn typing(&self, input: &mut Input<'_>) -> (Range<usize>, String) {
        const TYPED: [&str; 12] = [
            "", "a", "b\n", "\n", "c\r\n", "é", "d\ne\n", "\r", "f\ng", "\nh", "", "\r\n",
        ];
        let edges: Vec<usize> = (0..=self.text.len())
            .filter(|at| self.text.is_char_boundary(*at))
            .collect();
        let starts: Vec<usize> = edges
            .iter()
            .copied()
            .filter(|&at| at == 0 || self.text.as_bytes()[at - 1] == b'\n')
            .collect();
        let inserted = (*input.pick(&TYPED).unwrap()).to_owned();
        let from = if input.below(2) == 0 { &starts } else { &edges };
        let start = *input.pick(from).unwrap();
        let end = match input.below(4) {
            0 | 1 => start,
            2 => starts
                .iter()
                .copied()
                .find(|&at| at > start)
                .unwrap_or(start),
            _ => {
                let later: Vec<usize> = edges.iter().copied().filter(|&at| at >= start).collect();
                later[input.below(later.len().min(12))]
            }
        };
        (start..end, inserted)
    }

    /// Changes the text, and checks what the set makes of it against the model.
    pub(super) fn user_change(&mut self, range: Range<usize>, inserted: &str) {
        let removed = self.text[range.clone()].to_owned();
        self.undo
            .push((range.start..range.start + inserted.len(), removed));
        self.change(range, inserted);
    }

    pub(super) fn change(&mut self, range: Range<usize>, inserted: &str) -> Vec<HunkEvent> {
        let before = self.text.clone();
        let mut placed = self.placed();
        let events = self.untold_change(range.clone(), inserted);
        follow(&mut placed, &naive_edits(&before, &range, inserted));
        self.compare(&placed, &events, (&before, &range));
        events
    }

    /// A change whose cut into edits is not compared with the model.
    pub(super) fn untold_change(&mut self, range: Range<usize>, inserted: &str) -> Vec<HunkEvent> {
        self.log.push(format!("  change {range:?} to {inserted:?}"));
        let rope = self.rope();
        self.log.push(format!("  change {range:?} to {inserted:?}"));
        self.text.replace_range(range.clone(), inserted);
        let mut events = Vec::new();
        let after = self.rope();
        self.set.change(&rope, range, inserted, &after, &mut events);
        events
    }

    /// The hunks that were pending must be where the model has them, unless something happened.
    fn compare(
        &self,
        placed: &[Placed],
        events: &[HunkEvent],
        (before, changed): (&str, &Range<usize>),
    ) {
        for expected in placed {
            let hunk = self.set.get(&expected.id).unwrap();
            let range = self.set.range(&expected.id).unwrap();
            let now = line_of(&self.text, range.start)..line_of(&self.text, range.end);
            let event = events.iter().find(|event| event.id() == &expected.id);
            match event {
                None => {
                    assert_eq!(
                        hunk.state,
                        HunkState::Pending,
                        "{hunk:?} changed its state silently"
                    );
                    // Told at another place of the same effect, it leaves others elsewhere.
                    let is_own = events.iter().any(|event| {
                        !matches!(
                            event,
                            HunkEvent::Conflicted { .. } | HunkEvent::Lifted { .. }
                        )
                    });
                    if !expected.hit && !is_own {
                        assert_eq!(
                            now, expected.lines,
                            "{hunk:?} lies elsewhere in {:?}",
                            self.text
                        );
                    }
                }
                Some(event) => {
                    // A duplicate next to it may be taken for its own edit: then the text is right.
                    let is_own = !matches!(event, HunkEvent::Conflicted { .. });
                    // Where a diff cut the change, a double may be what it was written against, what
                    // stood beside it may be somewhere else, and the line that the change cut may be
                    // another one now.
                    let is_doubtful = hunk.state == HunkState::Conflict(ConflictInfo::Ambiguous)
                        && (has_double(before, &expected.was)
                            || has_double(&self.text, &now)
                            || has_moved((before, &expected.was), (&self.text, &now))
                            || is_cut_at(before, changed, &expected.was));
                    assert!(
                        expected.hit || is_own || is_doubtful,
                        "{event:?} without a reason: {hunk:?}"
                    );
                }
            }
        }
    }

    pub(super) fn placed(&self) -> Vec<Placed> {
        let placed = self.set.pending().map(|(hunk, range)| Placed {
            id: hunk.id.clone(),
            was: line_of(&self.text, range.start)..line_of(&self.text, range.end),
            lines: line_of(&self.text, range.start)..line_of(&self.text, range.end),
            drops_ending: lines(&hunk.removed) == lines(&format!("{}\n", hunk.replacement)),
            hit: false,
        });
        placed.collect()
    }

    /// A formatter replaces the whole text.
    pub(super) fn reformat(&mut self, input: &mut Input<'_>) {
        let text = self.mutated(&self.text, input, false);
        self.user_change(0..self.text.len(), &text);
    }

    pub(super) fn user_undo(&mut self) {
        if let Some((range, text)) = self.undo.pop() {
            self.change(range, &text);
        }
    }

    /// Lines of `text` with some of them changed, removed, doubled or added.
    pub(super) fn mutated(&self, text: &str, input: &mut Input<'_>, is_agent: bool) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        for _ in 0..=input.below(3) {
            let at = input.below(lines.len() + 1);
            let kind = input.below(6);
            let new = match (is_agent, input.below(4)) {
                (true, 0) => "\n".to_owned(),
                (true, 1) => "A\n".to_owned(),
                (true, n) => format!("{}{}\n", ["B", "C"][n - 2], self.written),
                (false, 0) => "\n".to_owned(),
                (false, n) => format!("{}\n", ["x", "y", "0"][n - 1]),
            };
            match kind {
                0 | 1 => lines.insert(at, new),
                2 if at < lines.len() => drop(lines.remove(at)),
                3 if at < lines.len() => lines.insert(at, lines[at].clone()),
                4 if at < lines.len() && lines[at].ends_with('\n') => {
                    lines[at] = lines[at].replace('\r', "").replace('\n', "\r\n");
                }
                _ if at < lines.len() => lines[at] = new,
                _ => lines.push(new),
            }
            // A line without its ending stays the last one.
            let count = lines.len();
            for line in lines.iter_mut().take(count.saturating_sub(1)) {
                if !line.ends_with('\n') {
                    line.push('\n');
                }
            }
        }
        if input.below(8) == 0
            && let Some(last) = lines.last_mut()
            && !last.trim_end_matches(['\r', '\n']).is_empty()
        {
            *last = last.trim_end_matches(['\r', '\n']).to_owned();
        }
        lines.concat()
    }
}

/// The lines of `place` and those beside it.
fn around(text: &str, place: &Range<usize>) -> Vec<String> {
    let all = lines(text);
    let end = (place.end + 1).min(all.len());
    all[place.start.saturating_sub(1)..end].to_vec()
}

/// Whether a line of `place`, or one beside it, stands in `text` more than once.
fn has_double(text: &str, place: &Range<usize>) -> bool {
    let all = lines(text);
    let count = |line: &String| all.iter().filter(|other| *other == line).count();
    around(text, place).iter().any(|line| count(line) > 1)
}

/// Whether a line of the first place, or one beside it, stands in the second text elsewhere.
fn has_moved(before: (&str, &Range<usize>), after: (&str, &Range<usize>)) -> bool {
    let here = around(after.0, after.1);
    let all = lines(after.0);
    let mut were = around(before.0, before.1).into_iter();
    were.any(|line| all.contains(&line) && !here.contains(&line))
}

/// Whether `range` begins or ends within a line of `place`, or one beside it.
fn is_cut_at(text: &str, range: &Range<usize>, place: &Range<usize>) -> bool {
    let around = place.start.saturating_sub(1)..place.end + 1;
    let line = |byte: usize| text[..byte].matches('\n').count();
    around.contains(&line(range.start)) || around.contains(&line(range.end))
}
