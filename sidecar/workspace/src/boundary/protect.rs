//! Which paths nothing may write: repository internals, the durable store, the project's own settings.
//!
//! Names are compared as the most forgiving file system would: without case, after Unicode compatibility
//! normalisation, without code points that HFS+ ignores, without the trailing dots and spaces, streams and
//! short names of NTFS. Protection is integrity: reading stays allowed.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use super::{PathError, WorkspacePath};

/// The name of the durable store's folder.
pub(crate) const STORE: &str = ".agentic";

/// The name of a project's settings, at its root.
const SETTINGS: &str = "redline.toml";

/// The protected names and globs of one workspace.
#[derive(Debug, Default)]
pub(super) struct Protected {
    globs: GlobSet,
    patterns: Vec<String>,
}

impl Protected {
    /// `patterns`: globs relative to the root; one without `/` matches that name in every folder, and one
    /// that matches a folder protects what is below it.
    pub(super) fn new(patterns: &[String]) -> Result<Self, PathError> {
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            let bad = |error: globset::Error| PathError::BadPath {
                path: pattern.clone(),
                reason: format!("this glob of protected paths does not parse: {error}"),
            };
            let folded = fold(pattern.trim_matches('/')).into_owned();
            let anywhere = if folded.contains('/') {
                folded
            } else {
                format!("**/{folded}")
            };
            let glob = GlobBuilder::new(&anywhere)
                .literal_separator(true)
                .case_insensitive(true)
                .backslash_escape(true)
                .build();
            globs.add(glob.map_err(bad)?);
        }
        let globs = globs.build().map_err(|error| PathError::BadPath {
            path: patterns.join(" "),
            reason: format!("these globs of protected paths do not parse: {error}"),
        })?;
        Ok(Self {
            globs,
            patterns: patterns.to_vec(),
        })
    }

    /// Whether these are its globs.
    pub(super) fn are(&self, patterns: &[String]) -> bool {
        self.patterns == patterns
    }

    /// The rule that protects `path` by its text alone.
    pub(super) fn rule(&self, path: &WorkspacePath) -> Option<String> {
        let names: Vec<Cow<'_, str>> = path.components().map(fold).collect();
        for (depth, name) in names.iter().enumerate() {
            if is_git(name) {
                return Some("git's own files (.git)".into());
            }
            if depth == 0 && is_store(name) {
                return Some("the durable store (.agentic)".into());
            }
        }
        if let [name] = names.as_slice()
            && name == SETTINGS
        {
            return Some("the project's settings (redline.toml)".into());
        }
        self.glob_rule(&names)
    }

    fn glob_rule(&self, names: &[Cow<'_, str>]) -> Option<String> {
        if self.patterns.is_empty() {
            return None;
        }
        let mut prefix = String::new();
        for name in names {
            if !prefix.is_empty() {
                prefix.push('/');
            }
            prefix.push_str(name);
            if let Some(&first) = self.globs.matches(&prefix).first() {
                return Some(format!("the configured glob `{}`", self.patterns[first]));
            }
        }
        None
    }
}

fn is_git(folded: &str) -> bool {
    folded == ".git" || folded == "git~1"
}

fn is_store(folded: &str) -> bool {
    folded == STORE || folded == "agenti~1"
}

/// One component (or one `/`-separated path) as the most forgiving file system compares it.
pub(super) fn fold(name: &str) -> Cow<'_, str> {
    let plain = name
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b':');
    if plain && !name.ends_with(['.', ' ']) {
        return Cow::Borrowed(name);
    }
    let visible = name
        .nfkc()
        .filter(|&c| !is_ignored(c))
        .flat_map(char::to_lowercase);
    // Lower case can leave marks that compose only now.
    let mut folded: String = visible.nfkc().collect();
    // NTFS: `name:stream` is a stream of `name`, and trailing dots and spaces do not count.
    if let Some(colon) = folded.find(':') {
        folded.truncate(colon);
    }
    folded.truncate(folded.trim_end_matches(['.', ' ']).len());
    Cow::Owned(folded)
}

/// Code points that HFS+ leaves out when it compares names, and others that show nothing.
fn is_ignored(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}
