//! Bytes as a source of choices.

/// Choices made by a fuzzer or a property test.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    /// The next byte, while there is one.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number below `limit` (0 when the limit is 0).
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let wide = if limit > 256 {
            usize::from(self.byte().unwrap_or(0)) << 8
        } else {
            0
        };
        let choice = wide + usize::from(self.byte().unwrap_or(0));
        choice.checked_rem(limit).unwrap_or(0)
    }

    /// One of `options`.
    pub(super) fn pick<'o, T>(&mut self, options: &'o [T]) -> Option<&'o T> {
        options.get(self.below(options.len()))
    }

    /// A number from 0 to 255.
    pub(super) fn any(&mut self) -> u8 {
        self.byte().unwrap_or(0)
    }
}
