//! Any order of decisions, typing, undo and redo.

use proptest::prelude::*;
use redline_edits::HunkState;
use redline_workspace::{Record, Transaction};

use crate::*;

const LINES: usize = 24;

/// What may happen to a transaction; the numbers pick a hunk or a line.
#[derive(Debug, Clone)]
enum Event {
    Accept(usize),
    Reject(usize),
    Amend(usize),
    Split(usize),
    ProposeAgain(usize),
    KeepMine(usize),
    UserEdits(usize),
    Undo,
    Redo,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any::<usize>().prop_map(Event::Accept),
        2 => any::<usize>().prop_map(Event::Reject),
        1 => any::<usize>().prop_map(Event::Amend),
        1 => any::<usize>().prop_map(Event::Split),
        2 => any::<usize>().prop_map(Event::ProposeAgain),
        1 => any::<usize>().prop_map(Event::KeepMine),
        2 => (0..LINES).prop_map(Event::UserEdits),
        1 => Just(Event::Undo),
        1 => Just(Event::Redo),
    ]
}

fn pending(transaction: &Transaction) -> Vec<HunkId> {
    let hunks = transaction.files().flat_map(|file| file.hunks.iter());
    hunks
        .filter(|hunk| hunk.state == HunkState::Pending)
        .map(|hunk| hunk.id.clone())
        .collect()
}

fn conflicts(transaction: &Transaction) -> Vec<HunkId> {
    let hunks = transaction.files().flat_map(|file| file.hunks.iter());
    hunks
        .filter(|hunk| matches!(hunk.state, HunkState::Conflict(_)))
        .map(|hunk| hunk.id.clone())
        .collect()
}

/// Decides on an undo or redo that met conflicts: keeps what is in its way and accepts the rest, or rejects all.
/// Gives what that means for other transactions.
fn decide(ground: &Ground, mut review: Transaction, accept: bool) -> Vec<(String, Record)> {
    let transactions = ground.ws.transactions();
    let mut concerns = Vec::new();
    if accept {
        for id in conflicts(&review) {
            let kept = review.keep_mine(&id).unwrap();
            concerns.extend(transactions.append(&review, &[kept], None).unwrap());
        }
        if let Ok(rest) = review.select(&DecisionRequest::default()) {
            let request = ground.request(&review, rest, &[]);
            concerns.extend(ground.commit(&request, &mut []).unwrap().concerns);
        }
    } else {
        let all = review.select(&DecisionRequest::default()).unwrap();
        let refused = review.refuse(&all, Settlement::Rejected, None).unwrap();
        concerns.extend(transactions.append(&review, &[refused], None).unwrap());
    }
    concerns
}

/// Lines that the user wrote.
fn typed(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| line.starts_with("typed"))
        .map(str::to_owned)
        .collect()
}

