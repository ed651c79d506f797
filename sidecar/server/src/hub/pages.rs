//! Pages for a person to read: diffs and the three sides of a conflict.
//!
//! Owns: what such a page says, and opening it in the client that asked.
//! Must not know: how the client opens a document.
//!
//! A page is a real file in the private store, since plain editors open nothing else.

use std::path::PathBuf;
use std::sync::Arc;

use redline_edits::HunkId;
use redline_protocol::v1;
use redline_workspace::{PrivateStore, Transaction};
use tower_lsp::ls_types::MessageType;

use super::event::{ClientId, Later, Page, Reply};
use super::{Hub, present, respond};
use crate::failure::Failure;
use crate::lsp::outbox::Message;

/// The text of a page, put together on the worker.
type Text = Later<String>;

impl Hub {
    pub(super) fn show_page(&mut self, client: ClientId, page: Page, reply: Reply<()>) {
        let page = match page {
            Page::Diff(id) => self.diff_page(id),
            Page::Sides(params) => self.sides_page(client, &params),
        };
        match page {
            Ok((name, text)) => self.open_page(client, name, text, reply),
            Err(failure) => respond(reply, Err(failure)),
        }
    }

    /// Writes the page on the worker, and has the client open it.
    fn open_page(&self, client: ClientId, name: String, text: Text, reply: Reply<()>) {
        let Some(client) = self.clients.get(&client) else {
            return;
        };
        let (opens, outbox) = (client.profile.show_document, client.outbox.clone());
        let private = Arc::clone(&self.process.private);
        let workspace_id = self.workspace.root().id().to_owned();
        self.worker.run("page", move || {
            let text = text();
            let shown = if opens {
                write_page(&private, &workspace_id, &name, &text)
                    .map(|path| Message::ShowDocument { path, line: None })
            } else {
                Ok(Message::Show {
                    level: MessageType::INFO,
                    text,
                })
            };
            respond(reply, shown.map(|message| outbox.push(message)));
            None
        });
    }

    fn diff_page(&self, id: Option<String>) -> Result<(String, Text), Failure> {
        let transactions: Vec<&Transaction> = match &id {
            Some(id) => vec![
                self.transactions
                    .get(id)
                    .ok_or_else(|| unknown_transaction(id))?,
            ],
            None => self
                .transactions
                .values()
                .filter(|transaction| !transaction.is_settled())
                .collect(),
        };
        if transactions.is_empty() {
            return Err(Failure::new(
                "NOTHING_PENDING",
                "nothing is pending in this workspace",
                "ask for a change, or pipe a patch to `redline propose`",
            ));
        }
        let shown: Vec<_> = transactions
            .into_iter()
            .map(|transaction| self.later(transaction))
            .collect();
        let name = id.unwrap_or_else(|| "pending".to_owned());
        let text = move || {
            let mut text = String::new();
            for transaction in shown {
                diff_text(&transaction(), &mut text);
            }
            text
        };
        Ok((format!("{name}.diff"), Box::new(text)))
    }

    fn sides_page(
        &self,
        client: ClientId,
        params: &v1::SplitParams,
    ) -> Result<(String, Text), Failure> {
        let id = HunkId::new(params.hunk.id.clone());
        let transaction = self
            .transactions
            .values()
            .find(|transaction| transaction.file_of(&id).is_some())
            .ok_or_else(|| unknown_hunk(&params.hunk.id))?;
        let file = transaction
            .file_of(&id)
            .ok_or_else(|| unknown_hunk(&params.hunk.id))?;
        let leading = self.documents.leading(&file.path, Some(client));
        let (set, text) =
            match leading.and_then(|copy| Some((copy.sets.get(transaction.id())?, &copy.rope))) {
                Some(open) => open,
                None => (&file.hunks, &file.text),
            };
        let sides = set.conflict(&id, text).ok_or_else(|| {
            Failure::new(
                "INVALID_ARGUMENTS",
                format!("{id} is not a conflict"),
                "accept or reject it",
            )
        })?;
        let mut page = format!("# Conflict in {}: {}\n", file.path, sides.reason);
        for (title, side) in [
            ("What it was written against", &sides.base),
            ("What stands there now", &sides.current),
            ("What is proposed", &sides.proposed),
        ] {
            page.push_str(&format!("\n## {title}\n\n"));
            for line in present::lines(side) {
                page.push_str("    ");
                page.push_str(&line);
                page.push('\n');
            }
        }
        Ok((format!("{id}.md"), Box::new(move || page)))
    }
}

/// Pages of one workspace share a folder of the user's private store.
#[expect(
    clippy::disallowed_methods,
    reason = "the private store is no workspace"
)]
fn write_page(
    private: &PrivateStore,
    workspace_id: &str,
    name: &str,
    text: &str,
) -> Result<PathBuf, Failure> {
    let failed = |reason: &dyn std::fmt::Display| {
        Failure::new(
            "IO",
            format!("the page could not be written: {reason}"),
            "look at the disk that holds XDG_STATE_HOME",
        )
    };
    let folder = private.folder("pages").map_err(|error| failed(&error))?;
    let folder = folder.join(workspace_id);
    std::fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| failed(&error))?;
    Ok(path)
}

/// A transaction as a diff that editors colour, with its rationales between the hunks.
pub(super) fn diff_text(transaction: &v1::Transaction, text: &mut String) {
    text.push_str(&format!(
        "# {} · {} · {}\n",
        transaction.id, transaction.proposed_by, transaction.title
    ));
    for file in &transaction.files {
        let old = if file.operation == v1::OperationKind::Create {
            "/dev/null".to_owned()
        } else {
            format!("a/{}", file.path)
        };
        let new = match file.operation {
            v1::OperationKind::Delete => "/dev/null".to_owned(),
            _ => format!("b/{}", file.new_path.as_deref().unwrap_or(&file.path)),
        };
        text.push_str(&format!("--- {old}\n+++ {new}\n"));
        let mut shift = 0_i64;
        for hunk in &file.hunks {
            if !matches!(hunk.state, v1::HunkState::Pending | v1::HunkState::Conflict) {
                continue;
            }
            let (removed, added) = (hunk.removed.len(), hunk.added.len());
            let start = i64::from(hunk.start_line) - i64::from(removed == 0);
            let new_start = i64::from(hunk.start_line) + shift - i64::from(added == 0);
            text.push_str(&format!(
                "@@ -{start},{removed} +{new_start},{added} @@ {}/{} {}\n",
                hunk.index,
                transaction
                    .files
                    .iter()
                    .map(|file| file.hunks.len())
                    .sum::<usize>(),
                hunk.rationale
                    .as_deref()
                    .unwrap_or_default()
                    .replace('\n', " "),
            ));
            for (sign, lines) in [("-", &hunk.removed), ("+", &hunk.added)] {
                for line in lines {
                    text.push_str(sign);
                    text.push_str(line);
                    text.push('\n');
                }
            }
            // Counts of one file's lines stay far below the limit.
            shift += i64::try_from(added).unwrap_or(0) - i64::try_from(removed).unwrap_or(0);
        }
    }
}

pub(super) fn unknown_transaction(id: &str) -> Failure {
    Failure::new(
        "UNKNOWN_TRANSACTION",
        format!("there is no transaction {id} in this workspace"),
        "`redline status` lists those that wait; `--workspace` names another project",
    )
}

pub(super) fn unknown_hunk(id: &str) -> Failure {
    Failure::new(
        "UNKNOWN_HUNK",
        format!("there is no hunk {id} in this workspace"),
        "`redline status` lists those that wait; it may have been merged into another one",
    )
}
