//! A prompt as it comes from a client: its text, and what stands around it.
//!
//! Owns: the excerpt of the document that a prompt is about.
//! Must not know: how a turn runs.

use redline_agent::{Document, PromptContext, Selection, excerpt};
use redline_protocol::v1;

use super::Hub;
use super::event::ClientId;

/// Bytes of the open document that a prompt carries.
const EXCERPT_BYTES: usize = 6000;

impl Hub {
    pub(super) fn prompt_context(
        &self,
        client: ClientId,
        place: Option<&v1::PromptContext>,
    ) -> PromptContext {
        let mut context = PromptContext {
            open_paths: self.documents.paths().map(str::to_owned).collect(),
            ..PromptContext::default()
        };
        let Some(place) = place else { return context };
        let Some(path) = self.path_of(&place.uri) else {
            return context;
        };
        let Some(copy) = self.documents.leading(&path, Some(client)) else {
            return context;
        };
        context.open_paths.retain(|open| *open != path);
        let text = copy.rope.to_string();
        let line = place.range.map_or(0, |range| range.start.line as usize);
        let (start_line, shown, total_lines) = excerpt(&text, line + 1, EXCERPT_BYTES);
        context.document = Some(Document {
            path: path.clone(),
            cursor_line: line + 1,
            start_line,
            total_lines,
            text: shown,
        });
        if let Some(range) = place.range
            && range.start != range.end
        {
            let byte = |at: v1::Position| {
                let at = redline_edits::LineCol {
                    line: at.line,
                    character: at.character,
                };
                redline_edits::to_byte(&copy.rope, at, copy.encoding)
            };
            let (start, end) = (byte(range.start), byte(range.end));
            let ends_before = range.end.character == 0 && range.end.line > range.start.line;
            context.selection = Some(Selection {
                path,
                start_line: line + 1,
                end_line: range.end.line as usize + usize::from(!ends_before),
                text: text
                    .get(start..end.max(start))
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
        context
    }
}

/// The text of a prompt, and the first document that its blocks link.
pub(super) fn prompt_text(params: &v1::PromptParams) -> (String, Option<v1::PromptContext>) {
    let mut texts = Vec::new();
    let mut linked = None;
    for block in &params.prompt {
        match block {
            v1::ContentBlock::Text { text } => texts.push(text.as_str()),
            v1::ContentBlock::ResourceLink { uri, .. } => {
                linked.get_or_insert_with(|| v1::PromptContext {
                    uri: uri.clone(),
                    range: None,
                });
            }
        }
    }
    texts.push(&params.text);
    texts.retain(|text| !text.trim().is_empty());
    (texts.join("\n\n"), linked)
}