fn follow(ground: &Ground, transaction: &mut Transaction) {
    for path in ["a.txt", "b.txt"] {
        let text = ropey::Rope::from_str(&ground.read(path).unwrap());
        let file = transaction.file_mut(path).unwrap();
        let events = file.reanchor(&text);
        let records = transaction.note_events(path, &events, false);
        if !records.is_empty() {
            ground
                .ws
                .transactions()
                .append(transaction, &records, None)
                .unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// After every event: what is loaded is what is in memory, nothing that the user typed is gone, and
    /// the journal is sound.
    #[test]
    fn what_is_stored_is_what_is_in_memory(events in prop::collection::vec(event(), 1..14)) {
        let before: String = (0..LINES).map(|line| format!("line {line}\n")).collect();
        let after: String = (0..LINES)
            .map(|line| if line % 3 == 1 { format!("LINE {line}\n") } else { format!("line {line}\n") })
            .collect();
        let ground = Ground::new(&[("a.txt", &before), ("b.txt", &before)]);
        let mut transaction =
            ground.propose(vec![Change::write("a.txt", after.clone()), Change::write("b.txt", after)]);
        for (round, event) in events.iter().enumerate() {
            let kept = [typed(&ground.read("a.txt").unwrap()), typed(&ground.read("b.txt").unwrap())];
            let waiting = pending(&transaction);
            let pick = |n: usize| waiting.get(n % waiting.len().max(1)).cloned();
            let part = |id| DecisionRequest { hunks: vec![(id, None)], ..Default::default() };
            match event {
                Event::Accept(n) => {
                    if let Some(id) = pick(*n)
                        && let Err(error) = ground.accept_part(&mut transaction, &part(id), &mut [])
                    {
                        prop_assert_eq!(error.code(), "CONFLICT");
                    }
                }
                Event::Reject(n) => {
                    if let Some(id) = pick(*n) {
                        let selection = transaction.select(&part(id)).unwrap();
                        let record = transaction.refuse(&selection, Settlement::Rejected, None).unwrap();
                        ground.ws.transactions().append(&transaction, &[record], None).unwrap();
                    }
                }
                Event::Amend(n) => {
                    if let Some(id) = pick(*n) {
                        let record = transaction.amend(&id, &format!("amended {round}\nand more\n")).unwrap();
                        ground.ws.transactions().append(&transaction, &[record], None).unwrap();
                    }
                }
                Event::Split(n) => {
                    if let Some(id) = pick(*n)
                            && let Ok((_, record)) = transaction.split(&id, &mut || HunkId::new(ground.id("h")))
                        {
                        ground.ws.transactions().append(&transaction, &[record], None).unwrap();
                    }
                }
                Event::ProposeAgain(n) | Event::KeepMine(n) => {
                    let stuck = conflicts(&transaction);
                    if let Some(id) = stuck.get(n % stuck.len().max(1)) {
                        let record = if matches!(event, Event::KeepMine(_)) {
                            transaction.keep_mine(id).unwrap()
                        } else {
                            transaction.propose_again(id).unwrap()
                        };
                        ground.ws.transactions().append(&transaction, &[record], None).unwrap();
                    }
                }
                Event::UserEdits(line) => {
                    let text = ground.read("a.txt").unwrap();
                    let at = *line % text.lines().count();
                    let lines: String = text
                        .lines()
                        .enumerate()
                        .map(|(n, line)| if n == at && !line.starts_with("typed") {
                            format!("{line}\ntyped {round}\n")
                        } else {
                            format!("{line}\n")
                        })
                        .collect();
                    ground.write("a.txt", &lines);
                }
                Event::Undo | Event::Redo => {
                    let action = if matches!(event, Event::Undo) { Direction::Undo } else { Direction::Redo };
                    match ground.undo(None, action) {
                        Ok(committed) => {
                            for (_, record) in &committed.concerns {
                                transaction.apply(record);
                            }
                        }
                        Err(Refused::Undo(error)) => {
                            prop_assert!(["CONFLICT", "NOTHING_PENDING"].contains(&error.code()), "{error}");
                        }
                        Err(Refused::Review(undo)) => {
                            for (_, record) in decide(&ground, undo.transaction, round % 2 == 0) {
                                transaction.apply(&record);
                            }
                        }
                            Err(Refused::Commit(error)) => prop_assert_eq!(error.code(), "CONFLICT"),
                    }
                }
            }
            follow(&ground, &mut transaction);
            let mut loaded = ground.ws.transactions().load(transaction.id()).unwrap().unwrap();
            follow(&ground, &mut loaded);
            prop_assert_eq!(standings(&loaded), standings(&transaction), "after {:?}", event);
            for (path, kept) in ["a.txt", "b.txt"].into_iter().zip(kept) {
                let now = typed(&ground.read(path).unwrap());
                prop_assert!(kept.iter().all(|line| now.contains(line)), "after {event:?}: {now:?}");
            }
        }
        prop_assert!(ground.ws.journal().verify().unwrap().is_sound());
    }
}
