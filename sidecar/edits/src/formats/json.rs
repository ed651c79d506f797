//! JSON edits, in the shapes that agents and language servers send.
//!
//! ```text
//! proposal = entry | [ entry, … ] | { "edits" | "files" | "documents": [ entry, … ], common… }
//!          | { "documentChanges": [ entry, … ] } | { "changes": { uri: [ lsp-edit, … ] } }
//!          | { "edit": proposal } | { "patch" | "diff": text } | { "format": name, "text": text }
//! common   = "path", "encoding", "rationale", "complete", "literal", "strip"
//! entry    = { path, search, replace, "replace_all"? }
//!          | { path, "text" | "content"…, "base_text"?, "complete"?, "rename_to"?, "mode"? }
//!          | { path, "delete": true } | { path, "rename_to": path }
//!          | { path, "version"?, "edits": [ lsp-edit, … ] } | { path, lsp-edit… }
//!          | { path, "edits": [ { search, replace }, … ] }
//!          | { "create": path, "options"? } | { "rename": [path, path], "options"? }
//!          | { "delete": path, "options"? }
//!          | { "kind": "create" | "rename" | "delete", "uri" | "oldUri", "newUri", "options"? }
//!          | { "command": "str_replace" | "create" | "insert", path, … }
//! path     = "path" | "file_path" | "file" | "filename" | "uri" | "textDocument": { "uri" }
//! search   = "search" | "old_string" | "old_text" | "old_str" | "oldText" | "oldString" | "old"
//! replace  = "replace" | "new_string" | "new_text" | "new_str" | "newText" | "newString" | "new"
//! lsp-edit = { "range": range, "newText": text }
//! range    = { "start": position, "end": position } | [ [line, column], [line, column] ]
//! ```
//!
//! A Markdown fence around it all is taken off. What is not understood is refused: nothing is
//! applied in part.

mod entry;
mod locate;
mod value;

use serde_json::{Map, Value};

use self::value::{Problem, Step};
use super::{Format, ParseOptions, error::ParseError, input::fence};
use crate::{
    positions::Encoding,
    proposal::{Change, Proposal},
};

/// Whether the input is JSON that could hold edits.
pub(super) fn looks_like(input: &str) -> bool {
    let (_, text) = unfence(input.strip_prefix(crate::text::BOM).unwrap_or(input));
    let mut rest = text.chars().filter(|c| !c.is_whitespace());
    matches!(
        (rest.next(), rest.next()),
        (Some('{'), Some('"' | '}')) | (Some('['), Some('{' | ']'))
    )
}

/// Takes a Markdown fence off; gives the number of lines above what is left, too.
fn unfence(input: &str) -> (usize, &str) {
    let text = input.trim_start();
    let above = input[..input.len() - text.len()].matches('\n').count();
    let Some((first, rest)) = text.split_once('\n') else {
        return (above, text);
    };
    if fence(first).is_none() {
        return (above, text);
    }
    let rest = rest.trim_end();
    let rest = rest
        .strip_suffix("```")
        .or_else(|| rest.strip_suffix("~~~"))
        .unwrap_or(rest);
    (above + 1, rest)
}

pub(super) fn parse(input: &str, options: &ParseOptions) -> Result<Proposal, ParseError> {
    let (above, text) = unfence(input);
    let value: Value = serde_json::from_str(text).map_err(|err| {
        let line = above + err.line();
        if err.is_eof() {
            ParseError::incomplete(line, "the JSON ends before it is complete")
        } else {
            ParseError::malformed(
                line,
                format!("this is not JSON: {err}"),
                "send one JSON object or array of edits",
            )
        }
    })?;
    let mut reader = Reader {
        options,
        proposal: Proposal::default(),
    };
    let common = Common::default();
    reader
        .root(&value, &common)
        .and_then(|()| match reader.proposal.changes.is_empty() {
            true => Err(Problem::new("there is no edit in it")),
            false => Ok(()),
        })
        .map_err(|problem| problem.into_error(text, above))?;
    Ok(reader.proposal)
}

/// What an object says for all entries inside.
#[derive(Debug, Clone, Default)]
struct Common {
    path: Option<String>,
    encoding: Encoding,
    version: Option<i32>,
    rationale: Option<String>,
}

struct Reader<'o> {
    options: &'o ParseOptions,
    proposal: Proposal,
}

/// Lists of entries, by their names.
const LISTS: [&str; 4] = ["edits", "files", "documents", "documentChanges"];

