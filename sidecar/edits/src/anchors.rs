//! Where ranges lie in a text that changes under them.
//!
//! A segment tree over the ranges in order of their starts: moving everything behind a change is
//! one addition on `O(log n)` nodes, and so is finding what a change touches. Knows offsets and
//! nothing of what lies there. Ranges may overlap; those with equal starts keep the order in which
//! they were given.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// A start that no text reaches: pads the tree to a power of two.
const NOWHERE: i64 = i64::MAX / 4;
/// An end before every text, for the same padding.
const NO_END: i64 = i64::MIN / 4;

/// The ranges, by slot (their rank in order of starts); each carries the key of its owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchors {
    keys: Vec<u32>,
    /// Leaves of the tree, a power of two; node `i` has the children `2i` and `2i + 1`.
    width: usize,
    nodes: Vec<Node>,
}

/// What holds for all leaves below, seen from the node's parent.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Added to every offset below; already part of the two others.
    shift: i64,
    last_start: i64,
    max_end: i64,
}

const PADDING: Node = Node {
    shift: 0,
    last_start: NOWHERE,
    max_end: NO_END,
};

impl Anchors {
    /// Builds the tree of `ranges`, which are sorted by start.
    pub(crate) fn new(ranges: impl IntoIterator<Item = (u32, Range<usize>)>) -> Self {
        let (keys, ranges): (Vec<u32>, Vec<Range<usize>>) = ranges.into_iter().unzip();
        debug_assert!(ranges.is_sorted_by_key(|range| range.start));
        let width = ranges.len().next_power_of_two();
        let mut nodes = vec![PADDING; width * 2];
        for (slot, range) in ranges.iter().enumerate() {
            nodes[width + slot] = leaf(range);
        }
        let mut anchors = Self { keys, width, nodes };
        for node in (1..width).rev() {
            anchors.refresh(node);
        }
        anchors
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The owner of the range at `slot`.
    pub(crate) fn key(&self, slot: usize) -> u32 {
        self.keys[slot]
    }

    /// The range at `slot`.
    pub(crate) fn range(&self, slot: usize) -> Range<usize> {
        let mut node = self.width + slot;
        let Node {
            last_start: mut start,
            max_end: mut end,
            ..
        } = self.nodes[node];
        while node > 1 {
            node /= 2;
            start += self.nodes[node].shift;
            end += self.nodes[node].shift;
        }
        start as usize..end as usize
    }

    /// All ranges with their keys, in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, Range<usize>)> + '_ {
        (0..self.len()).map(|slot| (self.keys[slot], self.range(slot)))
    }

    /// The first slot whose range starts at or after `offset`; `len()` when none does.
    pub(crate) fn first_from(&self, offset: usize) -> usize {
        if self.keys.is_empty() || self.nodes[1].last_start < offset as i64 {
            return self.len();
        }
        let mut wanted = offset as i64;
        let mut node = 1;
        while node < self.width {
            wanted -= self.nodes[node].shift;
            node *= 2;
            if self.nodes[node].last_start < wanted {
                node += 1;
            }
        }
        (node - self.width).min(self.len())
    }

    /// Slots before `limit` whose range ends at or after `offset`, in order.
    pub(crate) fn reaching(&self, limit: usize, offset: usize) -> Vec<usize> {
        let mut found = Vec::new();
        if !self.keys.is_empty() && limit > 0 {
            self.collect_reaching(1, 0..self.width, limit, offset as i64, &mut found);
        }
        found
    }

    fn collect_reaching(
        &self,
        node: usize,
        slots: Range<usize>,
        limit: usize,
        offset: i64,
        found: &mut Vec<usize>,
    ) {
        if slots.start >= limit || self.nodes[node].max_end < offset {
            return;
        }
        if node >= self.width {
            found.push(slots.start);
            return;
        }
        let offset = offset - self.nodes[node].shift;
        let middle = slots.start + slots.len() / 2;
        self.collect_reaching(2 * node, slots.start..middle, limit, offset, found);
        self.collect_reaching(2 * node + 1, middle..slots.end, limit, offset, found);
    }

    /// Moves every range from `slot` on by `delta` bytes.
    pub(crate) fn shift_from(&mut self, slot: usize, delta: i64) {
        if slot >= self.len() || delta == 0 {
            return;
        }
        let mut node = self.width + slot;
        self.add(node, delta);
        while node > 1 {
            if node.is_multiple_of(2) {
                self.add(node + 1, delta);
            }
            node /= 2;
            self.refresh(node);
        }
    }

    /// Puts `keys` with their ranges into the slots from `slot` on.
    ///
    /// The caller keeps the order: no start may pass that of a neighbor.
    pub(crate) fn set(&mut self, slot: usize, keys_and_ranges: &[(u32, Range<usize>)]) {
        for (i, (key, range)) in keys_and_ranges.iter().enumerate() {
            self.keys[slot + i] = *key;
            let mut node = self.width + slot + i;
            let mut above = 0;
            let mut ancestor = node / 2;
            while ancestor > 0 {
                above += self.nodes[ancestor].shift;
                ancestor /= 2;
            }
            self.nodes[node] = Node {
                shift: 0,
                last_start: range.start as i64 - above,
                max_end: range.end as i64 - above,
            };
            while node > 1 {
                node /= 2;
                self.refresh(node);
            }
        }
    }

    fn add(&mut self, node: usize, delta: i64) {
        let node = &mut self.nodes[node];
        node.shift += delta;
        node.last_start += delta;
        node.max_end += delta;
    }

    fn refresh(&mut self, node: usize) {
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        let shift = self.nodes[node].shift;
        self.nodes[node] = Node {
            shift,
            last_start: right.last_start + shift,
            max_end: left.max_end.max(right.max_end) + shift,
        };
    }
}

fn leaf(range: &Range<usize>) -> Node {
    Node {
        shift: 0,
        last_start: range.start as i64,
        max_end: range.end as i64,
    }
}
