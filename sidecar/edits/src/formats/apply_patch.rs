//! The `*** Begin Patch` envelope.
//!
//! ```text
//! proposal = { noise | patch }
//! patch    = "*** Begin Patch" LF { section } "*** End Patch" LF
//! section  = "*** Add File: " path LF { "+" text LF }
//!          | "*** Delete File: " path LF
//!          | "*** Update File: " path LF [ "*** Move to: " path LF ] { hunk }
//! hunk     = { anchor } { line } [ "*** End of File" LF ]
//! anchor   = "@@" [ " " text ] LF | "@@ -" n [ "," n ] " +" n [ "," n ] " @@" [ text ] LF
//! line     = " " text LF | "-" text LF | "+" text LF | LF
//! ```
//!
//! An empty line inside a hunk is a blank context line; at the end of one it may also be the space
//! before the next. Noise (prose, a heredoc, a fence) may stand around a patch, not inside.

use super::{
    error::ParseError,
    input::{Lines, content},
    unified_diff::header_old_start,
};
use crate::proposal::{Change, ChangeKind, LineHunk, PatchLine, Proposal};

const BEGIN: &str = "*** Begin Patch";

pub(super) fn is_begin(line: &str) -> bool {
    line.trim_end() == BEGIN || heredoc_begin(line)
}

/// Whether the line begins a section, which only this format has.
pub(super) fn is_section(line: &str) -> bool {
    matches!(
        marker(line),
        Some(Marker::Add(_) | Marker::Delete(_) | Marker::Update(_))
    )
}

/// `apply_patch "*** Begin Patch` and its like: the mark at the end of a shell line.
fn heredoc_begin(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("apply_patch") && line.ends_with(BEGIN) || line == BEGIN
}

pub(super) fn parse(input: &str) -> Result<Proposal, ParseError> {
    let lines = Lines::new(input);
    let mut parser = Parser {
        lines: &lines,
        idx: 0,
        changes: Vec::new(),
    };
    let mut found = false;
    while let Some(line) = lines.get(parser.idx) {
        parser.idx += 1;
        if is_begin(line) {
            found = true;
            parser.patch()?;
        }
    }
    if !found {
        return Err(ParseError::malformed(
            1,
            "there is no *** Begin Patch line",
            "begin the patch with *** Begin Patch and end it with *** End Patch",
        ));
    }
    if parser.changes.is_empty() {
        return Err(ParseError::malformed(
            1,
            "the patch has no section",
            "name a file with *** Update File:, *** Add File: or *** Delete File:",
        ));
    }
    Ok(Proposal::new(parser.changes))
}

struct Parser<'a> {
    lines: &'a Lines<'a>,
    /// The next line, from 0.
    idx: usize,
    changes: Vec<Change>,
}

