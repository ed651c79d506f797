//! Prompts that stand in a comment of an open document: sent by a code action, which takes the comment out.
//!
//! Owns: what is taken out, and holding the prompt back until it is gone, so that the model does not read it twice.
//! Must not know: what a comment looks like (`lsp::comments`), or how a turn runs.

use std::ops::Range;
use std::time::{Duration, Instant};

use redline_edits::TextChange;
use redline_protocol::v1;

use super::documents::Copy;
use super::event::{ClientId, Reply};
use super::offers::{EditStyle, line_bytes, workspace_edit};
use super::{Hub, respond};
use crate::failure::Failure;
use crate::lsp::actions::CommentPlace;
use crate::lsp::comments::{self, Prompt};
use crate::lsp::outbox::Message;

/// How long the editor may take to take the comment out before the prompt goes without that.
const PATIENCE: Duration = Duration::from_secs(2);

/// Most lines of a selection that are looked at.
const MAX_LINES: u32 = 200;

/// Prompts whose comments are on their way out.
#[derive(Default)]
pub(crate) struct Comments {
    waiting: Vec<Waiting>,
}

struct Waiting {
    client: ClientId,
    path: String,
    place: CommentPlace,
    due: Instant,
}

impl Comments {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.waiting.iter().map(|each| each.due).min()
    }

    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.waiting.retain(|each| each.client != client);
    }
}

impl Hub {
    /// The prompts in comments of some lines of a copy.
    pub(super) fn comment_prompts(
        &self,
        path: &str,
        copy: &Copy,
        (first, last): (u32, u32),
    ) -> Vec<CommentPlace> {
        let lines = first..=last.min(first.saturating_add(MAX_LINES));
        let found = lines.filter_map(|line| {
            let (_, prompt) = prompt_at(path, copy, line)?;
            Some(CommentPlace {
                uri: copy.uri.clone(),
                line,
                text: prompt.text,
            })
        });
        found.collect()
    }

    /// Has the editor take the comment out, then asks what it said.
    pub(super) fn ask_comment(&mut self, client: ClientId, place: &CommentPlace, reply: Reply<()>) {
        let changed = || {
            Failure::new(
                "STALE_HUNK",
                "the comment is not there any more, or says something else now",
                "ask for the code actions again",
            )
        };
        let Some(path) = self.path_of(&place.uri) else {
            return respond(reply, Err(changed()));
        };
        let found = self
            .documents
            .get(&path, client)
            .and_then(|copy| Some((copy, prompt_at(&path, copy, place.line)?)))
            .filter(|(_, (_, prompt))| prompt.text == place.text);
        let (Some((copy, (bytes, _))), Some(attached)) = (found, self.clients.get(&client)) else {
            return respond(reply, Err(changed()));
        };
        let mut due = Instant::now();
        if attached.profile.apply_edit {
            due += PATIENCE;
            let gone = TextChange {
                range: bytes,
                text: String::new(),
            };
            let label = "Redline: take the comment out";
            attached.outbox.push(Message::ApplyEdit {
                hub: self.handle.clone(),
                delivery: 0,
                label: label.to_owned(),
                edit: workspace_edit(
                    &[(copy, vec![gone])],
                    &EditStyle::of(&attached.profile, label),
                ),
            });
        }
        self.comments.waiting.push(Waiting {
            client,
            path,
            place: place.clone(),
            due,
        });
        respond(reply, Ok(()));
    }

    /// Sends the prompts whose comments are gone, or have been waited for long enough.
    pub(super) fn comments_tick(&mut self, now: Instant) {
        let waiting = std::mem::take(&mut self.comments.waiting);
        for each in waiting {
            let copy = self.documents.get(&each.path, each.client);
            let is_there = copy
                .and_then(|copy| prompt_at(&each.path, copy, each.place.line))
                .is_some_and(|(_, prompt)| prompt.text == each.place.text);
            if is_there && each.due > now {
                self.comments.waiting.push(each);
                continue;
            }
            let at = v1::Position {
                line: each.place.line,
                character: 0,
            };
            let context = v1::PromptContext {
                uri: each.place.uri,
                range: Some(v1::Range { start: at, end: at }),
            };
            self.ask_for_change(each.client, each.place.text, Some(context));
        }
    }
}

/// The prompt in a line of a copy, and the bytes of the document that go with it.
fn prompt_at(path: &str, copy: &Copy, line: u32) -> Option<(Range<usize>, Prompt)> {
    let whole = line_bytes(copy, line, line);
    let text = copy.rope.byte_slice(whole.clone()).to_string();
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let prompt = comments::find(text.trim_end_matches(['\n', '\r']), extension)?;
    let bytes = match prompt.is_alone {
        true => whole,
        false => whole.start + prompt.bytes.start..whole.start + prompt.bytes.end,
    };
    Some((bytes, prompt))
}
