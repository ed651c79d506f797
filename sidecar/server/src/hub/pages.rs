//! Pages for a person: diffs, the three sides of a conflict, the review document, the prompt file.
//!
//! Owns: what such a page says, where it lies, and opening it in the client that asked.
//! Must not know: how the client opens a document.
//!
//! A page is a real file in the private store, since plain editors open nothing else. Beside the pages of a
//! workspace lies the name of its root, so that an editor that opens one is led to the hub that it belongs to.
//!
//! - [`review`]: what the review document says; [`prompt`]: what the prompt file does
//! - [`live`]: both while they are open

pub(crate) mod live;
mod prompt;
pub(crate) mod review;

use std::path::{Path, PathBuf};
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
            Page::Review(transaction) => return self.open_review(client, transaction, reply),
            Page::Prompt => return self.open_prompt(client, reply),
            Page::Place { path, line } => return self.open_place(client, &path, line, reply),
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
        let (root, id) = (self.root.clone(), self.workspace.root().id().to_owned());
        self.worker.run("page", move || {
            let text = text();
            let shown = if opens {
                let folder = page_folder(&private, &root, &id);
                folder
                    .map(|folder| folder.join(name))
                    .and_then(|path| write_page(&path, &text).map(|()| path))
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

    /// Opens a file of the workspace at a line, counted from 1.
    fn open_place(&self, client: ClientId, path: &str, line: u32, reply: Reply<()>) {
        let Some(attached) = self.clients.get(&client) else {
            return;
        };
        let place = self.workspace.root().admit(path);
        let found = place.map_err(|error| {
            let error = redline_edits::FileError::from(error);
            Failure::new(error.code, error.message, error.hint)
        });
        let opened = found.map(|admitted| {
            let path = self.root.join(admitted.as_str());
            let line = Some(line.saturating_sub(1));
            attached
                .outbox
                .push(shown(attached.profile.show_document, path, line));
        });
        respond(reply, opened);
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

/// The name of the file that says whose pages lie beside it.
const ROOT_FILE: &str = "workspace";

fn failed(what: &str, reason: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        "IO",
        format!("the page could not be {what}: {reason}"),
        "look at the disk that holds XDG_STATE_HOME",
    )
}

/// The folder that the pages of one workspace share, in the user's private store.
#[expect(
    clippy::disallowed_methods,
    reason = "the private store is no workspace"
)]
fn page_folder(private: &PrivateStore, root: &Path, id: &str) -> Result<PathBuf, Failure> {
    let folder = private
        .folder("pages")
        .map_err(|error| failed("written", &error))?;
    let folder = folder.join(id);
    std::fs::create_dir_all(&folder).map_err(|error| failed("written", &error))?;
    let named = folder.join(ROOT_FILE);
    let root = root.as_os_str().as_encoded_bytes();
    if std::fs::read(&named).ok().as_deref() != Some(root) {
        std::fs::write(&named, root).map_err(|error| failed("written", &error))?;
    }
    Ok(folder)
}

fn page_path(
    private: &PrivateStore,
    root: &Path,
    id: &str,
    page: live::Live,
) -> Result<PathBuf, Failure> {
    page_folder(private, root, id).map(|folder| folder.join(page.file_name()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the private store is no workspace"
)]
fn write_page(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| failed("written", &error))
}

/// What stands in a page; nothing when there is none yet.
#[expect(
    clippy::disallowed_methods,
    reason = "the private store is no workspace"
)]
fn read_page(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// How a page is brought before its reader.
fn shown(opens: bool, path: PathBuf, line: Option<u32>) -> Message {
    if opens {
        return Message::ShowDocument { path, line };
    }
    Message::Show {
        level: MessageType::INFO,
        text: format!("Redline: open {}", path.display()),
    }
}

/// The root of the workspace that a page belongs to; none for a file that is no page.
#[expect(
    clippy::disallowed_methods,
    reason = "the private store is no workspace"
)]
pub(crate) fn root_of_page(private: &PrivateStore, file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let pages = folder.parent()?;
    if pages.file_name()? != "pages" {
        return None;
    }
    // An editor may have followed a link on the way.
    let own = std::fs::canonicalize(private.folder("pages").ok()?).ok()?;
    if std::fs::canonicalize(pages).ok()? != own {
        return None;
    }
    let root = std::fs::read_to_string(folder.join(ROOT_FILE)).ok()?;
    Some(PathBuf::from(root))
}

/// The live page that a URI names, and the id of its workspace. Costs next to nothing for other documents.
fn live_page(uri: &str) -> Option<(live::Live, &str)> {
    let mut parts = uri.rsplit('/');
    let name = parts.next()?;
    let all = [live::Live::Review, live::Live::Prompt];
    let page = all.into_iter().find(|page| page.file_name() == name)?;
    let (id, pages) = (parts.next()?, parts.next()?);
    (pages == "pages").then_some((page, id))
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
