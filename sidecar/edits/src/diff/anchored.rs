//! Lines that are unique on both sides hold the rest in place.
//!
//! The longest run of them that keeps its order (a longest increasing subsequence) cuts a large
//! problem into small ones, as in patience diff. Small problems go to Myers at once, whose answer
//! is the smallest.

use super::{
    Changed, common_prefix, common_prefix_of_ends,
    myers::{self, Scratch},
};

/// Below this many lines on both sides together, the smallest answer is cheap enough.
const SMALL: usize = 1024;

/// Marks what changed between `old` and `new`.
pub(super) fn diff(old: &[u32], new: &[u32], changed: &mut Changed) {
    let ids = old
        .iter()
        .chain(new)
        .copied()
        .max()
        .map_or(0, |id| id as usize + 1);
    let mut search = Search {
        places: vec![Place::default(); ids],
        scratch: Scratch::new(),
        changed,
    };
    search.diff(old, new, (0, 0));
}

/// Where an element occurs, and how often on each side.
#[derive(Clone, Copy, Default)]
struct Place {
    old_count: u32,
    new_count: u32,
    new_index: u32,
}

struct Search<'a> {
    /// By element; all zero between uses.
    places: Vec<Place>,
    scratch: Scratch,
    changed: &'a mut Changed,
}

impl Search<'_> {
    fn diff(&mut self, old: &[u32], new: &[u32], at: (usize, usize)) {
        let prefix = common_prefix(old, new);
        let (old, new) = (&old[prefix..], &new[prefix..]);
        let suffix = common_prefix_of_ends(old, new);
        let (old, new) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
        let at = (at.0 + prefix, at.1 + prefix);
        let anchors = if old.len() + new.len() <= SMALL {
            Vec::new()
        } else {
            self.anchors(old, new)
        };
        if anchors.is_empty() {
            myers::diff(old, new, at, &mut self.scratch, self.changed);
            return;
        }
        let (mut i, mut j) = (0, 0);
        for (x, y) in anchors.into_iter().chain([(old.len(), new.len())]) {
            self.diff(&old[i..x], &new[j..y], (at.0 + i, at.1 + j));
            (i, j) = (x + 1, y + 1);
        }
    }

    /// Pairs of unique elements that are in the same order on both sides.
    fn anchors(&mut self, old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
        for &id in old {
            self.places[id as usize].old_count += 1;
        }
        for (j, &id) in new.iter().enumerate() {
            let place = &mut self.places[id as usize];
            place.new_count += 1;
            place.new_index = j as u32;
        }
        let pairs: Vec<(usize, usize)> = old
            .iter()
            .enumerate()
            .filter_map(|(i, &id)| match self.places[id as usize] {
                Place {
                    old_count: 1,
                    new_count: 1,
                    new_index,
                } => Some((i, new_index as usize)),
                _ => None,
            })
            .collect();
        for &id in old.iter().chain(new) {
            self.places[id as usize] = Place::default();
        }
        longest_increasing(&pairs)
    }
}

/// The longest subsequence whose second members increase (the first ones do already).
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `tops[k]`: index of the pair that ends the best run of length `k + 1`.
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (i, &(_, value)) in pairs.iter().enumerate() {
        let length = match tops.last() {
            Some(&top) if pairs[top].1 < value => tops.len(),
            _ => tops.partition_point(|&top| pairs[top].1 < value),
        };
        before.push(length.checked_sub(1).map(|shorter| tops[shorter]));
        match tops.get_mut(length) {
            Some(top) => *top = i,
            None => tops.push(i),
        }
    }
    let mut run = Vec::with_capacity(tops.len());
    let mut next = tops.last().copied();
    while let Some(i) = next {
        run.push(pairs[i]);
        next = before[i];
    }
    run.reverse();
    run
}
