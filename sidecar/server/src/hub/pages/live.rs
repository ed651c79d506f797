//! Pages that stay true while they are open: the review document and the prompt file.
//!
//! Owns: which client has one open, and bringing an open review document up to date after each decision.
//! Must not know: what the review document says ([`super::review`]).
//!
//! A page that is open is changed in the editor alone, never on the disk behind it: editors refuse to save over a
//! file that was changed meanwhile. One that the user typed in is theirs, and is left as it is.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use redline_edits::{Encoding, LineCol, TextChange, diff_lines, to_byte};
use redline_protocol::v1;
use ropey::Rope;
use tower_lsp::ls_types::{CodeActionOrCommand, MessageType, TextDocumentContentChangeEvent};

use super::review::{Review, review};
use super::{prompt, write_page};
use crate::failure::Failure;
use crate::hub::documents::Copy;
use crate::hub::event::{ClientId, Event, Reply};
use crate::hub::offers::{EditStyle, workspace_edit};
use crate::hub::present_agent::approval as wire;
use crate::hub::work::Done;
use crate::hub::{Hub, respond};
use crate::lsp::outbox::Message;

/// Readings of the review document that are remembered, so that a line of an older one still says what it means.
const READINGS: usize = 8;

/// A page that stays true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Live {
    Review,
    Prompt,
}

impl Live {
    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Review => "review.diff",
            Self::Prompt => "prompt.md",
        }
    }
}

/// The live pages of one workspace.
#[derive(Default)]
pub(crate) struct LivePages {
    copies: BTreeMap<(ClientId, Live), PageCopy>,
    /// Newest last.
    readings: VecDeque<Arc<Review>>,
    stale: bool,
    running: bool,
    openers: Vec<Opener>,
    /// What each client sent from its prompt file.
    sent: BTreeMap<ClientId, String>,
}

/// One client's copy of a page.
struct PageCopy {
    copy: Copy,
    /// The version that an edit of ours is under way for.
    edited: Option<i32>,
}

/// Who waits for the review document to be opened, and where in it.
struct Opener {
    client: ClientId,
    transaction: Option<String>,
    reply: Reply<()>,
}

impl LivePages {
    /// What waits has changed.
    pub(in crate::hub) fn mark(&mut self) {
        self.stale = true;
    }

    pub(in crate::hub) fn forget_client(&mut self, client: ClientId) {
        self.copies.retain(|(of, _), _| *of != client);
        self.openers.retain(|opener| opener.client != client);
        self.sent.remove(&client);
    }

    fn is_wanted(&self) -> bool {
        let open = self.copies.keys().any(|(_, page)| *page == Live::Review);
        open || !self.openers.is_empty()
    }

    /// The reading that a text is, if it is one of ours as it was sent.
    fn reading(&self, text: &Rope) -> Option<&Arc<Review>> {
        let mut newest_first = self.readings.iter().rev();
        newest_first.find(|reading| *text == reading.text.as_str())
    }
}

impl Hub {
    /// The live page that a URI names.
    pub(in crate::hub) fn live_page(&self, uri: &str) -> Option<Live> {
        let (page, id) = super::live_page(uri)?;
        (id == self.workspace.root().id()).then_some(page)
    }

    pub(in crate::hub) fn page_opened(
        &mut self,
        client: ClientId,
        page: Live,
        (uri, version): (String, i32),
        text: &str,
    ) {
        let Some(encoding) = self.clients.get(&client).map(|each| each.profile.encoding) else {
            return;
        };
        let copy = Copy {
            client,
            uri,
            version,
            rope: Rope::from_str(text),
            encoding,
            touched: 0,
            dirty: false,
            sets: BTreeMap::new(),
        };
        let copy = PageCopy { copy, edited: None };
        self.pages.copies.insert((client, page), copy);
        self.pages.mark();
    }

    pub(in crate::hub) fn page_changed(
        &mut self,
        client: ClientId,
        page: Live,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
    ) {
        let Some(open) = self.pages.copies.get_mut(&(client, page)) else {
            return;
        };
        // There are no hunks in it to be told of.
        let _ = open.copy.change(version, changes);
        open.edited = None;
        if page == Live::Review {
            self.bring_up_to_date(client);
        }
    }

    pub(in crate::hub) fn page_closed(&mut self, client: ClientId, page: Live) {
        self.pages.copies.remove(&(client, page));
    }

    /// Saving the prompt file sends it.
    pub(in crate::hub) fn page_saved(&mut self, client: ClientId, page: Live) {
        if page != Live::Prompt {
            return;
        }
        let Some(open) = self.pages.copies.get(&(client, page)) else {
            return;
        };
        let text = prompt::read(&open.copy.rope.to_string());
        let known = self.pages.sent.get(&client);
        if text.is_empty() || known == Some(&text) {
            return;
        }
        self.pages.sent.insert(client, text.clone());
        self.ask_for_change(client, text, self.place_of(client));
        // The next prompt begins with an empty page.
        let fresh = prompt::template();
        self.replace_page(client, Live::Prompt, &fresh);
    }

