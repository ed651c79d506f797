//! Lines become numbers: equal contents, equal numbers.
//!
//! The hash is seeded per process, so that nobody can prepare a file whose lines all collide; the
//! numbers do not depend on it.

use std::{
    hash::{BuildHasher, RandomState},
    sync::OnceLock,
};

/// A text with the offsets of its lines.
type Lines<'a> = (&'a str, &'a [usize]);

/// Numbers the lines of both texts, in order of first appearance.
pub(super) fn intern(old: Lines<'_>, new: Lines<'_>) -> (Vec<u32>, Vec<u32>) {
    let count = old.1.len() + new.1.len();
    let mut table = Table::new(count);
    let old = table.number(old);
    let new = table.number(new);
    (old, new)
}

/// An open-addressing table of line contents.
struct Table<'a> {
    mask: usize,
    seed: u64,
    /// Low half of the hash and number plus one (zero: free).
    slots: Vec<(u32, u32)>,
    contents: Vec<&'a [u8]>,
    /// A last line without LF, which no finished line equals.
    unfinished: Option<(&'a str, u32)>,
}

impl<'a> Table<'a> {
    fn new(lines: usize) -> Self {
        let size = (lines * 2).next_power_of_two().max(16);
        Self {
            mask: size - 1,
            seed: seed(),
            slots: vec![(0, 0); size],
            contents: Vec::with_capacity(lines),
            unfinished: None,
        }
    }

    fn number(&mut self, (text, offsets): Lines<'a>) -> Vec<u32> {
        let ends = offsets.windows(2).map(|ends| ends[0]..ends[1]);
        ends.map(|line| {
            let line = &text[line];
            match line.as_bytes().strip_suffix(b"\n") {
                Some(finished) => self.id(without_returns(finished)),
                None => self.unfinished_id(line),
            }
        })
        .collect()
    }

    fn unfinished_id(&mut self, line: &'a str) -> u32 {
        match self.unfinished {
            Some((known, id)) if known == line => id,
            _ => {
                self.contents.push(b"\n");
                let id = self.contents.len() as u32 - 1;
                self.unfinished = Some((line, id));
                id
            }
        }
    }

    fn id(&mut self, content: &'a [u8]) -> u32 {
        let hash = hash(content, self.seed);
        let tag = hash as u32;
        let mut slot = (hash >> 32) as usize & self.mask;
        loop {
            match self.slots[slot] {
                (_, 0) => {
                    self.contents.push(content);
                    let id = self.contents.len() as u32;
                    self.slots[slot] = (tag, id);
                    return id - 1;
                }
                (found, id) if found == tag && self.contents[id as usize - 1] == content => {
                    return id - 1;
                }
                _ => slot = (slot + 1) & self.mask,
            }
        }
    }
}

/// CRs right before the LF are part of the ending, which is not compared.
fn without_returns(line: &[u8]) -> &[u8] {
    match line {
        [.., b'\r'] => {
            let kept = line.iter().rposition(|&byte| byte != b'\r');
            &line[..kept.map_or(0, |last| last + 1)]
        }
        _ => line,
    }
}

fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().hash_one(0_u64) | 1)
}

/// The hash of a line's content: the same for equal contents, within one process.
pub(crate) fn line_hash(content: &[u8]) -> u64 {
    hash(content, seed())
}

/// Folded multiplication over words of eight bytes.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    const KEY: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = seed ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = u64::from_le_bytes([
            word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
        ]);
        state = fold(state ^ word, KEY ^ seed);
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    fold(fold(state ^ u64::from_le_bytes(last), KEY), seed)
}

fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}
