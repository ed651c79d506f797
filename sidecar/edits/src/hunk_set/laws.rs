//! What holds for hunks whatever happens: random sessions beside a plain model.
#![allow(clippy::unwrap_used, clippy::expect_used)]

//! What holds for any texts: properties of whole histories.

use proptest::prelude::*;
use ropey::Rope;

use super::{settle::replace, *};
use crate::{diff_lines, hunk::Origin};

const KINDS: [&str; 6] = ["a", "b", "{", "}", "", "c"];

fn line() -> impl Strategy<Value = String> {
    (prop::sample::select(KINDS.to_vec()), any::<bool>(), 0..8_u8).prop_map(|(kind, crlf, n)| {
        let ending = if crlf { "\r\n" } else { "\n" };
        if n > 4 {
            format!("{kind}{n}{ending}")
        } else {
            format!("{kind}{ending}")
        }
    })
}

fn text() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 0..14), 0..5_u8).prop_map(|(lines, end)| {
        let mut text = lines.concat();
        if end == 0 {
            text = text.trim_end_matches(['\r', '\n']).to_owned();
        }
        text
    })
}

fn propose(set: &mut HunkSet, text: &Rope, after: &str) {
    let mut next = set.entries.len();
    set.propose(text, after, &Origin::default(), &mut || {
        next += 1;
        HunkId::new(format!("h{next:04}"))
    });
}

fn pending(set: &HunkSet) -> Vec<(HunkId, Range<usize>, String)> {
    let all = set.pending();
    all.map(|(hunk, range)| (hunk.id.clone(), range, hunk.replacement.clone()))
        .collect()
}

/// Random lines of `text` changed: `(line, kind, new line)`.
fn edited(text: &str, edits: &[(usize, u8, String)]) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for (at, kind, line) in edits {
        let at = at % (lines.len() + 1);
        match kind {
            0 => lines.insert(at, line.clone()),
            1 if at < lines.len() => drop(lines.remove(at)),
            _ if at < lines.len() => lines[at] = line.clone(),
            _ => lines.push(line.clone()),
        }
        let last = lines.len().saturating_sub(1);
        for line in &mut lines[..last] {
            if !line.ends_with('\n') {
                line.push('\n');
            }
        }
    }
    lines.concat()
}

fn edits(count: usize) -> impl Strategy<Value = Vec<(usize, u8, String)>> {
    prop::collection::vec((0..40_usize, 0..3_u8, line()), 0..count)
}

fn plain(text: &Rope) -> String {
    linewise::lf(&text.to_string()).into_owned()
}

fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        // More of them: `PROPTEST_CASES=100000`.
        cases: cases.max(default.cases),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn accepting_all_in_any_order_gives_the_proposed_text(
        base in text(),
        steps in prop::collection::vec(edits(4), 1..4),
        order in prop::collection::vec(any::<u32>(), 40),
    ) {
        let mut text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        for step in &steps {
            let after = edited(&set.proposed(&text).to_string(), step);
            propose(&mut set, &text, &after);
        }
        let proposed = set.proposed(&text);
        let mut ids: Vec<HunkId> = set.pending().map(|(hunk, _)| hunk.id.clone()).collect();
        ids.sort_by_key(|id| order[set.slots[set.ids[id] as usize] as usize % order.len()]);
        for id in &ids {
            text = set.accept(&text, id).unwrap().text;
            prop_assert_eq!(plain(&set.proposed(&text)), plain(&proposed));
        }
        prop_assert_eq!(plain(&text), plain(&proposed));
        // And taking them back in the opposite order gives the base again.
        for id in ids.iter().rev() {
            text = set.undo_accept(&text, std::slice::from_ref(id)).unwrap().text;
        }
        prop_assert_eq!(plain(&text), plain(&Rope::from_str(&base)));
    }

    #[test]
    fn rejecting_all_in_any_order_gives_the_base(
        base in text(),
        step in edits(6),
        order in prop::collection::vec(any::<u32>(), 20),
    ) {
        let text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        propose(&mut set, &text, &edited(&base, &step));
        let mut ids: Vec<HunkId> = set.pending().map(|(hunk, _)| hunk.id.clone()).collect();
        ids.sort_by_key(|id| order[set.slots[set.ids[id] as usize] as usize % order.len()]);
        for id in &ids {
            set.reject(id).unwrap();
        }
        prop_assert_eq!(set.proposed(&text).to_string(), base);
        for id in ids.iter().rev() {
            set.reopen(id).unwrap();
        }
        prop_assert_eq!(set.pending().count(), ids.len());
    }

    #[test]
    fn hunks_are_the_diff_of_base_and_proposed(base in text(), step in edits(8)) {
        let text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        let after = edited(&base, &step);
        propose(&mut set, &text, &after);
        let drawn: Vec<(String, String)> =
            set.iter().map(|hunk| (hunk.removed.clone(), hunk.replacement.clone())).collect();
        let (old, new) = (linewise::line_offsets(&base), linewise::line_offsets(&after));
        let expected: Vec<(String, String)> = diff_lines(&base, &after)
            .into_iter()
            .map(|edit| (
                linewise::lf(&base[old[edit.old.start]..old[edit.old.end]]).into_owned(),
                linewise::lf(&after[new[edit.new.start]..new[edit.new.end]]).into_owned(),
            ))
            .collect();
        prop_assert_eq!(drawn, expected);
    }

    #[test]
    fn undoing_what_was_typed_brings_every_hunk_back(
        count in 0..12_usize,
        step in edits(6),
        typed in prop::collection::vec((any::<u16>(), 0..4_u8), 1..10),
    ) {
        // Among equal lines there is no telling which of them came back.
        let base: String = (0..count).map(|i| format!("l{i}\n")).collect();
        let mut text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        propose(&mut set, &text, &edited(&base, &step));
        let before = pending(&set);
        let mut undo = Vec::new();
        let mut events = Vec::new();
        for (i, (at, kind)) in typed.into_iter().enumerate() {
            let now = text.to_string();
            let at = at as usize % (now.len() + 1);
            let start = now[..at].rfind('\n').map_or(0, |lf| lf + 1);
            let end = now[at..].find('\n').map_or(now.len(), |lf| at + lf + 1);
            let (range, inserted) = match kind {
                0 => (start..start, "x".to_owned()),
                1 => (start..end, String::new()),
                2 => (start..start, format!("y{i}\n")),
                _ => (start..end, format!("z{i}\n")),
            };
            undo.push((range.start..range.start + inserted.len(), now[range.clone()].to_owned()));
            change(&mut set, &mut text, range, &inserted, &mut events);
        }
        while let Some((range, removed)) = undo.pop() {
            change(&mut set, &mut text, range, &removed, &mut events);
        }
        prop_assert_eq!(text.to_string(), base);
        prop_assert_eq!(pending(&set), before);
    }

    #[test]
    fn undoing_anything_never_puts_a_hunk_elsewhere(
        count in 0..12_usize,
        step in edits(6),
        typed in prop::collection::vec((any::<u16>(), 0..10_u8, prop::sample::select(
            vec!["", "x", "y\n", "z\nw", "v\r\n", "u\nl3\n"])), 1..8),
    ) {
        // Among equal lines there is no telling which of them came back.
        let base: String = (0..count).map(|i| format!("l{i}\n")).collect();
        let mut text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        propose(&mut set, &text, &edited(&base, &step));
        let before = pending(&set);
        let mut undo = Vec::new();
        let mut events = Vec::new();
        for (at, len, inserted) in typed {
            let now = text.to_string();
            let start = at as usize % (now.len() + 1);
            let range = start..(start + len as usize).min(now.len());
            undo.push((start..start + inserted.len(), now[range.clone()].to_owned()));
            change(&mut set, &mut text, range, inserted, &mut events);
        }
        while let Some((range, removed)) = undo.pop() {
            change(&mut set, &mut text, range, &removed, &mut events);
        }
        prop_assert_eq!(text.to_string(), base);
        // Several lines replaced at once may be told back in another cut: then it stays a conflict.
        for hunk in pending(&set) {
            prop_assert!(before.contains(&hunk), "{:?} is not in {:?}", hunk, before);
        }
    }

    #[test]
    fn undoing_among_equal_lines_never_puts_a_hunk_elsewhere(
        base in text(),
        step in edits(4),
        typed in prop::collection::vec((any::<u16>(), 0..10_u8, prop::sample::select(
            vec!["", "", "a", "a\n", "{\nb\n", "\n", "}\r\n", "c\n\n"])), 1..8),
    ) {
        let mut text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        propose(&mut set, &text, &edited(&base, &step));
        let before = pending(&set);
        let mut undo = Vec::new();
        let mut events = Vec::new();
        for (at, len, inserted) in typed {
            let now = text.to_string();
            let start = at as usize % (now.len() + 1);
            let range = start..(start + len as usize).min(now.len());
            undo.push((start..start + inserted.len(), now[range.clone()].to_owned()));
            change(&mut set, &mut text, range, inserted, &mut events);
        }
        while let Some((range, removed)) = undo.pop() {
            change(&mut set, &mut text, range, &removed, &mut events);
        }
        prop_assert_eq!(text.to_string(), base);
        for hunk in pending(&set) {
            prop_assert!(before.contains(&hunk), "{:?} is not in {:?}", hunk, before);
        }
    }

    #[test]
    fn drift_in_one_place_never_moves_a_hunk_elsewhere(
        base in text(),
        step in edits(4),
        at in 0..20_usize,
        kind in 0..4_u8,
        size in 1..5_usize,
        came in prop::collection::vec(line(), 1..4),
    ) {
        let text = Rope::from_str(&base);
        let mut set = HunkSet::new();
        propose(&mut set, &text, &edited(&base, &step));
        let offsets = linewise::line_offsets(&base);
        let count = offsets.len() - 1;
        let at = at % (count + 1);
        let end = (at + size).min(count);
        let ended = |text: &str| {
            let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{ending}")
        };
        // What really happened: lines `at..gone` became `new`.
        let block = ended(&base[offsets[at]..offsets[end]]);
        let (gone, new) = match kind {
            0 => (at, came.concat()),
            1 => (end, String::new()),
            2 => (end, came.concat()),
            _ => (at, block),
        };
        let above = ended(&base[..offsets[at]]);
        let above = if new.is_empty() && gone == count { base[..offsets[at]].to_owned() } else { above };
        let drifted = [above.as_str(), &new, &base[offsets[gone]..]].concat();
        let truth: Vec<(HunkId, Option<Range<usize>>)> = set
            .pending()
            .map(|(hunk, range)| {
                let delta = above.len() + new.len();
                let place = if range.end <= offsets[at] && (range.end < offsets[at] || !range.is_empty() || gone > at) {
                    Some(range)
                } else if range.start >= offsets[gone] && !(range.is_empty() && gone == at && range.start == offsets[at]) {
                    Some(range.start - offsets[gone] + delta..range.end - offsets[gone] + delta)
                } else {
                    None
                };
                (hunk.id.clone(), place)
            })
            .collect();
        let drifted = Rope::from_str(&drifted);
        set.rebase(&text, &drifted);
        for (id, place) in truth {
            let hunk = set.get(&id).unwrap();
            if let (HunkState::Pending, Some(place)) = (&hunk.state, place) {
                prop_assert_eq!(set.range(&id).unwrap(), place, "{:?} in {:?}", hunk, drifted);
            }
        }
    }
}

fn change(
    set: &mut HunkSet,
    text: &mut Rope,
    range: Range<usize>,
    inserted: &str,
    events: &mut Vec<crate::HunkEvent>,
) {
    let before = text.clone();
    replace(
        text,
        &TextChange {
            range: range.clone(),
            text: inserted.to_owned(),
        },
    );
    set.change(&before, range, inserted, text, events);
}