    /// The document that the client opened or typed in last.
    fn place_of(&self, client: ClientId) -> Option<v1::PromptContext> {
        let own = self
            .documents
            .all()
            .filter(|(_, copy)| copy.client == client);
        let (_, last) = own.max_by_key(|(_, copy)| copy.touched)?;
        Some(v1::PromptContext {
            uri: last.uri.clone(),
            range: None,
        })
    }

    /// Opens the review document, at a transaction if one is named.
    pub(super) fn open_review(
        &mut self,
        client: ClientId,
        transaction: Option<String>,
        reply: Reply<()>,
    ) {
        if let Some(id) = &transaction
            && !self.transactions.contains_key(id)
        {
            return respond(reply, Err(super::unknown_transaction(id)));
        }
        self.pages.openers.push(Opener {
            client,
            transaction,
            reply,
        });
        self.pages.mark();
    }

    /// Opens the prompt file; what stands in it unsent stays.
    pub(super) fn open_prompt(&mut self, client: ClientId, reply: Reply<()>) {
        let Some(attached) = self.clients.get(&client) else {
            return;
        };
        let (opens, outbox) = (attached.profile.show_document, attached.outbox.clone());
        let is_open = self.pages.copies.contains_key(&(client, Live::Prompt));
        let sent = self.pages.sent.get(&client).cloned();
        let private = Arc::clone(&self.process.private);
        let (root, id) = (self.root.clone(), self.workspace.root().id().to_owned());
        self.runtime.spawn_blocking(move || {
            let written = super::page_path(&private, &root, &id, Live::Prompt).and_then(|path| {
                let text = prompt::kept(&super::read_page(&path), sent.as_deref());
                if is_open {
                    return Ok(path);
                }
                write_page(&path, &text).map(|()| path)
            });
            let shown = written.map(|path| super::shown(opens, path, Some(prompt::FIRST_LINE)));
            respond(reply, shown.map(|message| outbox.push(message)));
        });
    }

    /// Puts the review document together again when something changed and somebody looks at it.
    pub(in crate::hub) fn pages_tick(&mut self) {
        let pages = &mut self.pages;
        if !pages.stale || pages.running || !pages.is_wanted() {
            return;
        }
        pages.stale = false;
        pages.running = true;
        let ids: Vec<String> = self.unsettled().map(|each| each.id().to_owned()).collect();
        // Lines count in the texts as they stand in the editors.
        ids.iter().for_each(|id| self.lead(id, None));
        let transactions: Vec<_> = self.unsettled().map(|each| self.later(each)).collect();
        let approvals: Vec<v1::Approval> = self.approvals.all().map(|each| wire(each)).collect();
        let plans = self.waiting_plans();
        let hub = self.handle.clone();
        self.runtime.spawn_blocking(move || {
            let transactions = transactions.into_iter().map(|later| later()).collect();
            let reading = review(transactions, approvals, plans);
            hub.send(Event::Work(Done::Review(Arc::new(reading))));
        });
    }

    fn unsettled(&self) -> impl Iterator<Item = &redline_workspace::Transaction> {
        let all = self.transactions.values();
        all.filter(|transaction| !transaction.is_settled())
    }

    /// The review document reads so now.
    pub(in crate::hub) fn reviewed(&mut self, reading: Arc<Review>) {
        self.pages.running = false;
        if self.pages.readings.len() >= READINGS {
            self.pages.readings.pop_front();
        }
        self.pages.readings.push_back(Arc::clone(&reading));
        let open: Vec<ClientId> = self.review_clients().collect();
        for client in &open {
            self.bring_up_to_date(*client);
        }
        for opener in std::mem::take(&mut self.pages.openers) {
            self.show_review(opener, &reading, !open.is_empty());
        }
    }

    fn review_clients(&self) -> impl Iterator<Item = ClientId> {
        let keys = self.pages.copies.keys();
        keys.filter(|(_, page)| *page == Live::Review)
            .map(|(client, _)| *client)
    }

    fn show_review(&self, opener: Opener, reading: &Arc<Review>, is_open_somewhere: bool) {
        let Opener {
            client,
            transaction,
            reply,
        } = opener;
        let Some(attached) = self.clients.get(&client) else {
            return;
        };
        let line = transaction.and_then(|id| reading.line_of(&id));
        let (opens, outbox) = (attached.profile.show_document, attached.outbox.clone());
        let takes_edits = attached.profile.apply_edit;
        let private = Arc::clone(&self.process.private);
        let (root, id) = (self.root.clone(), self.workspace.root().id().to_owned());
        let reading = Arc::clone(reading);
        self.runtime.spawn_blocking(move || {
            let path = super::page_path(&private, &root, &id, Live::Review);
            let written = path.and_then(|path| {
                // Whoever opens it now is brought up to date by an edit.
                if !is_open_somewhere || !takes_edits {
                    write_page(&path, &reading.text)?;
                }
                Ok(path)
            });
            let shown = written.map(|path| super::shown(opens, path, line));
            respond(reply, shown.map(|message| outbox.push(message)));
        });
    }

