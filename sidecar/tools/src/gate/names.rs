//! Patterns of paths and hosts, as rules and plans write them.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Globs of paths from the workspace's root: one without `/` matches that name in every folder, and one that matches a folder
/// covers what is below it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathGlobs(GlobSet);

impl PathGlobs {
    /// Compiles globs; what is wrong with one otherwise.
    pub(crate) fn compile(globs: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for text in globs {
            for glob in spellings(text, false)? {
                set.add(glob);
            }
        }
        let set = set.build().map_err(|error| error.to_string())?;
        Ok(Self(set))
    }

    /// Whether one of them matches.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

/// A glob, and one for what is below a folder that it matches; what is wrong with it otherwise.
pub(super) fn spellings(glob: &str, ignores_case: bool) -> Result<[Glob; 2], String> {
    let trimmed = glob.trim_matches('/');
    let anywhere = match trimmed.contains('/') {
        true => trimmed.to_owned(),
        // A leading slash says that the root's own name is meant.
        false if glob.starts_with('/') => trimmed.to_owned(),
        false => format!("**/{trimmed}"),
    };
    let compile = |text: &str| {
        GlobBuilder::new(text)
            .literal_separator(true)
            .case_insensitive(ignores_case)
            .backslash_escape(true)
            .build()
            .map_err(|error| format!("the glob `{glob}` does not parse: {}", error.kind()))
    };
    Ok([compile(&format!("{anywhere}/**"))?, compile(&anywhere)?])
}

/// Whether a host fits: a name, `*.example.org` for all below one, `*` for all. Both in lower case.
pub(crate) fn host_fits(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => host
            .strip_suffix(domain)
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        None => pattern == "*" || pattern == host,
    }
}
