//! The open copies and the transactions over them, kept in step.
//!
//! Owns: what opening, typing, saving and closing mean for hunks. A transaction's own hunks are anchored to one
//! text for each path: the leading copy's while one is open, else the disk's. [`Hub::lead`] moves them there
//! before anything is decided, and [`Hub::spread`] hands what was decided to every copy.
//! Must not know: what is decided, or shown.

use std::collections::BTreeMap;

use redline_workspace::Record;
use ropey::Rope;
use tower_lsp::ls_types::TextDocumentContentChangeEvent;

use super::documents::{Copy, Happened};
use super::event::ClientId;
use super::store::Answer;
use super::{Hub, derive};
use crate::failure::Failure;

impl Hub {
    pub(super) fn did_open(&mut self, client: ClientId, uri: String, version: i32, text: &str) {
        if let Some(page) = self.live_page(&uri) {
            return self.page_opened(client, page, (uri, version), text);
        }
        let Some(path) = self.path_of(&uri) else {
            return;
        };
        let Some(encoding) = self.clients.get(&client).map(|each| each.profile.encoding) else {
            return;
        };
        let rope = Rope::from_str(text);
        let mut copy = Copy {
            client,
            uri,
            version,
            rope,
            encoding,
            touched: 0,
            // Until the disk is looked at, nobody knows; `refresh` tells.
            dirty: true,
            sets: BTreeMap::new(),
        };
        let mut happened = Vec::new();
        for transaction in self.transactions.values() {
            if let Some(file) = transaction.file(&path)
                && !file.hunks.is_empty()
            {
                let mut set = file.hunks.clone();
                let events = set.rebase(&file.text, &copy.rope);
                happened.extend(events.into_iter().map(|event| Happened {
                    set: transaction.id().to_owned(),
                    event,
                }));
                copy.put(transaction.id(), Some(set));
            }
        }
        let before = (copy.rope.clone(), version);
        self.documents.open(&path, copy);
        self.stale.changed(&path);
        if !happened.is_empty() {
            // The editor may bring text that was accepted before, or that the user typed elsewhere.
            self.happened(client, &path, before, happened);
        }
        self.check_disk(&path);
    }

    pub(super) fn did_change(
        &mut self,
        client: ClientId,
        uri: &str,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
    ) {
        if let Some(page) = self.live_page(uri) {
            return self.page_changed(client, page, version, changes);
        }
        let Some(path) = self.path_of(uri) else {
            return;
        };
        let Some(copy) = self.documents.touch(&path, client) else {
            return;
        };
        // A rope is cheap to keep, and an offer that comes back needs the text it was made for.
        let before = (copy.rope.clone(), copy.version);
        let happened = copy.change(version, changes);
        if !copy.sets.is_empty() {
            self.stale.moved(&path);
        }
        if !happened.is_empty() {
            self.happened(client, &path, before, happened);
        }
    }

    pub(super) fn did_save(&mut self, client: ClientId, uri: &str) {
        if let Some(page) = self.live_page(uri) {
            return self.page_saved(client, page);
        }
        let Some(path) = self.path_of(uri) else {
            return;
        };
        if let Some(copy) = self.documents.touch(&path, client) {
            copy.dirty = false;
            // Nobody asks about saves while nothing runs.
            if self.kept_jobs.running_count() > 0 {
                let text = copy.rope.to_string();
                self.saves.note(&path, &text, crate::clock::now_ms());
            }
        }
        let ids: Vec<String> = self.transactions.keys().cloned().collect();
        let mut changes = Vec::new();
        for id in ids {
            let Some(transaction) = self.transactions.get_mut(&id) else {
                continue;
            };
            if let Some(record) = transaction.saved(&path) {
                changes.push((id.clone(), vec![record]));
                self.stale.transaction(&id);
                self.stale.changed(&path);
            }
        }
        if !changes.is_empty() {
            self.store(changes, None, Answer::Nobody);
        }
        self.check_disk(&path);
    }

    pub(super) fn did_close(&mut self, client: ClientId, uri: &str) {
        if let Some(page) = self.live_page(uri) {
            self.page_closed(client, page);
        } else if let Some(path) = self.path_of(uri) {
            self.close_copy(&path, client);
        }
    }

