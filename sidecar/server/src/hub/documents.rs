//! The open documents of a workspace: one copy for each client that has one open.
//!
//! Owns: the text of each copy as its editor holds it, its version, and the anchors of every hunk in it.
//! Must not know: clients' capabilities, transactions, disks.
//!
//! Invariant: the sets of a copy are anchored to exactly its text; both move in one call.
//! Cost of a change: that of the rope's edit, and a logarithm of the hunks for each set.

use std::collections::BTreeMap;

use redline_edits::{Encoding, HunkEvent, HunkSet, LineCol, to_byte};
use ropey::Rope;
use tower_lsp::ls_types::TextDocumentContentChangeEvent;

use super::event::ClientId;

/// Name of a transaction's hunks in one path: the transaction's id.
pub(crate) type SetId = String;

/// One client's copy of one document.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) client: ClientId,
    /// As the client spelled it.
    pub(crate) uri: String,
    pub(crate) version: i32,
    pub(crate) rope: Rope,
    pub(crate) encoding: Encoding,
    /// Larger for a copy that was typed in later.
    pub(crate) touched: u64,
    /// The text may differ from the disk's.
    pub(crate) dirty: bool,
    pub(crate) sets: BTreeMap<SetId, HunkSet>,
}

/// What a change did to one hunk.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) set: SetId,
    pub(crate) event: HunkEvent,
}

impl Copy {
    /// Applies the changes of one `didChange`, in order.
    pub(crate) fn change(
        &mut self,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
    ) -> Vec<Happened> {
        let mut happened = Vec::new();
        for change in changes {
            match change.range {
                Some(range) => {
                    let start = self.byte(range.start);
                    let end = self.byte(range.end);
                    let (start, end) = (start.min(end), start.max(end));
                    self.splice(start..end, &change.text, &mut happened);
                }
                None => self.replace(&change.text, &mut happened),
            }
        }
        self.version = version;
        self.dirty = true;
        happened
    }

    fn byte(&self, position: tower_lsp::ls_types::Position) -> usize {
        let at = LineCol {
            line: position.line,
            character: position.character,
        };
        to_byte(&self.rope, at, self.encoding)
    }

    fn splice(
        &mut self,
        range: std::ops::Range<usize>,
        inserted: &str,
        happened: &mut Vec<Happened>,
    ) {
        let before = self.rope.clone();
        let (start, end) = (
            self.rope.byte_to_char(range.start),
            self.rope.byte_to_char(range.end),
        );
        if start < end {
            self.rope.remove(start..end);
        }
        if !inserted.is_empty() {
            self.rope.insert(start, inserted);
        }
        let mut events = Vec::new();
        for (id, set) in &mut self.sets {
            set.change(&before, range.clone(), inserted, &self.rope, &mut events);
            happened.extend(events.drain(..).map(|event| Happened {
                set: id.clone(),
                event,
            }));
        }
    }

    /// A whole new text: each set takes it as one change, which it reduces to what really differs.
    fn replace(&mut self, text: &str, happened: &mut Vec<Happened>) {
        let all = 0..self.rope.len_bytes();
        self.splice(all, text, happened);
    }

    /// Puts a new set in, or takes one out.
    pub(crate) fn put(&mut self, id: &str, set: Option<HunkSet>) {
        match set {
            Some(set) => self.sets.insert(id.to_owned(), set),
            None => self.sets.remove(id),
        };
    }
}

/// All open copies.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    copies: BTreeMap<String, Vec<Copy>>,
    clock: u64,
}

impl Documents {
    /// Adds a copy; one that the same client already had is replaced.
    pub(crate) fn open(&mut self, path: &str, mut copy: Copy) {
        self.clock += 1;
        copy.touched = self.clock;
        let copies = self.copies.entry(path.to_owned()).or_default();
        copies.retain(|other| other.client != copy.client);
        copies.push(copy);
    }

    /// Takes a copy out.
    pub(crate) fn close(&mut self, path: &str, client: ClientId) -> Option<Copy> {
        let copies = self.copies.get_mut(path)?;
        let at = copies.iter().position(|copy| copy.client == client)?;
        let copy = copies.remove(at);
        if copies.is_empty() {
            self.copies.remove(path);
        }
        Some(copy)
    }

    /// Paths of documents that some client holds unsaved.
    pub(crate) fn unsaved(&self) -> Vec<String> {
        let copies = self.copies.iter();
        let unsaved = copies.filter(|(_, copies)| copies.iter().any(|copy| copy.dirty));
        unsaved.map(|(path, _)| path.clone()).collect()
    }

    /// Paths that a client has open.
    pub(crate) fn paths_of(&self, client: ClientId) -> Vec<String> {
        self.copies
            .iter()
            .filter(|(_, copies)| copies.iter().any(|copy| copy.client == client))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// All copies of a path.
    pub(crate) fn of(&self, path: &str) -> &[Copy] {
        self.copies.get(path).map_or(&[], Vec::as_slice)
    }

    /// All copies of a path, to change them.
    pub(crate) fn of_mut(&mut self, path: &str) -> &mut [Copy] {
        self.copies.get_mut(path).map_or(&mut [], Vec::as_mut_slice)
    }

    /// A client's copy.
    pub(crate) fn get(&self, path: &str, client: ClientId) -> Option<&Copy> {
        self.of(path).iter().find(|copy| copy.client == client)
    }

    /// A client's copy, to change it; it counts as typed in.
    pub(crate) fn touch(&mut self, path: &str, client: ClientId) -> Option<&mut Copy> {
        self.clock += 1;
        let clock = self.clock;
        let copy = self
            .copies
            .get_mut(path)?
            .iter_mut()
            .find(|copy| copy.client == client)?;
        copy.touched = clock;
        Some(copy)
    }

    /// The copy that decides for `client`: its own, else the one typed in last.
    pub(crate) fn leading(&self, path: &str, client: Option<ClientId>) -> Option<&Copy> {
        let own = client.and_then(|client| self.get(path, client));
        own.or_else(|| self.of(path).iter().max_by_key(|copy| copy.touched))
    }

    /// Paths with at least one copy.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.copies.keys().map(String::as_str)
    }

    /// Every copy with its path.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Copy)> {
        self.copies
            .iter()
            .flat_map(|(path, copies)| copies.iter().map(move |copy| (path.as_str(), copy)))
    }
}
