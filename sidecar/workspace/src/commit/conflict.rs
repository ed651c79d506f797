//! What a conflict looks like to people: where it is and its three sides.

use std::fmt;

/// One place where what is to be applied no longer fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictReport {
    /// The path.
    pub path: String,
    /// 1-based first line in today's text, when the conflict is about lines.
    pub line: Option<usize>,
    /// The hunk, when it is about one.
    pub hunk: Option<String>,
    /// One clause: what happened.
    pub reason: String,
    /// What the hunk was written against.
    pub base: String,
    /// What stands there now.
    pub current: String,
    /// What was proposed.
    pub proposed: String,
}

impl ConflictReport {
    /// A conflict about a whole file.
    pub(crate) fn of_file(path: &str, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: None,
            hunk: None,
            reason: reason.into(),
            base: String::new(),
            current: String::new(),
            proposed: String::new(),
        }
    }
}

impl fmt::Display for ConflictReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        write!(f, ": {}", self.reason)?;
        if !self.current.is_empty() || !self.proposed.is_empty() {
            write!(
                f,
                " (there now: {:?}; proposed: {:?})",
                short(&self.current),
                short(&self.proposed)
            )?;
        }
        Ok(())
    }
}

/// The first line, cut to what fits a message.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    if line.chars().count() <= LONGEST && text.lines().count() <= 1 {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(LONGEST).collect();
    cut.push('…');
    cut
}
