//! The linear-space variant of Myers' algorithm, with a bound on its work.
//!
//! Source: E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), section 4b. When a
//! middle is not found within the bound, the farthest point that was reached splits the problem
//! instead: the result is then correct, but perhaps not the smallest.

use super::{Changed, common_prefix, common_prefix_of_ends};

/// Edit distance after which the search for a middle gives up.
///
/// Work is at most proportional to the lengths times this.
const MAX_COST: usize = 128;

/// Scratch space of the search: the farthest point on each diagonal, forward and backward.
pub(super) struct Scratch {
    forward: Vec<isize>,
    backward: Vec<isize>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let diagonals = 2 * (MAX_COST + 2) + 1;
        Self {
            forward: vec![0; diagonals],
            backward: vec![0; diagonals],
        }
    }
}

/// Marks what changed between `old` and `new`, which start at the given offsets of the whole.
pub(super) fn diff(
    old: &[u32],
    new: &[u32],
    at: (usize, usize),
    scratch: &mut Scratch,
    changed: &mut Changed,
) {
    let (mut old, mut new, mut at) = (old, new, at);
    loop {
        let prefix = common_prefix(old, new);
        (old, new) = (&old[prefix..], &new[prefix..]);
        at = (at.0 + prefix, at.1 + prefix);
        let suffix = common_prefix_of_ends(old, new);
        (old, new) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
        if old.is_empty() || new.is_empty() {
            changed.old[at.0..at.0 + old.len()].fill(true);
            changed.new[at.1..at.1 + new.len()].fill(true);
            return;
        }
        let (x, y) = split_point(old, new, scratch);
        diff(&old[..x], &new[..y], at, scratch, changed);
        (old, new, at) = (&old[x..], &new[y..], (at.0 + x, at.1 + y));
    }
}

/// A point on a shortest path (or on a long enough one), neither the first nor the last of all.
///
/// Both sides are not empty and differ in their first and in their last element.
fn split_point(old: &[u32], new: &[u32], scratch: &mut Scratch) -> (usize, usize) {
    let (n, m) = (old.len() as isize, new.len() as isize);
    let delta = n - m;
    let center = MAX_COST as isize + 2;
    let index = |diagonal: isize| (diagonal + center) as usize;
    let Scratch { forward, backward } = scratch;
    forward[index(1)] = 0;
    backward[index(1)] = 0;
    for cost in 0..=MAX_COST as isize {
        forward[index(cost + 1)] = if cost == 0 { 0 } else { -1 };
        forward[index(-cost - 1)] = -1;
        backward[index(cost + 1)] = if cost == 0 { 0 } else { -1 };
        backward[index(-cost - 1)] = -1;
        for diagonal in diagonals(cost, n, m) {
            let (start, end) = farthest(forward, &index, diagonal, n, m, |x, y| {
                old[x as usize] == new[y as usize]
            });
            forward[index(diagonal)] = end;
            let opposite = delta - diagonal;
            if delta % 2 != 0
                && opposite.abs() < cost
                && backward[index(opposite)] >= 0
                && end + backward[index(opposite)] >= n
                && end >= 0
            {
                return (start as usize, (start - diagonal) as usize);
            }
        }
        for diagonal in diagonals(cost, n, m) {
            let (start, end) = farthest(backward, &index, diagonal, n, m, |x, y| {
                old[(n - 1 - x) as usize] == new[(m - 1 - y) as usize]
            });
            backward[index(diagonal)] = end;
            let opposite = delta - diagonal;
            if delta % 2 == 0
                && opposite.abs() <= cost
                && forward[index(opposite)] >= 0
                && end + forward[index(opposite)] >= n
                && end >= 0
            {
                return ((n - start) as usize, (m - (start - diagonal)) as usize);
            }
        }
    }
    farthest_of_all(forward, &index, n, m)
}

/// The diagonals of one round that lie inside the rectangle.
fn diagonals(cost: isize, n: isize, m: isize) -> impl Iterator<Item = isize> {
    let low = if cost <= m {
        -cost
    } else {
        -m + (cost - m) % 2
    };
    let high = if cost <= n { cost } else { n - (cost - n) % 2 };
    (low..=high).step_by(2)
}

/// One step and the run of equal elements after it: where the run starts and ends.
///
/// `-1` stands for a diagonal that was not reached, or that leaves the rectangle here.
fn farthest(
    reached: &[isize],
    index: &impl Fn(isize) -> usize,
    diagonal: isize,
    n: isize,
    m: isize,
    equal: impl Fn(isize, isize) -> bool,
) -> (isize, isize) {
    let from_left = match reached[index(diagonal - 1)] {
        -1 => -1,
        x => x + 1,
    };
    let from_above = reached[index(diagonal + 1)];
    let mut x = [from_left, from_above]
        .into_iter()
        .filter(|&x| x >= 0 && x <= n && x - diagonal >= 0 && x - diagonal <= m)
        .max()
        .unwrap_or(-1);
    let start = x;
    if x >= 0 {
        while x < n && x - diagonal < m && equal(x, x - diagonal) {
            x += 1;
        }
    }
    (start, x)
}

/// The forward point with the longest way behind it.
fn farthest_of_all(
    forward: &[isize],
    index: &impl Fn(isize) -> usize,
    n: isize,
    m: isize,
) -> (usize, usize) {
    let best = diagonals(MAX_COST as isize, n, m)
        .map(|diagonal| (forward[index(diagonal)], diagonal))
        .filter(|&(x, _)| x >= 0)
        .max_by_key(|&(x, diagonal)| 2 * x - diagonal);
    match best {
        Some((x, diagonal)) => (x as usize, (x - diagonal) as usize),
        None => (n as usize, 0),
    }
}
