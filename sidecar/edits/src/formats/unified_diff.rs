//! Unified diffs, plain or with git's extended headers.
//!
//! ```text
//! proposal = { noise | file }
//! file     = [ "diff --git " name " " name LF { extended LF } ]
//!            [ "--- " name [ TAB stamp ] LF "+++ " name [ TAB stamp ] LF { hunk } ]
//! extended = "old mode " m | "new mode " m | "new file mode " m | "deleted file mode " m
//!          | "rename from " path | "rename to " path | "copy from " path | "copy to " path
//!          | "similarity index " n "%" | "dissimilarity index " n "%" | "index " …
//!          | "Binary files " … " differ" | "GIT binary patch"
//! hunk     = "@@ -" n [ "," n ] " +" n [ "," n ] " @@" [ section ] LF { line }
//! line     = ( " " | "-" | "+" ) text LF | LF | "\ No newline at end of file" LF
//! name     = "/dev/null" | path | '"' path with C escapes '"'
//! ```
//!
//! The counts of a hunk header are believed when the body agrees with them; else the body decides
//! and the change is flagged `recounted`. Its line numbers are a hint for whoever looks for the
//! place; a header without numbers (`@@`, `@@ ... @@`) gives no hint and no counts. An empty line in
//! a hunk is a blank context line that lost its space.

mod file;
mod header;
mod name;
mod order;

use self::file::FileDiff;
pub(super) use self::header::header_old_start;
use super::{
    ParseOptions,
    apply_patch::excerpt,
    error::ParseError,
    input::{Lines, content, fence},
};
use crate::proposal::{LineHunk, Proposal};

/// Whether `line` can only be the start of a unified diff; `previous` is the line before it.
pub(super) fn is_start(previous: &str, line: &str) -> bool {
    line.starts_with("diff --git ")
        || previous.starts_with("--- ") && line.starts_with("+++ ")
        || header::Header::parse(line).is_some()
}

pub(super) fn parse(input: &str, options: &ParseOptions) -> Result<Proposal, ParseError> {
    let lines = Lines::new(input);
    let mut parser = Parser {
        lines: &lines,
        idx: 0,
    };
    let mut files = Vec::new();
    while let Some(file) = parser.next_file()? {
        files.push(file.into_changes(options)?);
    }
    let changes = order::vacate_first(files);
    if changes.is_empty() {
        return Err(ParseError::malformed(
            1,
            "there is no file header",
            "begin each file with --- a/PATH and +++ b/PATH",
        ));
    }
    Ok(Proposal::new(changes))
}