    /// A copy is gone. When it was the last one, the disk is what its hunks lie over again, and what
    /// was accepted there without being saved waits again.
    pub(super) fn close_copy(&mut self, path: &str, client: ClientId) {
        let ids: Vec<String> = self
            .documents
            .get(path, client)
            .map(|copy| copy.sets.keys().cloned().collect())
            .unwrap_or_default();
        for id in &ids {
            self.lead(id, None);
        }
        self.documents.close(path, client);
        self.stale.changed(path);
        if self.documents.of(path).is_empty() {
            self.check_disk(path);
        }
    }

    /// Anchors a transaction's own hunks to the leading copies: those of `client`, else the ones
    /// typed in last.
    pub(super) fn lead(&mut self, id: &str, client: Option<ClientId>) {
        let Some(transaction) = self.transactions.get_mut(id) else {
            return;
        };
        let paths: Vec<String> = self
            .documents
            .paths()
            .filter(|path| transaction.file(path).is_some())
            .map(str::to_owned)
            .collect();
        for path in paths {
            let Some(copy) = self.documents.leading(&path, client) else {
                continue;
            };
            let (Some(set), Some(file)) = (copy.sets.get(id), transaction.file_mut(&path)) else {
                continue;
            };
            file.hunks = set.clone();
            file.text = copy.rope.clone();
        }
    }

    /// Anchors what waits as this client sees it: lines count in the text as it stands now.
    pub(super) fn lead_unsettled(&mut self, client: ClientId) {
        let unsettled: Vec<String> = self
            .transactions
            .values()
            .filter(|transaction| !transaction.is_settled())
            .map(|transaction| transaction.id().to_owned())
            .collect();
        for id in unsettled {
            self.lead(&id, Some(client));
        }
    }

    /// Hands a transaction's hunks to every open copy, and marks them to be shown again.
    pub(super) fn spread(&mut self, id: &str) {
        let Some(transaction) = self.transactions.get(id) else {
            return;
        };
        self.stale.transaction(id);
        let paths: Vec<String> = self
            .documents
            .paths()
            .filter(|path| transaction.file(path).is_some())
            .map(str::to_owned)
            .collect();
        for path in paths {
            let Some(file) = transaction.file(&path) else {
                continue;
            };
            for copy in self.documents.of_mut(&path) {
                let set = (!file.hunks.is_empty()).then(|| derive(file, &copy.rope));
                copy.put(id, set);
            }
            self.stale.changed(&path);
        }
    }

    /// Hands the hunks of one path to the copies of other clients.
    pub(super) fn spread_to_others(&mut self, id: &str, path: &str, client: ClientId) {
        let Some(file) = self.transactions.get(id).and_then(|found| found.file(path)) else {
            return;
        };
        for copy in self.documents.of_mut(path) {
            if copy.client != client {
                let set = (!file.hunks.is_empty()).then(|| derive(file, &copy.rope));
                copy.put(id, set);
            }
        }
    }

    /// Moves hunks over a closed file onto what the disk reads now.
    pub(super) fn reanchor_closed(&mut self, path: &str, rope: &Rope) {
        let ids: Vec<String> = self
            .transactions
            .values()
            .filter(|transaction| transaction.file(path).is_some())
            .map(|transaction| transaction.id().to_owned())
            .collect();
        let mut changes = Vec::new();
        for id in ids {
            let Some(transaction) = self.transactions.get_mut(&id) else {
                continue;
            };
            let Some(file) = transaction.file_mut(path) else {
                continue;
            };
            let events = file.reanchor(rope);
            let records = transaction.note_events(path, &events, false);
            // Nobody has it open any more: what is in the text is saved, what is not waits again.
            let saved = transaction.saved(path);
            let records: Vec<Record> = records.into_iter().chain(saved).collect();
            if !events.is_empty() || !records.is_empty() {
                self.stale.transaction(&id);
            }
            if !records.is_empty() {
                changes.push((id, records));
            }
        }
        if !changes.is_empty() {
            self.store(changes, None, Answer::Nobody);
        }
    }

    pub(super) fn document_text(
        &self,
        client: ClientId,
        uri: &str,
    ) -> Result<(i32, String), Failure> {
        let copy = self
            .path_of(uri)
            .and_then(|path| self.documents.get(&path, client))
            .ok_or_else(|| {
                Failure::new(
                    "NOT_FOUND",
                    format!("{uri} is not open here"),
                    "open it first",
                )
            })?;
        Ok((copy.version, copy.rope.to_string()))
    }
}
