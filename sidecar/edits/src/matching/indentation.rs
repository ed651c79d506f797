//! A uniform shift of indentation between two blocks, and how a replacement follows it.

/// All non-blank lines of a block begin with `from` where the file has `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shift {
    from: String,
    to: String,
}

impl Shift {
    /// The one shift that turns every first line into its second, trailing white space aside.
    ///
    /// Blank lines may differ. `None` where the lines differ in more, or not all alike.
    pub(super) fn between<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let pairs: Vec<_> = pairs
            .map(|(searched, found)| (searched.trim_end(), found.trim_end()))
            .filter(|(searched, found)| !(searched.is_empty() && found.is_empty()))
            .collect();
        let mut from = indentation(pairs.first()?.0);
        for (searched, _) in &pairs {
            while !searched.starts_with(from) {
                from = &from[..from.char_indices().next_back()?.0];
            }
        }
        let (searched, found) = pairs.first()?;
        let to = found.strip_suffix(&searched[from.len()..])?;
        let uniform = pairs
            .iter()
            .all(|(searched, found)| found.strip_prefix(to) == Some(&searched[from.len()..]));
        // What follows the shift may be indented deeper, but the shift itself is white space.
        (uniform && to.trim().is_empty()).then(|| Self {
            from: from.to_owned(),
            to: to.to_owned(),
        })
    }

    /// Shifts a line of the replacement likewise; `None` where it is not indented enough.
    pub(crate) fn apply(&self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return Some(line.to_owned());
        }
        if let Some(added) = self.to.strip_suffix(&self.from) {
            return Some(format!("{added}{line}"));
        }
        let (dropped, put) = match self.from.strip_suffix(&self.to) {
            Some(dropped) => (dropped, ""),
            None => (self.from.as_str(), self.to.as_str()),
        };
        line.strip_prefix(dropped)
            .map(|rest| format!("{put}{rest}"))
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}