/// A `*** ` line of the envelope.
enum Marker<'a> {
    Add(&'a str),
    Delete(&'a str),
    Update(&'a str),
    MoveTo(&'a str),
    EndOfFile,
    EndPatch,
}

impl<'a> Parser<'a> {
    fn patch(&mut self) -> Result<(), ParseError> {
        while let Some(line) = self.lines.get(self.idx) {
            self.idx += 1;
            if line.trim().is_empty() || line.starts_with("*** Environment ID:") {
                continue;
            }
            match marker(line) {
                Some(Marker::EndPatch) => return Ok(()),
                Some(Marker::Add(path)) => self.add(path)?,
                Some(Marker::Delete(path)) => {
                    let path = self.path(path)?;
                    self.changes.push(Change::delete(path));
                }
                Some(Marker::Update(path)) => self.update(path)?,
                Some(Marker::MoveTo(_) | Marker::EndOfFile) | None => {
                    return Err(self.unexpected(line));
                }
            }
        }
        Err(ParseError::incomplete(
            self.lines.len(),
            "the patch has no *** End Patch",
        ))
    }

    /// The error for the line that was just read.
    fn unexpected(&self, line: &str) -> ParseError {
        ParseError::malformed(
            self.idx,
            format!("{} is not expected here", excerpt(line)),
            "a section begins with *** Add File:, *** Update File: or *** Delete File:; lines of \
             an update begin with a space, - or +, those of an added file with +",
        )
    }

    /// Checks the path of the line that was just read.
    fn path(&self, path: &str) -> Result<String, ParseError> {
        if path.is_empty() {
            return Err(ParseError::malformed(
                self.idx,
                "the section names no path",
                "write the path after the colon",
            ));
        }
        Ok(path.to_owned())
    }

    fn add(&mut self, path: &str) -> Result<(), ParseError> {
        let path = self.path(path)?;
        let mut text = String::new();
        let mut pending_blank = 0;
        while let Some(line) = self.lines.get(self.idx) {
            if let Some(added) = line.strip_prefix('+') {
                // An empty line between added ones lost its plus sign on the way.
                for _ in 0..std::mem::take(&mut pending_blank) {
                    text.push('\n');
                }
                text.push_str(added);
                text.push('\n');
            } else if content(line).is_empty() {
                pending_blank += 1;
            } else if matches!(marker(line), Some(Marker::EndOfFile)) {
                self.idx += 1;
                break;
            } else if line.starts_with("\\ No newline") {
                text.pop();
            } else if marker(line).is_some() {
                break;
            } else {
                self.idx += 1;
                return Err(self.unexpected(line));
            }
            self.idx += 1;
        }
        self.changes.push(Change::create(path, text));
        Ok(())
    }

    fn update(&mut self, path: &str) -> Result<(), ParseError> {
        let path = self.path(path)?;
        let section_line = self.idx;
        let mut move_to = None;
        let mut hunks: Vec<LineHunk> = Vec::new();
        let mut hunk = LineHunk::default();
        while let Some(line) = self.lines.get(self.idx) {
            self.idx += 1;
            match marker(line) {
                Some(Marker::MoveTo(to)) if hunks.is_empty() && hunk.is_blank() => {
                    move_to = Some(self.path(to)?);
                    continue;
                }
                Some(Marker::MoveTo(_)) => return Err(self.unexpected(line)),
                Some(Marker::EndOfFile) => {
                    hunk.at_end = true;
                    self.finish(&mut hunk, &mut hunks)?;
                    continue;
                }
                Some(_) => {
                    self.idx -= 1;
                    break;
                }
                None => {}
            }
            if let Some(anchor) = line.strip_prefix("@@") {
                if !hunk.lines.is_empty() {
                    self.finish(&mut hunk, &mut hunks)?;
                }
                hunk.line = if hunk.line == 0 { self.idx } else { hunk.line };
                match header_old_start(line) {
                    Some(old_start) => hunk.old_start = Some(old_start),
                    None => {
                        let anchor = anchor.trim().trim_end_matches("@@").trim_end();
                        if !anchor.is_empty() {
                            hunk.anchors.push(anchor.to_owned());
                        }
                    }
                }
                continue;
            }
            if line.starts_with("\\ No newline") {
                hunk.mark_no_newline();
                continue;
            }
            if hunk.line == 0 && !line.trim().is_empty() {
                hunk.line = self.idx;
            }
            if !hunk.push_line(line) {
                return Err(self.unexpected(line));
            }
        }
        if !hunk.is_blank() {
            self.finish(&mut hunk, &mut hunks)?;
        }
        if hunks.is_empty() && move_to.is_none() {
            return Err(ParseError::malformed(
                section_line,
                format!("the update of {path} has no hunk"),
                "write @@, then context lines, removed lines and added lines",
            ));
        }
        if !hunks.is_empty() {
            let kind = ChangeKind::Patch {
                hunks,
                deletes: false,
            };
            self.changes.push(Change::new(path.clone(), kind));
        }
        if let Some(to) = move_to {
            self.changes.push(Change::rename(path, to));
        }
        Ok(())
    }

    fn finish(&mut self, hunk: &mut LineHunk, hunks: &mut Vec<LineHunk>) -> Result<(), ParseError> {
        let mut done = std::mem::take(hunk);
        if done.is_blank() {
            return Ok(());
        }
        if done.line == 0 {
            done.line = self.idx;
        }
        if done
            .lines
            .iter()
            .all(|line| matches!(line, PatchLine::Context(_)))
        {
            return Err(ParseError::malformed(
                done.line,
                "the hunk removes nothing and adds nothing",
                "mark removed lines with - and added lines with +",
            ));
        }
        hunks.push(done);
        Ok(())
    }
}

fn marker(line: &str) -> Option<Marker<'_>> {
    let line = line.trim_end();
    let rest = line.strip_prefix("*** ")?;
    let path = |word: &str| rest.strip_prefix(word).map(str::trim);
    match rest {
        "End of File" => Some(Marker::EndOfFile),
        "End Patch" => Some(Marker::EndPatch),
        _ => None,
    }
    .or_else(|| path("Add File:").map(Marker::Add))
    .or_else(|| path("Delete File:").map(Marker::Delete))
    .or_else(|| path("Update File:").map(Marker::Update))
    .or_else(|| path("Move to:").map(Marker::MoveTo))
}

/// A line for a message, cut where it is long.
pub(super) fn excerpt(line: &str) -> String {
    let line = content(line);
    let mut cut: String = line.chars().take(60).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}
