//! Search and replace in one text.

use super::{ResolveError, edited::Edited, placeholder};
use crate::matching::{Found, MatchError, Search, TextIndex};

/// A block, and the other ways in which it can be read.
pub(super) struct Readings<'c> {
    /// Search and replacement.
    pub(super) first: (&'c str, &'c str),
    pub(super) others: &'c [(String, String)],
    pub(super) whole_lines: bool,
    pub(super) all: bool,
}

impl Readings<'_> {
    pub(super) fn resolve(
        &self,
        text: &str,
        path: &str,
        literal: bool,
    ) -> Result<Edited, ResolveError> {
        let index = TextIndex::new(text);
        let found = self.find(&index, path)?;
        let mut flags = Vec::new();
        let mut splices = Vec::with_capacity(found.len());
        for place in found {
            if !literal {
                placeholder::check_splices(&place.splices, text, path, "replacement")?;
            }
            for flag in &place.flags {
                if !flags.contains(flag) {
                    flags.push(*flag);
                }
            }
            splices.extend(place.splices);
        }
        Ok(Edited::new(&index.lines, &splices, flags))
    }

    fn find(&self, index: &TextIndex<'_>, path: &str) -> Result<Vec<Found>, ResolveError> {
        let failed = |err: &MatchError| ResolveError::matching(path, "the search", err);
        let find = |(search, replace): (&str, &str)| {
            if search.is_empty() {
                return Err(MatchError::EmptySearch);
            }
            Search::new(search, replace, self.whole_lines, self.all).find(index)
        };
        let first = find(self.first);
        // A search that holds a divider is read shorter before it is read longer; when both fit,
        // the longer one does so with a line of the file that looks like a divider.
        self.others
            .iter()
            .rev()
            .find_map(|(search, replace)| find((search, replace)).ok())
            .map_or(first, Ok)
            .map_err(|err| failed(&err))
    }
}
