//! `workspace_read`: the text of a file, or some of its lines.

use redline_edits::FileState;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::place;
use crate::tool::{CallContext, Tool, parse};
use crate::{Envelope, ErrorCode, Schema, SchemaError, ToolError};

const NAME: &str = "workspace_read";
/// Most lines and bytes of one result.
const MAX_LINES: usize = 2000;
const MAX_BYTES: usize = 96 * 1024;

/// Reads a file of the proposed view.
#[derive(Debug)]
pub struct WorkspaceRead(Schema);

#[derive(Deserialize)]
struct Arguments {
    path: String,
    start_line: Option<usize>,
    end_line: Option<usize>,
    #[serde(default = "yes")]
    numbered: bool,
}

fn yes() -> bool {
    true
}

impl WorkspaceRead {
    /// Makes the tool.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": {
                "path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "File from the workspace root."},
                "start_line": {"type": "integer", "minimum": 1, "maximum": 100_000_000, "description": "First line, from 1; absent: the beginning."},
                "end_line": {"type": "integer", "minimum": 1, "maximum": 100_000_000, "description": "Last line, included; absent: the end, or as much as fits."},
                "numbered": {"type": "boolean", "description": "Put `LINE<tab>` before each line (the default). The number and the tab are not part of the text."},
            },
        });
        Schema::compile(NAME, schema).map(Self)
    }
}

impl Tool for WorkspaceRead {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Reads a text file as it will be with the pending edits of this session. At most 2000 lines at a time; `cut` says when there is more, and `recovery.resume` is the call that reads on."
    }

    fn schema(&self) -> &Schema {
        &self.0
    }

    fn mutates(&self) -> bool {
        false
    }

    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        let arguments: Arguments = parse(arguments)?;
        let path = place::file(context, &arguments.path)?.to_string();
        let (text, version) = text_of(context, &path)?;
        let range = Range::of(&text, arguments.start_line, arguments.end_line, &path)?;
        let revision = redline_edits::text_revision(&text);
        let shown = range.show(&text, arguments.numbered);
        let data = json!({
            "path": path,
            "start_line": range.start,
            "end_line": range.end,
            "total_lines": range.total,
            "cut": range.cut(),
            "line_endings": endings(&text),
            "ends_with_newline": text.is_empty() || text.ends_with('\n'),
            "open_in_editor": version.is_some(),
            "text": shown,
        });
        let mut envelope = Envelope::ok(NAME, "read", data)
            .with_id("text_revision", revision.as_str())
            .with_fact("path", path.clone())
            .with_fact(
                "lines",
                format!("{}-{} of {}", range.start, range.end, range.total),
            )
            .omitting("/data/text");
        if range.cut() {
            let again = json!({"path": path, "start_line": range.end + 1});
            envelope = envelope.resuming(json!({"tool": NAME, "arguments": again}));
        }
        Ok(envelope)
    }
}

/// The text at `path`, and the version of its open document.
fn text_of(context: &CallContext<'_>, path: &str) -> Result<(String, Option<i32>), ToolError> {
    let refuse =
        |code: ErrorCode, what: String| Err(ToolError::new(code, format!("{path} {what}")));
    match context.view.read(path)? {
        FileState::Text { text, version, .. } => Ok((text, version)),
        FileState::Missing => {
            let error = ToolError::new(ErrorCode::NotFound, format!("{path} does not exist"));
            Err(match context.view.similar(path) {
                Some(near) => {
                    error.with_hint(format!("There is a {near}; list the folder to see more."))
                }
                None => error,
            })
        }
        FileState::Binary { size_bytes } => refuse(
            ErrorCode::NotText,
            format!("is a binary file of {size_bytes} bytes"),
        ),
        FileState::Undecodable { byte, offset } => refuse(
            ErrorCode::Encoding,
            format!("is not UTF-8: byte 0x{byte:02X} at offset {offset}"),
        ),
        FileState::TooLarge {
            size_bytes,
            limit_bytes,
        } => refuse(
            ErrorCode::TooLarge,
            format!("has {size_bytes} bytes; at most {limit_bytes} are read"),
        ),
        FileState::Directory { .. } => refuse(ErrorCode::IsDirectory, "is a folder".to_owned()),
        FileState::Symlink { target } => {
            let target: String = target.chars().take(200).collect();
            refuse(
                ErrorCode::IsSymlink,
                format!("is a symbolic link to {target:?}"),
            )
        }
        _ => refuse(
            ErrorCode::Unsupported,
            "is no file that can be read".to_owned(),
        ),
    }
}

