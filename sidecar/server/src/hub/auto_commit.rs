//! The commit of a turn's own edits, where the user's policy lets it run unasked.
//!
//! Owns: what such a commit is as an operation that the gate decides on, and carrying it out.
//! Must not know: the policy itself; the gate has decided before [`Hub::auto_commit`].

use std::collections::BTreeMap;

use redline_agent::AutoCommit;
use redline_edits::HunkState;
use redline_protocol::v1;
use redline_tools::{Class, MutationKind, Operation};
use redline_workspace::Transaction;
use serde_json::json;
use tokio::sync::oneshot;

use super::Hub;
use super::event::{ClientId, Verb};

/// Who decided, in the receipt.
const DECIDED_BY: &str = "policy";

/// A commit that the gate is asked about.
pub(crate) struct CommitWanted {
    pub(super) transaction_id: String,
    pub(super) operation: Operation,
}

impl Hub {
    /// What committing the running turn's own edits would be; none when nothing of them is pending.
    pub(super) fn commit_wanted(&self, session: &str) -> Option<CommitWanted> {
        let conversation = self.sessions.open.get(session)?;
        let id = conversation.running.as_ref()?.transaction.as_ref()?;
        let transaction = self.transactions.get(id)?;
        if transaction.is_settled() || transaction.is_incomplete() {
            return None;
        }
        Some(CommitWanted {
            transaction_id: id.clone(),
            operation: self.operation(session, transaction),
        })
    }

    fn operation(&self, session: &str, transaction: &Transaction) -> Operation {
        let files: Vec<_> = transaction
            .files()
            .filter(|file| !file.is_settled())
            .collect();
        let base = files.iter().map(|file| {
            let revision = redline_edits::text_revision(&file.text.to_string());
            (file.path.clone(), revision.to_string())
        });
        let mut paths: Vec<String> = Vec::new();
        for file in &files {
            paths.push(file.path.clone());
            paths.extend(file.new_path().map(str::to_owned));
        }
        let base_revisions: BTreeMap<String, String> = base.collect();
        Operation {
            tool: "commit".to_owned(),
            kind: MutationKind::Transaction,
            // The turn's checkpoint brings all of it back.
            class: Class::Reversible,
            reads_only: false,
            arguments: json!({"transaction": transaction.id()}),
            summary: format!("commit {}", count(paths.len(), "file")),
            paths,
            hosts: Vec::new(),
            command: None,
            base_revisions,
            workspace: self.workspace.root().id(),
            session: session.to_owned(),
            cwd: String::new(),
            env_digest: String::new(),
        }
    }

    /// Commits the turn's own edits.
    pub(super) fn auto_commit(
        &mut self,
        session: &str,
        transaction_id: String,
        reply: oneshot::Sender<AutoCommit>,
    ) {
        let client = self.sessions.open.get(session);
        let client = client.map_or(ClientId(0), |conversation| conversation.client);
        let hunks = self.pending_hunks(&transaction_id);
        let params = v1::DecideParams {
            transaction_id: Some(transaction_id.clone()),
            hunks,
            ..v1::DecideParams::default()
        };
        let (decided, outcome) = oneshot::channel();
        self.decide_as(DECIDED_BY, client, Verb::Accept, params, decided);
        self.runtime.spawn(async move {
            let (text, is_committed) = match outcome.await {
                Ok(Ok(result)) => (told(&result()), true),
                Ok(Err(failure)) => (
                    format!(
                        "The edits stay pending: {}: {}",
                        failure.code, failure.message
                    ),
                    false,
                ),
                Err(_) => ("The edits stay pending: the hub ended.".to_owned(), false),
            };
            // A turn that was stopped meanwhile does not listen any more.
            let _ = reply.send(AutoCommit {
                transaction_id,
                text,
                is_committed,
            });
        });
    }

    /// The pending hunks of a transaction, when a conflict keeps the whole of it from being taken; else none,
    /// which means all of it.
    fn pending_hunks(&self, id: &str) -> Vec<v1::HunkRef> {
        let Some(transaction) = self.transactions.get(id) else {
            return Vec::new();
        };
        if transaction.totals().conflicts == 0 {
            return Vec::new();
        }
        let hunks = transaction.files().flat_map(|file| file.hunks.iter());
        let pending = hunks.filter(|hunk| hunk.state == HunkState::Pending);
        pending
            .map(|hunk| v1::HunkRef {
                id: hunk.id.to_string(),
                revision: Some(hunk.revision),
            })
            .collect()
    }
}

fn told(result: &v1::DecideResult) -> String {
    let receipt = result.receipt.as_ref();
    let written = receipt.map_or(0, |receipt| receipt.written.len());
    let unsaved = receipt.map_or(0, |receipt| receipt.unsaved.len());
    let mut text = format!("Committed {}", count(written + unsaved, "file"));
    if unsaved > 0 {
        text.push_str(&format!(", {} of them unsaved in an editor", unsaved));
    }
    text.push_str("; undo takes back the whole turn.");
    text
}

fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
