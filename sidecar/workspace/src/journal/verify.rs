//! Checking the journal, line by line.

use std::fmt;

use super::record::{ReadLine, Sum};
use super::{FILE, tail};
use crate::store::{Store, StoreError, StorePath};

/// What is wrong at one place of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, relative to `.agentic`.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The sequence number, where the line still tells.
    pub seq: Option<u64>,
    /// What is wrong, in words.
    pub problem: String,
    /// Whether it is the unfinished last line of a process that was killed, which harms nothing.
    pub torn: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.problem),
            line => write!(f, "{}:{line}: {}", self.file, self.problem),
        }
    }
}

impl Finding {
    pub(super) fn set_aside(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: 0,
            seq: None,
            problem: "set aside".into(),
            torn: false,
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How many sound records there are.
    pub records: u64,
    /// How many files were read.
    pub files: usize,
    /// What is wrong, in order.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is damaged; a torn last line is no damage.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.torn)
    }
}

/// One file read through.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) records: u64,
    /// Length up to the end of the last sound line.
    pub(super) sound_len: u64,
    /// Number and sum of the last sound line.
    pub(super) seq: u64,
    pub(super) sum: Sum,
    /// The highest number that any line claims.
    pub(super) highest_seq: u64,
    pub(super) findings: Vec<Finding>,
}

impl Scan {
    /// Whether the file can be gone on with, once what follows `sound_len` is cut off.
    pub(super) fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.torn)
    }
}

/// Reads a file through. `before`: number and sum of the last line of the file before, when it is kept.
pub(super) fn scan(file: &str, bytes: &[u8], before: Option<(u64, Sum)>) -> Scan {
    let mut scan = Scan {
        records: 0,
        sound_len: 0,
        seq: before.as_ref().map_or(0, |(seq, _)| *seq),
        sum: before
            .as_ref()
            .map(|(_, sum)| sum.clone())
            .unwrap_or_default(),
        highest_seq: before.as_ref().map_or(0, |(seq, _)| *seq),
        findings: Vec::new(),
    };
    let mut offset = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        offset += line.len();
        let finding = |seq, problem: String, torn| Finding {
            file: file.into(),
            line: index + 1,
            seq,
            problem,
            torn,
        };
        let Some(line) = line.strip_suffix(b"\n") else {
            scan.findings
                .push(finding(None, "the last line is torn".into(), true));
            break;
        };
        let read = match ReadLine::read(line) {
            Ok(read) => read,
            Err(problem) => {
                scan.findings.push(finding(None, problem, false));
                continue;
            }
        };
        scan.highest_seq = scan.highest_seq.max(read.seq);
        let mut problems = Vec::new();
        if index == 0 {
            match read.starts_after() {
                None => problems.push("the first line is not the journal's header".to_owned()),
                Some(start) if before.is_none() => {
                    scan.sum = start;
                    scan.seq = read.seq.saturating_sub(1);
                }
                Some(start) if start != scan.sum && !start.as_str().is_empty() => {
                    problems.push("it does not go on from the file before".to_owned());
                    scan.sum = start;
                }
                Some(start) => scan.sum = start,
            }
        }
        if read.seq != scan.seq + 1 {
            problems.push(format!("its number is {}, not {}", read.seq, scan.seq + 1));
        }
        if !read.follows(&scan.sum) {
            problems.push("its sum is wrong: it, or the line before, was changed".to_owned());
        }
        if problems.is_empty() {
            scan.records += 1;
            if scan.is_sound() {
                scan.sound_len = offset as u64;
            }
        }
        scan.findings.extend(
            problems
                .into_iter()
                .map(|problem| finding(Some(read.seq), problem, false)),
        );
        // Go on from what the line says, so that one bad line is one finding.
        scan.seq = read.seq;
        scan.sum = read.sum;
    }
    scan
}

/// Checks all files of `store`'s journal.
pub(super) fn verify(store: &Store) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let path = StorePath::new(FILE)?;
    let Some(folder) = store.folder_above(&path)? else {
        return Ok(report);
    };
    let rotated = tail::rotated(store, &folder)?;
    let names = rotated
        .into_iter()
        .map(|(_, name)| name)
        .chain([FILE.to_owned()]);
    let mut before = None;
    for name in names {
        let Some(bytes) = store.read(&StorePath::new(name.as_str())?)? else {
            continue;
        };
        let scan = scan(&name, &bytes, before.take());
        report.files += 1;
        report.records += scan.records;
        report.findings.extend(scan.findings);
        before = Some((scan.seq, scan.sum));
    }
    let aside = folder
        .names()
        .map_err(|error| store.io("", "listing", error))?;
    let mut aside: Vec<_> = aside
        .iter()
        .filter(|name| name.starts_with("journal.") && name.contains(".corrupt"))
        .collect();
    aside.sort();
    report
        .findings
        .extend(aside.into_iter().map(|name| Finding::set_aside(name)));
    Ok(report)
}
