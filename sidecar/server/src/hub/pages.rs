//! Pages for a person to read: diffs and the three sides of a conflict.
//!
//! Owns: what such a page says, and opening it in the client that asked.
//! Must not know: how the client opens a document.
//!
//! A page is a real file in the private store, since plain editors open nothing else.

use redline_edits::HunkId;
use redline_protocol::v1;
use redline_workspace::Transaction;
use tower_lsp::ls_types::MessageType;

use super::event::{ClientId, Page, Reply};
use super::{Hub, present, respond};
use crate::failure::Failure;
use crate::lsp::outbox::Message;

impl Hub {
    pub(super) fn show_page(&mut self, client: ClientId, page: Page, reply: Reply<()>) {
        let written = match page {
            Page::Diff(id) => self.diff_page(id),
            Page::Sides(params) => self.sides_page(client, &params),
        };
        let shown = written.and_then(|(name, text)| self.open_page(client, &name, &text));
        respond(reply, shown);
    }

    fn open_page(&self, client: ClientId, name: &str, text: &str) -> Result<(), Failure> {
        let Some(client) = self.clients.get(&client) else {
            return Ok(());
        };
        if !client.profile.show_document {
            client.outbox.push(Message::Show {
                level: MessageType::INFO,
                text: text.to_owned(),
            });
            return Ok(());
        }
        let path = self.write_page(name, text).map_err(|reason| {
            Failure::new(
                "IO",
                format!("the page could not be written: {reason}"),
                "look at the disk that holds XDG_STATE_HOME",
            )
        })?;
        client
            .outbox
            .push(Message::ShowDocument { path, line: None });
        Ok(())
    }

    /// Pages of one workspace share a folder of the user's private store.
    #[expect(
        clippy::disallowed_methods,
        reason = "the private store is no workspace"
    )]
    fn write_page(&self, name: &str, text: &str) -> Result<std::path::PathBuf, String> {
        let folder = self
            .process
            .private
            .folder("pages")
            .map_err(|error| error.to_string())?;
        let folder = folder.join(self.workspace.root().id());
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        Ok(path)
    }

    fn diff_page(&self, id: Option<String>) -> Result<(String, String), Failure> {
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
        let mut text = String::new();
        for transaction in transactions {
            diff_text(&self.later(transaction)(), &mut text);
        }
        let name = id.unwrap_or_else(|| "pending".to_owned());
        Ok((format!("{name}.diff"), text))
    }

    fn sides_page(
        &self,
        client: ClientId,
        params: &v1::SplitParams,
    ) -> Result<(String, String), Failure> {
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
        Ok((format!("{id}.md"), page))
    }
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
