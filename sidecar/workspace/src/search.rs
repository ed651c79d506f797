//! Searching the project with ripgrep's own crates.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cap_std::fs::OpenOptionsExt;
use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use crate::boundary::{WorkspacePath, WorkspaceRoot};
use crate::walk::{Overlay, Scope, SearchError, Walk};

/// Most of one line that is kept, in bytes.
const LONGEST_LINE: usize = 512;

/// Whether case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// It counts when the pattern holds an upper-case letter.
    #[default]
    Smart,
    /// It counts.
    Sensitive,
    /// It does not.
    Insensitive,
}

/// What to search for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The text, or with `regex` the expression.
    pub pattern: String,
    /// Whether the pattern is a regular expression (ripgrep's syntax).
    pub regex: bool,
    /// Whether case counts.
    pub case: Case,
    /// Whether matches must be whole words.
    pub words: bool,
    /// How many lines to show before and after each match.
    pub context: usize,
    /// Where to search.
    pub scope: Scope,
    /// How many matching lines to return at most.
    pub limit: usize,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The file.
    pub path: WorkspacePath,
    /// The line, from 1.
    pub line: u64,
    /// The line's text without its end, cut around the first match when it is long.
    pub text: String,
    /// Where `text` starts in the line, in bytes; not 0 for a long line.
    pub offset: usize,
    /// The matches in `text`, in bytes.
    pub ranges: Vec<Range<usize>>,
    /// The lines before, nearest last.
    pub before: Vec<String>,
    /// The lines after, nearest first.
    pub after: Vec<String>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// By path, then line.
    pub matches: Vec<Match>,
    /// Whether there are more matching lines than were asked for.
    pub truncated: bool,
    /// Whether the search was cancelled before its end.
    pub cancelled: bool,
    /// How many files were searched.
    pub files: usize,
    /// Files that could not be read, and why.
    pub unread: Vec<(WorkspacePath, String)>,
}

