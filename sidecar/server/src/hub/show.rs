//! Keeping every client's view current.
//!
//! Owns: who must be shown what again, and when: what changed by a decision goes out at once, what
//! merely moved with typing goes out when the typing pauses, and only to clients that cannot move
//! their own marks.
//! Must not know: why anything changed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use redline_edits::Encoding;
use redline_protocol::v1;
use ropey::Rope;

use super::documents::Copy;
use super::event::ClientId;
use super::plain::Elsewhere;
use super::present::{self, Which};
use super::{Client, Hub};
use crate::lsp::outbox::Refresh;

/// How long typing must pause before moved diagnostics are sent again.
const SETTLE: Duration = Duration::from_millis(120);

/// What must be shown again.
#[derive(Debug, Default)]
pub(crate) struct Stale {
    /// Paths whose hunks changed.
    changed: BTreeSet<String>,
    /// Paths whose hunks moved.
    moved: BTreeSet<String>,
    /// Transactions that changed.
    transactions: BTreeSet<String>,
    /// When the moved ones are due.
    due: Option<Instant>,
    /// What plain clients were sent of files that they have not open.
    elsewhere: BTreeMap<ClientId, Elsewhere>,
}

impl Stale {
    pub(crate) fn changed(&mut self, path: &str) {
        self.changed.insert(path.to_owned());
    }

    pub(crate) fn moved(&mut self, path: &str) {
        if !self.moved.contains(path) {
            self.moved.insert(path.to_owned());
        }
        self.due = Some(Instant::now() + SETTLE);
    }

    pub(crate) fn transaction(&mut self, id: &str) {
        self.transactions.insert(id.to_owned());
    }

    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.elsewhere.remove(&client);
    }

    /// When the hub must wake by itself.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }
}

impl Hub {
    /// Sends what is stale; `now` decides about what merely moved.
    pub(super) fn show(&mut self, now: Instant) {
        let settled = self.stale.due.is_some_and(|due| due <= now);
        let moved = if settled {
            self.stale.due = None;
            std::mem::take(&mut self.stale.moved)
        } else {
            BTreeSet::new()
        };
        let changed = std::mem::take(&mut self.stale.changed);
        let transactions = std::mem::take(&mut self.stale.transactions);
        if changed.is_empty() && moved.is_empty() && transactions.is_empty() {
            return;
        }
        if !changed.is_empty() || !transactions.is_empty() {
            self.pages.mark();
        }
        let counts = self.counts();
        let mut elsewhere = std::mem::take(&mut self.stale.elsewhere);
        for (&id, client) in &self.clients {
            let shown_again = |path: &String| Some((path.clone(), self.documents.get(path, id)?));
            let documents: Vec<(String, &Copy)> = changed.iter().filter_map(shown_again).collect();
            if client.profile.review {
                if changed.is_empty() && transactions.is_empty() {
                    continue;
                }
                client.outbox.changed(v1::TransactionChangedNotification {
                    transaction_ids: transactions.iter().cloned().collect(),
                    documents: documents
                        .iter()
                        .map(|(path, copy)| v1::DocumentHunks {
                            uri: copy.uri.clone(),
                            version: copy.version,
                            hunks: self.hunks_of(path, copy, &Which::Unsettled),
                        })
                        .collect(),
                    counts,
                });
                continue;
            }
            let profile = &client.profile;
            if !changed.is_empty() {
                client.outbox.refresh(Refresh {
                    diagnostics: profile.pulls_diagnostics,
                    lenses: profile.lenses && profile.lens_refresh,
                    hints: profile.hints && profile.hint_refresh,
                });
            }
            if profile.diagnostics {
                let sent = elsewhere.entry(id).or_default();
                self.show_closed(id, profile, &client.outbox, sent);
            }
            if profile.diagnostics && !profile.pulls_diagnostics {
                let again = moved
                    .iter()
                    .filter(|path| !changed.contains(*path))
                    .filter_map(shown_again);
                for (path, copy) in documents.into_iter().chain(again) {
                    self.publish(client, &path, copy);
                }
            }
        }
        self.stale.elsewhere = elsewhere;
    }

    fn publish(&self, client: &Client, path: &str, copy: &Copy) {
        let diagnostics = self.diagnostics(path, copy, &client.profile);
        let version = client.profile.diagnostic_version.then_some(copy.version);
        client.outbox.diagnostics(&copy.uri, version, diagnostics);
    }

    /// Hunks of one copy, by place.
    pub(super) fn hunks_of(&self, path: &str, copy: &Copy, which: &Which) -> Vec<v1::DocumentHunk> {
        let mut hunks: Vec<v1::DocumentHunk> = copy
            .sets
            .iter()
            .filter_map(|(id, set)| {
                let transaction = self.transactions.get(id)?;
                Some(present::document(
                    transaction,
                    path,
                    set,
                    &copy.rope,
                    copy.encoding,
                    which,
                ))
            })
            .flatten()
            .collect();
        hunks.sort_by_key(|shown| (shown.range.start.line, shown.range.end.line));
        hunks
    }

    fn counts(&self) -> v1::Counts {
        let mut counts = v1::Counts::default();
        for transaction in self.transactions.values() {
            let totals = transaction.totals();
            let (pending, conflicts) = (count(totals.pending), count(totals.conflicts));
            counts.pending += pending;
            counts.conflicts += conflicts;
            counts.transactions += u32::from(pending + conflicts > 0);
            counts.files += count(
                transaction
                    .files()
                    .filter(|file| !file.is_settled())
                    .count(),
            );
        }
        counts
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Length of a line of the copy, without its ending, in its client's encoding.
pub(super) fn line_length(copy: &Copy, line: u32) -> u32 {
    rope_line_length(&copy.rope, line, copy.encoding)
}

/// Length of a line of a text, without its ending, in this encoding.
pub(super) fn rope_line_length(rope: &Rope, line: u32, encoding: Encoding) -> u32 {
    let line = line as usize;
    if line >= rope.len_lines() {
        return 0;
    }
    let end = if line + 1 < rope.len_lines() {
        rope.line_to_byte(line + 1)
    } else {
        rope.len_bytes()
    };
    let text = rope.byte_slice(rope.line_to_byte(line)..end);
    let ending = text
        .chars_at(text.len_chars())
        .reversed()
        .take_while(|c| matches!(c, '\n' | '\r'))
        .count();
    let last = end.saturating_sub(ending);
    redline_edits::to_line_col(rope, last, encoding).character
}