impl Reader<'_> {
    fn root(&mut self, value: &Value, common: &Common) -> Result<(), Problem> {
        match value {
            Value::Array(entries) => self.entries(entries, common),
            Value::Object(object) => self.object(object, common),
            _ => Err(Problem::new("an object or an array of edits is expected")),
        }
    }

    fn entries(&mut self, entries: &[Value], common: &Common) -> Result<(), Problem> {
        for (idx, entry) in entries.iter().enumerate() {
            self.entry(entry, common)
                .map_err(|problem| problem.at(Step::Index(idx)))?;
        }
        Ok(())
    }

    fn object(&mut self, object: &Map<String, Value>, common: &Common) -> Result<(), Problem> {
        let common = self.common(object, common)?;
        if let Some(edit) = object.get("edit").filter(|edit| edit.is_object()) {
            return self
                .root(edit, &common)
                .map_err(|problem| problem.at(Step::Key("edit")));
        }
        if self.is_inner_text(object, &common)? {
            return Ok(());
        }
        let mut found = false;
        // A client that understands documentChanges ignores changes.
        if let Some(changes) = object
            .get("changes")
            .filter(|_| !object.contains_key("documentChanges"))
        {
            found = true;
            match changes {
                Value::Array(entries) => self.entries(entries, &common),
                Value::Object(by_uri) => self.changes(by_uri, &common),
                _ => Err(Problem::new("an object or an array is expected")),
            }
            .map_err(|problem| problem.at(Step::Key("changes")))?;
        }
        // One document's own edits are an entry and not a list of entries.
        let is_document = common.path.is_some() || object.contains_key("kind");
        for list in LISTS {
            match object.get(list) {
                Some(Value::Array(entries)) if !(list == "edits" && is_document) => {
                    found = true;
                    self.entries(entries, &common)
                        .map_err(|problem| problem.at(Step::Key(list)))?;
                }
                Some(Value::Array(_)) | None => {}
                Some(_) => {
                    return Err(Problem::new("an array is expected").at(Step::Key(list)));
                }
            }
        }
        if found {
            return Ok(());
        }
        self.entry_object(object, &common)
    }

    /// Reads what holds for everything below; flags of the whole proposal are kept at once.
    fn common(&mut self, object: &Map<String, Value>, outer: &Common) -> Result<Common, Problem> {
        let mut common = outer.clone();
        if let Some(path) = value::path(object)? {
            common.path = Some(path);
        }
        if let Some(name) = value::string(object, &["encoding", "position_encoding"])? {
            common.encoding = name
                .parse()
                .map_err(|why: String| Problem::new(why).at(Step::Key("encoding")))?;
        }
        if let Some(rationale) = value::rationale(object)? {
            match common.path.is_some() {
                true => common.rationale = Some(rationale),
                false => self.proposal.rationale = Some(rationale),
            }
        }
        if common.path.is_none() {
            self.proposal.incomplete |= value::flag(object, &["complete"])? == Some(false);
            self.proposal.literal |= value::flag(object, &["literal"])? == Some(true);
        }
        Ok(common)
    }

    /// Reads an object that wraps another format's text.
    fn is_inner_text(
        &mut self,
        object: &Map<String, Value>,
        common: &Common,
    ) -> Result<bool, Problem> {
        if common.path.is_some() {
            return Ok(false);
        }
        let format = value::string(object, &["format"])?;
        let Some(text) = value::string(object, &["patch", "diff", "input", "text"])? else {
            return Ok(false);
        };
        let format = match format {
            Some(name) => name
                .parse()
                .map_err(|why: String| Problem::new(why).at(Step::Key("format")))?,
            None => super::detect(&text)
                .ok_or_else(|| Problem::new("its text is none of the edit formats"))?,
        };
        if format == Format::Json {
            return Err(Problem::new("JSON inside a JSON string is not read"));
        }
        let mut options = self.options.clone();
        if let Some(strip) = object.get("strip").and_then(Value::as_u64) {
            options.strip = usize::try_from(strip).ok();
        }
        let inner = super::parse(format, &text, &options).map_err(Problem::inner)?;
        self.proposal.changes.extend(inner.changes);
        Ok(true)
    }

    /// The `changes` of a workspace edit.
    fn changes(&mut self, by_uri: &Map<String, Value>, common: &Common) -> Result<(), Problem> {
        for (uri, edits) in by_uri {
            let at = |problem: Problem| problem.at(Step::Field(uri.clone()));
            let Value::Array(edits) = edits else {
                return Err(at(Problem::new("an array of text edits is expected")));
            };
            let kind = entry::text_edits(edits, common).map_err(at)?;
            self.push(Change::new(uri, kind), common);
        }
        Ok(())
    }

    fn push(&mut self, mut change: Change, common: &Common) {
        if change.rationale.is_none() {
            change.rationale.clone_from(&common.rationale);
        }
        self.proposal.changes.push(change);
    }
}