/// The lines to show, from 1, both ends included; `end` is `start - 1` for an empty file.
#[derive(Debug, PartialEq, Eq)]
struct Range {
    start: usize,
    end: usize,
    total: usize,
    /// The last line that was asked for.
    wanted: usize,
    /// Bytes of the last shown line, when even one line is more than fits.
    partial: Option<usize>,
}

impl Range {
    fn of(
        text: &str,
        start: Option<usize>,
        end: Option<usize>,
        path: &str,
    ) -> Result<Self, ToolError> {
        let total = text.split_inclusive('\n').count();
        let start = start.unwrap_or(1);
        if start > total.max(1) {
            let message = format!("{path} has {total} lines; line {start} is beyond its end");
            return Err(ToolError::new(ErrorCode::OutOfRange, message));
        }
        if let Some(end) = end.filter(|end| *end < start) {
            let message = format!("`end_line` {end} is before `start_line` {start}");
            return Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .with_hint("Call it again with the smaller line as `start_line`."));
        }
        let wanted = end.unwrap_or(total).min(total);
        let mut shown = start - 1;
        let mut bytes = 0;
        let mut partial = None;
        for line in text
            .split_inclusive('\n')
            .skip(start - 1)
            .take((wanted + 1 - start).min(MAX_LINES))
        {
            if bytes + line.len() > MAX_BYTES {
                // A line that alone is too long is shown in part: there is no smaller call for it.
                if bytes == 0 {
                    partial = Some(floor_boundary(line, MAX_BYTES));
                    shown += 1;
                }
                break;
            }
            bytes += line.len();
            shown += 1;
        }
        Ok(Self {
            start,
            end: shown,
            total,
            wanted,
            partial,
        })
    }

    fn cut(&self) -> bool {
        self.end < self.wanted || self.partial.is_some()
    }

    fn show(&self, text: &str, numbered: bool) -> String {
        let mut out = String::new();
        let count = (self.end + 1).saturating_sub(self.start);
        for (offset, line) in text
            .split_inclusive('\n')
            .skip(self.start - 1)
            .take(count)
            .enumerate()
        {
            if numbered {
                out.push_str(&format!("{}\t", self.start + offset));
            }
            match self.partial {
                Some(bytes) => {
                    out.push_str(&line[..bytes]);
                    out.push_str(&format!("… (line cut: {} bytes in all)\n", line.len()));
                }
                // The model writes LF; the ending of the file comes back when an edit is applied.
                None => match line.strip_suffix("\r\n") {
                    Some(body) => {
                        out.push_str(body);
                        out.push('\n');
                    }
                    None => out.push_str(line),
                },
            }
        }
        out
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

fn endings(text: &str) -> &'static str {
    let crlf = text.matches("\r\n").count();
    let all = text.matches('\n').count();
    match (crlf, all) {
        (_, 0) => "none",
        (0, _) => "lf",
        (crlf, all) if crlf == all => "crlf",
        _ => "mixed",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ranges_are_cut_by_lines_and_bytes() {
        let text = "a\r\nb\nc";
        let all = Range::of(text, None, None, "p").unwrap();
        assert_eq!(
            all,
            Range {
                start: 1,
                end: 3,
                total: 3,
                wanted: 3,
                partial: None
            }
        );
        assert_eq!(all.show(text, true), "1\ta\n2\tb\n3\tc");
        assert_eq!(
            Range::of(text, Some(2), Some(9), "p")
                .unwrap()
                .show(text, false),
            "b\nc"
        );
        assert_eq!(
            Range::of(text, Some(4), None, "p").unwrap_err().code,
            ErrorCode::OutOfRange
        );
        assert_eq!(
            Range::of(text, Some(3), Some(2), "p").unwrap_err().code,
            ErrorCode::InvalidArguments
        );

        let empty = Range::of("", None, None, "p").unwrap();
        assert_eq!((empty.start, empty.end, empty.cut()), (1, 0, false));
        assert_eq!(empty.show("", true), "");

        let many = "x\n".repeat(MAX_LINES + 5);
        let first = Range::of(&many, None, None, "p").unwrap();
        assert_eq!((first.end, first.cut()), (MAX_LINES, true));
        let rest = Range::of(&many, Some(first.end + 1), None, "p").unwrap();
        assert_eq!((rest.end, rest.cut()), (MAX_LINES + 5, false));

        let long = "é".repeat(MAX_BYTES);
        let cut = Range::of(&long, None, None, "p").unwrap();
        assert!(cut.cut() && cut.show(&long, false).contains("line cut"));
    }

    #[test]
    fn endings_are_told() {
        assert_eq!(
            ["a", "a\n", "a\r\n", "a\r\nb\n"].map(endings),
            ["none", "lf", "crlf", "mixed"]
        );
    }
}