/// Searches for `query`, with `overlay` over the disk, on `threads` threads.
///
/// Binary files are passed over, links are not followed. The first `limit` lines by path and line are
/// returned, whatever the number of threads.
///
/// # Errors
///
/// [`SearchError`] for the pattern, a glob or the folder.
pub fn search(
    root: &WorkspaceRoot,
    query: &Query,
    overlay: &Overlay,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Found, SearchError> {
    let matcher = matcher(query)?;
    let files = files(root, query, overlay, threads, cancel)?;
    let next = AtomicUsize::new(0);
    let lines = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let unread = Mutex::new(Vec::new());
    let work = || {
        let mut searcher = searcher(query);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // Files are taken in order, so what is left once there is enough comes after what was found.
            let enough = lines.load(Ordering::Relaxed) > query.limit;
            let Some(path) = files
                .get(index)
                .filter(|_| !enough && !cancel.load(Ordering::Relaxed))
            else {
                return;
            };
            let text = overlay.get(path).and_then(Option::as_deref);
            let mut lines_here = Lines {
                path,
                matcher: &matcher,
                limit: query.limit,
                cancel,
                matches: Vec::new(),
                before: Vec::new(),
            };
            let searched = match text {
                Some(text) => searcher.search_slice(&matcher, text.as_bytes(), &mut lines_here),
                None => search_disk(root, path, &mut searcher, &matcher, &mut lines_here),
            };
            let matches = lines_here.matches;
            match searched {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let mut unread = unread.lock().unwrap_or_else(PoisonError::into_inner);
                    unread.push((path.clone(), error.to_string()));
                }
                // One that vanished meanwhile has no matches.
                Ok(()) | Err(_) => {}
            }
            lines.fetch_add(matches.len(), Ordering::Relaxed);
            if !matches.is_empty() {
                found
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((index, matches));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    let mut matches: Vec<Match> = found.into_iter().flat_map(|(_, matches)| matches).collect();
    let truncated = matches.len() > query.limit;
    matches.truncate(query.limit);
    let files = next.into_inner().min(files.len());
    let mut unread = unread.into_inner().unwrap_or_else(PoisonError::into_inner);
    unread.sort();
    Ok(Found {
        matches,
        truncated,
        cancelled: cancel.load(Ordering::Relaxed),
        files,
        unread,
    })
}

/// The files to search, sorted: those on the disk and those that only the overlay has.
fn files(
    root: &WorkspaceRoot,
    query: &Query,
    overlay: &Overlay,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Vec<WorkspacePath>, SearchError> {
    let mut walk = Walk::new(root, &query.scope)?;
    let mut files = walk.files(threads, cancel);
    if !overlay.is_empty() {
        files.retain(|path| overlay.get(path).is_none_or(Option::is_some));
        let added = overlay
            .iter()
            .filter(|(path, text)| text.is_some() && walk.covers(path));
        files.extend(added.map(|(path, _)| path.clone()));
        files.sort_unstable();
        files.dedup();
    }
    Ok(files)
}

fn matcher(query: &Query) -> Result<RegexMatcher, SearchError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .crlf(true)
        .word(query.words)
        .fixed_strings(!query.regex);
    // A hostile expression must not take the machine's memory.
    builder
        .size_limit(8 << 20)
        .dfa_size_limit(32 << 20)
        .nest_limit(200);
    match query.case {
        Case::Smart => builder.case_smart(true),
        Case::Sensitive => builder.case_insensitive(false),
        Case::Insensitive => builder.case_insensitive(true),
    };
    let bad = |reason: String| SearchError::Pattern {
        pattern: query.pattern.clone(),
        reason,
    };
    if query.pattern.is_empty() {
        return Err(bad("it is empty".into()));
    }
    builder
        .build(&query.pattern)
        .map_err(|error| bad(error.to_string()))
}

fn searcher(query: &Query) -> Searcher {
    SearcherBuilder::new()
        // The matcher's: a line ends at LF, and a CR before it belongs to the end.
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .before_context(query.context)
        .after_context(query.context)
        .heap_limit(Some(64 << 20))
        .build()
}

fn search_disk(
    root: &WorkspaceRoot,
    path: &WorkspacePath,
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    lines: &mut Lines<'_>,
) -> std::io::Result<()> {
    let mut options = cap_std::fs::OpenOptions::new();
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = root.folder().beneath().open_with(path.as_str(), &options)?;
    // It was a file when the folder was walked; a pipe that took its name must not hold us up.
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    searcher.search_file(matcher, &file.into_std(), lines)
}

/// Collects the matching lines of one file.
struct Lines<'a> {
    path: &'a WorkspacePath,
    matcher: &'a RegexMatcher,
    limit: usize,
    cancel: &'a AtomicBool,
    matches: Vec<Match>,
    before: Vec<String>,
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let bytes = trim_end(found.bytes());
        let mut ranges = Vec::new();
        self.matcher.find_iter(bytes, |range| {
            ranges.push(range.start()..range.end());
            ranges.len() < 100
        })?;
        let start = ranges.first().map_or(0, |range| range.start);
        let (text, offset) = cut(bytes, start);
        let shown = |range: &Range<usize>| {
            let start = range.start.checked_sub(offset)?;
            (start <= text.len()).then(|| start..(range.end - offset).min(text.len()))
        };
        self.matches.push(Match {
            path: self.path.clone(),
            line: found.line_number().unwrap_or(0),
            ranges: ranges.iter().filter_map(shown).collect(),
            text,
            offset,
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(self.matches.len() <= self.limit && !self.cancel.load(Ordering::Relaxed))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        let (text, _) = cut(trim_end(context.bytes()), 0);
        match context.kind() {
            SinkContextKind::Before | SinkContextKind::Other => self.before.push(text),
            SinkContextKind::After => {
                if let Some(last) = self.matches.last_mut() {
                    last.after.push(text);
                }
            }
        }
        Ok(!self.cancel.load(Ordering::Relaxed))
    }
}

fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of a line that is shown: all of it, or what lies around `at`. With where it starts.
fn cut(line: &[u8], at: usize) -> (String, usize) {
    if line.len() <= LONGEST_LINE {
        return match String::from_utf8(line.to_vec()) {
            Ok(text) => (text, 0),
            Err(_) => (String::from_utf8_lossy(line).into_owned(), 0),
        };
    }
    let is_start = |at: usize| line.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let start = at.saturating_sub(LONGEST_LINE / 4);
    let start = (start..line.len())
        .find(|&at| is_start(at))
        .unwrap_or(start);
    let end = (start + LONGEST_LINE).min(line.len());
    let end = (start..=end).rev().find(|&at| is_start(at)).unwrap_or(end);
    (
        String::from_utf8_lossy(&line[start..end]).into_owned(),
        start,
    )
}

#[cfg(test)]
mod tests;
