//! Search and replace in one text.

use super::{
    ResolveError, placeholder,
    splice::{Edited, Splice},
};
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
                placeholder::check_replacement(
                    &text[place.range.clone()],
                    &place.replacement,
                    path,
                    "replacement",
                )?;
            }
            for flag in &place.flags {
                if !flags.contains(flag) {
                    flags.push(*flag);
                }
            }
            splices.push(Splice::adapted(
                &index.lines,
                place.range,
                &place.replacement,
                place.rung,
            ));
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
        let mut fitting = Vec::new();
        if self.others.is_empty() {
            return first.map_err(|err| failed(&err));
        }
        fitting.extend(first.as_ref().ok().cloned());
        for (search, replace) in self.others {
            fitting.extend(find((search, replace)));
        }
        match fitting.len() {
            1 => Ok(fitting.remove(0)),
            0 => Err(match first {
                Err(err) => failed(&err),
                Ok(_) => failed(&MatchError::EmptySearch),
            }),
            n => Err(ResolveError::Malformed {
                path: path.to_owned(),
                message: format!(
                    "the block has several ======= lines, and {n} ways of reading it fit the file"
                ),
                hint: "use longer marker runs for the block, such as <<<<<<<<< SEARCH with \
                       =========",
            }),
        }
    }
}
