//! One session: what user and agent do, and what must hold afterwards.

use std::ops::Range;

use ropey::Rope;

use super::{
    input::Input,
    model::{Placed, follow, line_of, lines, naive_edits},
};
use crate::{
    ConflictInfo, Hunk, HunkEvent, HunkId, HunkRecord, HunkSet, HunkState, Origin, Reads,
    Selection, TextChange,
};

/// A text with its hunks, and what an editor would remember to undo.
#[derive(Clone)]
pub(super) struct Session {
    text: String,
    set: HunkSet,
    ids: usize,
    written: usize,
    /// Inverse changes, newest last.
    undo: Vec<(Range<usize>, String)>,
    /// What was done, for the report of a failure.
    log: Vec<String>,
}

impl Drop for Session {
    #[allow(clippy::print_stderr, reason = "the report of a failed check")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log.join("\n"));
        }
    }
}

impl Session {
    pub(super) fn new(input: &mut Input<'_>) -> Self {
        let mut text = String::new();
        for i in 0..input.below(12) {
            text += match input.below(4) {
                0 => "0",
                1 => "",
                _ => [
                    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
                ][i],
            };
            text += if input.below(5) == 0 { "\r\n" } else { "\n" };
        }
        if input.below(4) == 0 && text.ends_with('\n') {
            text.pop();
        }
        Self {
            text,
            set: HunkSet::new(),
            ids: 0,
            written: 0,
            undo: Vec::new(),
            log: Vec::new(),
        }
    }

    fn rope(&self) -> Rope {
        Rope::from_str(&self.text)
    }

    /// Does one thing, then checks.
    pub(super) fn step(&mut self, op: u8, input: &mut Input<'_>) {
        let before = format!("{:?} {}", self.text, self.show());
        self.log.push(format!("op {}: {before}", op % 24));
        match op % 24 {
            0..=4 => self.propose(input),
            5..=7 => {
                let (range, inserted) = self.typing(input);
                self.user_change(range, &inserted);
            }
            8 => self.reformat(input),
            9 => self.user_undo(),
            10 | 11 => self.accept(input),
            12 => self.editor_accepts(input),
            13 => self.undo_accept(input),
            14 => self.decide(input, |set, _, id| drop(set.reject(id))),
            15 => self.decide(input, |set, _, id| drop(set.withdraw(id))),
            16 => self.decide(input, |set, _, id| drop(set.reopen(id))),
            17 => self.decide(input, |set, _, id| drop(set.keep_mine(id))),
            18 => self.decide(input, |set, text, id| drop(set.propose_again(text, id))),
            19 => self.amend(input),
            20 => self.split(input),
            21 => self.select(input),
            22 => self.drift(input),
            _ => self.store(input),
        }
        self.check();
    }

    fn show(&self) -> String {
        let hunks = self.set.placed().map(|(hunk, range)| {
            let (state, old, new) = (&hunk.state, &hunk.removed, &hunk.replacement);
            format!("\n    {} {range:?} {state:?} {old:?} -> {new:?}", hunk.id)
        });
        hunks.collect()
    }

    /// A change as a person makes it.
    fn typing(&self, input: &mut Input<'_>) -> (Range<usize>, String) {
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
    fn user_change(&mut self, range: Range<usize>, inserted: &str) {
        let removed = self.text[range.clone()].to_owned();
        self.undo
            .push((range.start..range.start + inserted.len(), removed));
        self.change(range, inserted);
    }

    fn change(&mut self, range: Range<usize>, inserted: &str) -> Vec<HunkEvent> {
        let before = self.text.clone();
        let mut placed = self.placed();
        let events = self.untold_change(range.clone(), inserted);
        follow(&mut placed, &naive_edits(&before, &range, inserted));
        self.compare(&placed, &events, (&before, &range));
        events
    }

    /// A change whose cut into edits is not compared with the model.
    fn untold_change(&mut self, range: Range<usize>, inserted: &str) -> Vec<HunkEvent> {
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

    fn placed(&self) -> Vec<Placed> {
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
    fn reformat(&mut self, input: &mut Input<'_>) {
        let text = self.mutated(&self.text, input, false);
        self.user_change(0..self.text.len(), &text);
    }

    fn user_undo(&mut self) {
        if let Some((range, text)) = self.undo.pop() {
            self.change(range, &text);
        }
    }

    /// Lines of `text` with some of them changed, removed, doubled or added.
    fn mutated(&self, text: &str, input: &mut Input<'_>, is_agent: bool) -> String {
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

    fn propose(&mut self, input: &mut Input<'_>) {
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
        for (hunk, range) in before {
            self.check_id(&hunk, &range);
        }
        if self.set.is_empty() {
            assert_eq!(lines(&proposed), lines(&after));
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

    fn chosen(&self, input: &mut Input<'_>, wanted: impl Fn(&Hunk) -> bool) -> Option<HunkId> {
        let ids: Vec<HunkId> = self
            .set
            .iter()
            .filter(|hunk| wanted(hunk))
            .map(|hunk| hunk.id.clone())
            .collect();
        input.pick(&ids).cloned()
    }

    fn pending_ids(&self, input: &mut Input<'_>) -> Vec<HunkId> {
        let bits = input.any();
        let pending = self.set.pending().enumerate();
        pending
            .filter(|(i, _)| bits >> (i % 8) & 1 == 1)
            .map(|(_, (hunk, _))| hunk.id.clone())
            .collect()
    }

    fn accept(&mut self, input: &mut Input<'_>) {
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
        self.apply(&accepted.changes, &shown);
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

    /// The editor applies what was accepted, and tells it by changes of its own cut.
    fn editor_accepts(&mut self, input: &mut Input<'_>) {
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

    fn undo_accept(&mut self, input: &mut Input<'_>) {
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
            assert_eq!(self.set.get(&id).unwrap().state, HunkState::Pending);
        }
    }

    fn decide(&mut self, input: &mut Input<'_>, decision: impl Fn(&mut HunkSet, &Rope, &HunkId)) {
        if let Some(id) = self.chosen(input, |_| true) {
            let rope = self.rope();
            decision(&mut self.set, &rope, &id);
        }
    }

    fn amend(&mut self, input: &mut Input<'_>) {
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

    fn split(&mut self, input: &mut Input<'_>) {
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

    fn select(&mut self, input: &mut Input<'_>) {
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

    /// The file changes while nobody watches.
    fn drift(&mut self, input: &mut Input<'_>) {
        let text = self.mutated(&self.text, input, false);
        self.log.push(format!("  drift {text:?}"));
        let old = self.rope();
        let new = Rope::from_str(&text);
        self.set.rebase(&old, &new);
        self.text = text;
        self.undo.clear();
    }

    /// What is stored comes back as it was.
    fn store(&mut self, input: &mut Input<'_>) {
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

    /// What must hold at any time.
    fn check(&self) {
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

/// Whether `range` begins or ends within a line of `place`, or one beside it.
fn is_cut_at(text: &str, range: &Range<usize>, place: &Range<usize>) -> bool {
    let around = place.start.saturating_sub(1)..place.end + 1;
    let line = |byte: usize| text[..byte].matches('\n').count();
    around.contains(&line(range.start)) || around.contains(&line(range.end))
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

/// Whether `found` is `replacement` as it is applied: its lines, perhaps with one more LF.
fn same_applied(found: &str, replacement: &str) -> bool {
    lines(found) == lines(replacement) || lines(found) == lines(&format!("{replacement}\n"))
}