    /// Edits a client's review document to what it reads now, unless the user typed in it.
    fn bring_up_to_date(&mut self, client: ClientId) {
        let Some(newest) = self.pages.readings.back().cloned() else {
            return;
        };
        let Some(open) = self.pages.copies.get(&(client, Live::Review)) else {
            return;
        };
        // What an editor brings along from an earlier sidecar is ours too: it begins like every reading.
        let is_ours = self.pages.reading(&open.copy.rope).is_some()
            || (self.pages.readings.len() == 1 && open.edited.is_none());
        if is_ours && open.copy.rope != newest.text.as_str() {
            self.replace_page(client, Live::Review, &newest.text);
        }
    }

    /// Brings a page in the client's editor to this text, line by line, so that its cursor stays.
    fn replace_page(&mut self, client: ClientId, page: Live, text: &str) {
        let Some(open) = self.pages.copies.get_mut(&(client, page)) else {
            return;
        };
        let Some(attached) = self.clients.get(&client) else {
            return;
        };
        if open.edited == Some(open.copy.version) {
            return;
        }
        if !attached.profile.apply_edit {
            // It reads the page again from the disk, when its user asks for that.
            if page == Live::Review {
                self.rewrite(page, text.to_owned());
            }
            return;
        }
        open.edited = Some(open.copy.version);
        let changes = line_changes(&open.copy.rope, text);
        let style = EditStyle::of(&attached.profile, "Redline: refresh");
        attached.outbox.push(Message::ApplyEdit {
            hub: self.handle.clone(),
            delivery: 0,
            label: "Redline: refresh".to_owned(),
            edit: workspace_edit(&[(&open.copy, changes)], &style),
        });
    }

    fn rewrite(&self, page: Live, text: String) {
        let private = Arc::clone(&self.process.private);
        let (root, id) = (self.root.clone(), self.workspace.root().id().to_owned());
        self.runtime.spawn_blocking(move || {
            let written = super::page_path(&private, &root, &id, page)
                .and_then(|path| write_page(&path, &text));
            if let Err(failure) = written {
                tracing::warn!(code = failure.code, "a page was not written");
            }
        });
    }

    /// Code actions on the lines of a client's review document.
    pub(in crate::hub) fn page_actions(
        &self,
        client: ClientId,
        page: Live,
        lines: (u32, u32),
    ) -> Vec<CodeActionOrCommand> {
        let reading = self
            .pages
            .copies
            .get(&(client, page))
            .filter(|_| page == Live::Review)
            .and_then(|open| self.pages.reading(&open.copy.rope));
        match (reading, self.clients.get(&client)) {
            (Some(reading), Some(attached)) => {
                crate::lsp::review::actions(reading, lines, &attached.profile)
            }
            _ => Vec::new(),
        }
    }

    /// Asks the model in a client's name; a refusal is shown to its user.
    pub(in crate::hub) fn ask_for_change(
        &mut self,
        client: ClientId,
        text: String,
        context: Option<v1::PromptContext>,
    ) {
        let Some(outbox) = self.clients.get(&client).map(|each| each.outbox.clone()) else {
            return;
        };
        let (reply, answer) = tokio::sync::oneshot::channel();
        let params = v1::PromptParams {
            text,
            context,
            ..v1::PromptParams::default()
        };
        self.prompt(client, params, reply);
        self.runtime.spawn(async move {
            if let Ok(Err(Failure {
                code,
                message,
                hint,
                ..
            })) = answer.await
            {
                outbox.push(Message::Show {
                    level: MessageType::ERROR,
                    text: format!("{code}: {message}\n{hint}").trim_end().to_owned(),
                });
            }
        });
    }
}

/// The changes, by whole lines, that bring `text` to `wanted`.
fn line_changes(text: &Rope, wanted: &str) -> Vec<TextChange> {
    let old = text.to_string();
    let at = |lines: Range<usize>, of: &Rope| {
        let byte = |line: usize| {
            let at = LineCol {
                line: u32::try_from(line).unwrap_or(u32::MAX),
                character: 0,
            };
            match line >= of.len_lines() {
                true => of.len_bytes(),
                false => to_byte(of, at, Encoding::Utf8),
            }
        };
        byte(lines.start)..byte(lines.end)
    };
    let new = Rope::from_str(wanted);
    let changes = diff_lines(&old, wanted).into_iter().map(|edit| {
        let came = at(edit.new, &new);
        TextChange {
            range: at(edit.old, text),
            text: wanted[came].to_owned(),
        }
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_changes_lead_to_the_wanted_text() {
        let texts = ["", "a\n", "a\nb\nc\n", "x\na\nc\n", "a\nb\nc\nd\n", "c"];
        for old in texts {
            for new in texts {
                let mut text = Rope::from_str(old);
                for change in line_changes(&text.clone(), new).into_iter().rev() {
                    let start = text.byte_to_char(change.range.start);
                    let end = text.byte_to_char(change.range.end);
                    text.remove(start..end);
                    text.insert(start, &change.text);
                }
                assert_eq!(text.to_string(), new, "{old:?} to {new:?}");
            }
        }
    }
}
