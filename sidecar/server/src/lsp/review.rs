//! Code actions on the lines of the review document.
//!
//! Owns: which decisions a line offers, and what they are called.
//! Must not know: who has the document open, or how a decision is carried out.

use redline_protocol::v1::{
    DecideParams, FileChange, FileRef, Hunk, HunkRef, HunkState, Transaction,
};
use serde_json::{Value, json};
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Command};

use super::actions::{command, title};
use super::profile::ClientProfile;
use super::{approvals, plans};
use crate::hub::pages::review::{Review, Target, count, waits};

/// Actions on what the lines `first..=last` are about, nearest first.
pub(crate) fn actions(
    review: &Review,
    (first, last): (u32, u32),
    profile: &ClientProfile,
) -> Vec<CodeActionOrCommand> {
    let mut targets: Vec<&Target> = Vec::new();
    for line in first..=last.min(first.saturating_add(MAX_LINES)) {
        let target = review.target(line);
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let mut menu = Menu {
        profile,
        actions: Vec::new(),
    };
    for target in &targets {
        menu.offer(review, target);
    }
    // A hunk's file and transaction come after all hunks, each once.
    let mut wholes: Vec<Target> = Vec::new();
    for target in &targets {
        let outer = match target {
            Target::Hunk(at, of, _) => vec![Target::File(*at, *of), Target::Transaction(*at)],
            Target::File(at, _) => vec![Target::Transaction(*at)],
            _ => Vec::new(),
        };
        for whole in outer {
            if !wholes.contains(&whole) && !targets.contains(&&whole) {
                wholes.push(whole);
            }
        }
    }
    for whole in &wholes {
        menu.offer(review, whole);
    }
    menu.actions
}

/// Most lines of a selection that are looked at.
const MAX_LINES: u32 = 2000;

struct Menu<'a> {
    profile: &'a ClientProfile,
    actions: Vec<CodeActionOrCommand>,
}

impl Menu<'_> {
    fn offer(&mut self, review: &Review, target: &Target) {
        let transaction = |at: usize| review.transactions.get(at);
        match target {
            Target::Whole => self.add("Undo the last turn".to_owned(), command::UNDO, None),
            Target::Approval(approval) => {
                self.actions
                    .extend(approvals::actions(approval, self.profile));
            }
            Target::Plan(plan) => self.actions.extend(plans::actions(plan, self.profile)),
            Target::Transaction(at) => {
                if let Some(transaction) = transaction(*at) {
                    self.transaction(transaction);
                }
            }
            Target::File(at, of) => {
                if let Some(transaction) = transaction(*at)
                    && let Some(file) = transaction.files.get(*of)
                {
                    self.file(transaction, file);
                }
            }
            Target::Hunk(at, of, place) => {
                if let Some(transaction) = transaction(*at)
                    && let Some(file) = transaction.files.get(*of)
                    && let Some(hunk) = file.hunks.get(*place)
                {
                    self.hunk(transaction, file, hunk);
                }
            }
        }
    }

    fn hunk(&mut self, transaction: &Transaction, file: &FileChange, hunk: &Hunk) {
        let total: usize = transaction.files.iter().map(|file| file.hunks.len()).sum();
        let name = format!("{}/{total} of {}", hunk.index, file.path);
        let decide = serde_json::to_value(DecideParams {
            transaction_id: Some(transaction.id.clone()),
            hunks: vec![HunkRef {
                id: hunk.id.clone(),
                revision: Some(hunk.revision),
            }],
            ..DecideParams::default()
        })
        .unwrap_or_default();
        let mut add = |title: String, name: &str| self.add(title, name, Some(decide.clone()));
        match hunk.state {
            HunkState::Pending if hunk.incomplete => {}
            HunkState::Pending => {
                add(title("Accept hunk", &name), command::ACCEPT);
                add(title("Reject hunk", &name), command::REJECT);
                if hunk.added.len() + hunk.removed.len() > 1 {
                    add(title("Split hunk", &name), command::SPLIT);
                }
            }
            HunkState::Conflict => {
                add("Propose again".to_owned(), command::REPROPOSE);
                add("Keep mine".to_owned(), command::WITHDRAW);
                add("Show the three sides".to_owned(), command::SHOW_SIDES);
            }
            HunkState::Accepted | HunkState::Rejected | HunkState::Withdrawn => {}
        }
        if self.profile.show_document
            && file.operation != redline_protocol::v1::OperationKind::Create
        {
            let at = title("Open", &format!("{}:{}", file.path, hunk.start_line));
            let place = json!({"path": file.path, "line": hunk.start_line});
            self.add(at, command::OPEN, Some(place));
        }
    }

    fn file(&mut self, transaction: &Transaction, file: &FileChange) {
        if !waits(file.state) {
            return;
        }
        let (_, conflicts) = count(file);
        let decide = serde_json::to_value(DecideParams {
            transaction_id: Some(transaction.id.clone()),
            files: vec![FileRef {
                path: file.path.clone(),
                revision: Some(transaction.revision),
            }],
            ..DecideParams::default()
        })
        .unwrap_or_default();
        if conflicts == 0 {
            let accept = title("Accept file", &file.path);
            self.add(accept, command::ACCEPT, Some(decide.clone()));
        }
        let reject = title("Reject file", &file.path);
        self.add(reject, command::REJECT, Some(decide));
    }

    fn transaction(&mut self, transaction: &Transaction) {
        let waiting = transaction.files.iter().filter(|file| waits(file.state));
        let (pending, conflicts) = waiting.fold((0, 0), |(pending, conflicts), file| {
            let own = count(file);
            (pending + own.0, conflicts + own.1)
        });
        let all = json!({"transactionId": transaction.id, "revision": transaction.revision});
        let name = |n: usize| match n {
            1 => "(1 change)".to_owned(),
            n => format!("({n} changes)"),
        };
        // With a conflict about, nothing that would take it along is offered.
        if conflicts == 0 {
            let accept = title("Accept transaction", &name(pending));
            self.add(accept, command::ACCEPT, Some(all.clone()));
        }
        let reject = title("Reject transaction", &name(pending + conflicts));
        self.add(reject, command::REJECT, Some(all));
    }

    fn add(&mut self, title: String, name: &str, argument: Option<Value>) {
        let command = Command {
            title: title.clone(),
            command: name.to_owned(),
            // Some clients read the list without asking whether there is one.
            arguments: Some(argument.into_iter().collect()),
        };
        self.actions.push(if self.profile.action_literals {
            CodeActionOrCommand::CodeAction(CodeAction {
                title,
                kind: Some(CodeActionKind::QUICKFIX),
                command: Some(command),
                ..CodeAction::default()
            })
        } else {
            CodeActionOrCommand::Command(command)
        });
    }
}
