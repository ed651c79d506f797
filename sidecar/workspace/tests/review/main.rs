//! Proposing, deciding, committing and undoing, on a real folder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod accept;
mod any_order;
mod commands;
mod contested;
mod documents;
mod hostile;
mod stored;
mod support;
mod undo;

use redline_edits::{Change, ChangeKind, HunkId};
use redline_workspace::{
    CommitError, DecisionRequest, Direction, Effect, LineRange, Outcome, PathEffect, Settlement,
    Standing, TransactionState,
};
use support::{Ground, Node, Refused, document};

fn edit(path: &str, search: &str, replace: &str) -> Change {
    Change::replace(path, search, replace)
}

fn standings(transaction: &redline_workspace::Transaction) -> Vec<(String, Standing)> {
    transaction
        .files()
        .flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
        .map(|(file, hunk)| (file.path.clone(), file.standing(hunk)))
        .collect()
}

const DONE: Standing = Standing::Accepted {
    unsaved: false,
    by_hand: false,
};
