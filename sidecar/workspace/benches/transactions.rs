//! What a durable transaction costs: creating, committing, deciding one hunk of many.
//!
//! References in the same run: `git apply` followed by an fsync of each file, and the same decision in a
//! transaction of one file. Growth: creating and committing are linear in files; deciding one hunk reads
//! and writes that hunk's file alone.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[path = "../tests/review/support.rs"]
mod support;

use std::process::Command;

use divan::Bencher;
use redline_edits::Change;
use redline_workspace::{DecisionRequest, Transaction, prepare};
use support::Ground;

fn main() {
    divan::main();
}

fn added(n: usize) -> Vec<Change> {
    (0..n)
        .map(|at| {
            Change::create(
                format!("dir{}/file{at}.txt", at % 20),
                format!("line one of {at}\nline two\n"),
            )
        })
        .collect()
}

#[divan::bench(args = [1, 1000], sample_count = 15, sample_size = 1)]
fn create(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let ground = Ground::new(&[("a.txt", "a\n")]);
            let transaction = ground.draft(added(n), &[]);
            // The store exists.
            ground.propose(added(1));
            (ground, transaction)
        })
        .bench_refs(|(ground, transaction)| ground.ws.transactions().create(transaction).unwrap());
}

#[divan::bench(args = [1, 1000], sample_count = 10, sample_size = 1)]
fn commit_all(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let ground = Ground::new(&[("a.txt", "a\n")]);
            let transaction = ground.propose(added(n));
            (ground, transaction)
        })
        .bench_refs(|(ground, transaction)| ground.accept(transaction).unwrap());
}

/// The reference for [`commit_all`].
#[divan::bench(args = [1, 1000], sample_count = 10, sample_size = 1)]
fn git_apply_and_fsync(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let ground = Ground::new(&[("a.txt", "a\n")]);
            let transaction = ground.propose(added(n));
            let patch = ground
                .root
                .join(".agentic/transactions")
                .join(transaction.id())
                .join("diff.patch");
            (ground, patch)
        })
        .bench_refs(|(ground, patch)| {
            let status = Command::new("git")
                .arg("apply")
                .arg(&*patch)
                .current_dir(&ground.root)
                .status();
            assert!(status.unwrap().success());
            for at in 0..n {
                let path = ground.root.join(format!("dir{}/file{at}.txt", at % 20));
                std::fs::File::open(path).unwrap().sync_all().unwrap();
            }
        });
}

fn first_hunk(transaction: &Transaction) -> DecisionRequest {
    let id = transaction
        .files()
        .next()
        .unwrap()
        .hunks
        .iter()
        .next()
        .unwrap()
        .id
        .clone();
    DecisionRequest {
        hunks: vec![(id, None)],
        ..Default::default()
    }
}

#[divan::bench(args = [1, 1000], sample_count = 20, sample_size = 1)]
fn accept_one_hunk_of_files(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let ground = Ground::new(&[("a.txt", "a\n")]);
            let transaction = ground.propose(added(n));
            (ground, transaction)
        })
        .bench_refs(|(ground, transaction)| {
            let part = first_hunk(transaction);
            ground.accept_part(transaction, &part, &mut []).unwrap()
        });
}

#[divan::bench(args = [1, 10_000], sample_count = 20, sample_size = 1)]
fn reject_one_of_hunks(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let line = |at: usize, changed: bool| {
                if changed && at.is_multiple_of(2) {
                    format!("LINE {at}\n")
                } else {
                    format!("line {at}\n")
                }
            };
            let before: String = (0..2 * n).map(|at| line(at, false)).collect();
            let after: String = (0..2 * n).map(|at| line(at, true)).collect();
            let ground = Ground::new(&[("a.txt", &before)]);
            let transaction = ground.propose(vec![Change::write("a.txt", after)]);
            let selection = transaction.select(&first_hunk(&transaction)).unwrap();
            (ground, transaction, selection)
        })
        .bench_refs(|(ground, transaction, selection)| {
            let how = redline_workspace::Settlement::Rejected;
            let record = transaction.refuse(selection, how, None).unwrap();
            ground
                .ws
                .transactions()
                .append(transaction, &[record], None)
                .unwrap();
        });
}

#[divan::bench(args = [0, 1000], sample_count = 10, sample_size = 1)]
fn start_beside_settled(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let ground = Ground::new(&[("a.txt", "a\n")]);
            for _ in 0..n {
                let mut transaction = ground.propose(added(1));
                let all = transaction.select(&DecisionRequest::default()).unwrap();
                let how = redline_workspace::Settlement::Rejected;
                let record = transaction.refuse(&all, how, None).unwrap();
                ground
                    .ws
                    .transactions()
                    .append(&transaction, &[record], None)
                    .unwrap();
            }
            ground
        })
        .bench_refs(|ground| {
            ground.reopen();
            ground.ws.transactions().list_unsettled().unwrap()
        });
}

#[divan::bench(args = [1, 1000], sample_count = 10, sample_size = 1)]
fn prepare_only(bencher: Bencher<'_, '_>, n: usize) {
    bencher
        .with_inputs(|| {
            let ground = Ground::new(&[("a.txt", "a\n")]);
            let transaction = ground.propose(added(n));
            let selection = transaction.select(&DecisionRequest::default()).unwrap();
            let request = ground.request(&transaction, selection, &[]);
            (ground, request)
        })
        .bench_refs(|(ground, request)| prepare(&ground.ws, request).unwrap());
}