struct Parser<'a> {
    lines: &'a Lines<'a>,
    /// The next line, from 0.
    idx: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self, ahead: usize) -> &'a str {
        self.lines.get(self.idx + ahead).unwrap_or_default()
    }

    /// Whether a plain file header (`---`, `+++`) is at the line `ahead`.
    fn is_names(&self, ahead: usize) -> bool {
        self.peek(ahead).starts_with("--- ") && self.peek(ahead + 1).starts_with("+++ ")
    }

    /// Reads up to the end of the next file's last hunk.
    fn next_file(&mut self) -> Result<Option<FileDiff<'a>>, ParseError> {
        while self.idx < self.lines.len() {
            let line = self.peek(0);
            let mut file = FileDiff::new(self.idx + 1);
            if let Some(names) = line.strip_prefix("diff --git ") {
                self.idx += 1;
                file.git_names = Some(content(names));
                self.extended(&mut file)?;
                if self.is_names(0) {
                    self.names(&mut file)?;
                }
                return Ok(Some(file));
            }
            if self.is_names(0) {
                self.names(&mut file)?;
                return Ok(Some(file));
            }
            if header::Header::parse(line).is_some() {
                return Err(ParseError::malformed(
                    self.idx + 1,
                    "a hunk stands before any file header",
                    "begin each file with --- a/PATH and +++ b/PATH",
                ));
            }
            if line.starts_with("--- ") && self.idx + 1 == self.lines.len() {
                return Err(ParseError::incomplete(
                    self.idx + 1,
                    "the diff ends inside a file header",
                ));
            }
            self.idx += 1;
        }
        Ok(None)
    }

    fn extended(&mut self, file: &mut FileDiff<'a>) -> Result<(), ParseError> {
        while self.idx < self.lines.len() && !self.is_names(0) {
            if !file.take_extended(content(self.peek(0)), self.idx + 1)? {
                break;
            }
            self.idx += 1;
        }
        Ok(())
    }

    fn names(&mut self, file: &mut FileDiff<'a>) -> Result<(), ParseError> {
        file.old_name = Some(content(&self.peek(0)[4..]));
        file.new_name = Some(content(&self.peek(1)[4..]));
        file.names_line = self.idx + 1;
        self.idx += 2;
        loop {
            // Blank lines, fences and prose between hunks are noise.
            let mut ahead = 0;
            while self.idx + ahead < self.lines.len()
                && (self.peek(ahead).trim().is_empty() || fence(self.peek(ahead)).is_some())
            {
                ahead += 1;
            }
            let line = self.peek(ahead);
            if !line.starts_with("@@") {
                return Ok(());
            }
            let Some(header) = header::Header::parse(line) else {
                self.idx += ahead + 1;
                let hunk = self.hunk_without_numbers(line)?;
                file.hunks.push(hunk);
                continue;
            };
            self.idx += ahead + 1;
            if file.is_new() && file.hunks.is_empty() && self.new_text(&header, &mut file.text) {
                continue;
            }
            let hunk = self.hunk(&header, file)?;
            file.hunks.push(hunk);
        }
    }

    /// Reads the body of a new file's hunk straight into its text, where it is as its header says.
    fn new_text(&mut self, header: &header::Header, text: &mut String) -> bool {
        let end = self.idx.saturating_add(header.new_count);
        let mut added = (self.idx..end).map(|idx| self.lines.get(idx)?.strip_prefix('+'));
        let start = text.len();
        let complete = added.all(|line| match line {
            Some(line) => {
                text.push_str(line);
                text.push('\n');
                true
            }
            None => false,
        });
        if !complete || header.old_count != 0 || self.goes_on(end) {
            text.truncate(start);
            return false;
        }
        self.idx = end;
        if self.peek(0).starts_with('\\') {
            self.idx += 1;
            text.pop();
        }
        true
    }

    /// Reads a hunk whose header says nothing.
    fn hunk_without_numbers(&mut self, header: &str) -> Result<LineHunk, ParseError> {
        if header.starts_with("@@ -") {
            return Err(ParseError::malformed(
                self.idx,
                format!("{} is no hunk header", excerpt(header)),
                "write @@ -LINE,COUNT +LINE,COUNT @@",
            ));
        }
        let start = self.idx;
        let (mut hunk, end) = self.body(start, None)?;
        if hunk.lines.len() == hunk.loose_tail {
            return Err(ParseError::malformed(
                start,
                "the hunk has no lines",
                "write the context, removed and added lines under the hunk header",
            ));
        }
        self.idx = end;
        hunk.line = start;
        Ok(hunk)
    }

    fn hunk(
        &mut self,
        header: &header::Header,
        file: &mut FileDiff<'a>,
    ) -> Result<LineHunk, ParseError> {
        let start = self.idx;
        let number = file.hunks.len() + 1;
        let (mut hunk, mut end) = self.body(start, Some(header))?;
        let counted = hunk.counts() == (header.old_count, header.new_count);
        if !counted || self.goes_on(end) {
            (hunk, end) = self.body(start, None)?;
            let found = hunk.counts();
            if found != (header.old_count, header.new_count) {
                self.check_recount(header, number, found, end, start)?;
                if !file.flags.contains(&"recounted") {
                    file.flags.push("recounted");
                }
            }
        } else {
            hunk.loose_tail = 0;
        }
        self.idx = end;
        hunk.old_start = Some(header.old_start);
        hunk.line = start;
        Ok(hunk)
    }

    /// Reads a body from the line `start`, at most as long as `header` declares.
    fn body(
        &self,
        start: usize,
        header: Option<&header::Header>,
    ) -> Result<(LineHunk, usize), ParseError> {
        let mut hunk = LineHunk::default();
        let mut idx = start;
        let (mut old, mut new) = (0, 0);
        while let Some(line) = self.lines.get(idx) {
            if line.starts_with('\\') {
                hunk.mark_no_newline();
                idx += 1;
                continue;
            }
            match header {
                Some(header) if old >= header.old_count && new >= header.new_count => break,
                Some(_) => {}
                None if self.is_boundary(idx) => break,
                None => {}
            }
            if !hunk.push_line(line) {
                break;
            }
            match line.chars().next() {
                Some('-') => old += 1,
                Some('+') => new += 1,
                _ => (old, new) = (old + 1, new + 1),
            }
            idx += 1;
        }
        Ok((hunk, idx))
    }

    /// Whether the line at `idx` begins something that is no body line, though it may look like
    /// one.
    fn is_boundary(&self, idx: usize) -> bool {
        let line = self.lines.get(idx).unwrap_or_default();
        let next = self.lines.get(idx + 1).unwrap_or_default();
        let after_next = self.lines.get(idx + 2).unwrap_or_default();
        let names = line.starts_with("--- ")
            && next.starts_with("+++ ")
            && (after_next.starts_with("@@") || after_next.is_empty());
        let signature = line == "-- " && idx + 2 >= self.lines.len().saturating_sub(1);
        names || signature
    }

    /// Whether the body seems to go on at `idx`, where the header says that it ends.
    fn goes_on(&self, idx: usize) -> bool {
        let mut idx = idx;
        while self.lines.get(idx).is_some_and(str::is_empty) {
            idx += 1;
        }
        self.lines
            .get(idx)
            .is_some_and(|line| line.starts_with([' ', '-', '+']))
            && !self.is_boundary(idx)
            && !self
                .lines
                .get(idx)
                .is_some_and(|line| line.starts_with("--- "))
    }

    fn check_recount(
        &self,
        header: &header::Header,
        number: usize,
        found: (usize, usize),
        end: usize,
        start: usize,
    ) -> Result<(), ParseError> {
        let (old, new) = found;
        let counts = if header.old_count != old {
            format!("{} declared, {old} found", header.old_count)
        } else {
            format!("{} declared, {new} found", header.new_count)
        };
        let cut_off = end >= self.lines.len()
            && !self.lines.ends_with_newline()
            && (old < header.old_count || new < header.new_count);
        if cut_off {
            return Err(ParseError::incomplete(
                end,
                format!("hunk {number} ends in the middle of a line ({counts})"),
            ));
        }
        if old == 0 && new == 0 {
            return Err(ParseError::malformed(
                start,
                format!("hunk {number} has no lines ({counts})"),
                "write the context, removed and added lines under the hunk header",
            ));
        }
        Ok(())
    }
}
