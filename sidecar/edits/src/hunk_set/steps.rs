//! What a hunk remembers of the edits that touched it, so that taking them back restores its place.
//!
//! The steps are a stack, like an editor's own: an edit takes a step back when it exactly inverts the
//! last one. Every edit that touches the hunk is a step, also the one that applies it.

use std::ops::Range;

use ropey::Rope;

use super::{
    Entry, Region,
    change::{Edit, Effect, effect},
    own::Ownership,
};
use crate::linewise;

/// An edit of whole lines that touched a hunk, and the place of the hunk before it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    old: String,
    new: String,
    /// Where the edit begins in the hunk's place after it.
    at: usize,
    /// Start and end of the hunk, counted from the start of the edit, where they lay inside of it.
    inside: (Option<usize>, Option<usize>),
    region: Option<Region>,
    /// It applied the hunk.
    is_own: bool,
}

/// Steps that a hunk remembers, and the bytes of one.
const MAX_STEPS: usize = 100;
const MAX_STEP_BYTES: usize = 1 << 16;

impl Entry {
    /// The place that the hunk had before the last edit of it, if this edit takes that one back.
    ///
    /// What the place reads is to be looked at anew then, so it gets a region.
    pub(super) fn taken_back(
        &mut self,
        range: &Range<usize>,
        edit: &Edit<'_>,
        before: &Rope,
    ) -> Option<Range<usize>> {
        if !self.is_taken_back(range, edit, before) {
            return None;
        }
        let step = self.steps.pop()?;
        let is_certain = self.region.is_none();
        let is_harmless = !matches!(effect(range, edit, false), Effect::Against);
        if is_certain && is_harmless && step.region.is_some() {
            // Its lines have come together since, and stay together: how they did counts no more.
            self.steps.clear();
            return None;
        }
        self.region = Some(step.region.unwrap_or_else(|| self.own_region()));
        self.is_restored = true;
        let end = range.end.max(edit.at.end) - edit.at.end + edit.at.start + edit.text.len();
        let start = step
            .inside
            .0
            .map_or(range.start, |offset| edit.at.start + offset);
        let end = step.inside.1.map_or(end, |offset| edit.at.start + offset);
        (start <= end).then_some(start..end)
    }

    /// Whether this edit takes back the last one of the hunk.
    pub(super) fn is_taken_back(
        &self,
        range: &Range<usize>,
        edit: &Edit<'_>,
        before: &Rope,
    ) -> bool {
        self.steps.last().is_some_and(|last| {
            range.start + last.at == edit.at.start
                && last.new.len() == edit.at.len()
                && last.old == edit.text
                && linewise::slice(before, edit.origin..edit.origin + edit.at.len()) == last.new
        })
    }

    /// Remembers the hunk's own edit, or forgets it with the undoing of it.
    pub(super) fn remember_own(&mut self, kind: Ownership, edit: &Edit<'_>, before: &Rope) {
        match kind {
            Ownership::Applied => {
                self.remember(&edit.at, edit, before);
                if let Some(step) = self.steps.last_mut() {
                    step.is_own = true;
                }
            }
            Ownership::Reverted => {
                let is_last = self.steps.last().is_some_and(|step| step.is_own);
                if is_last && self.is_taken_back(&edit.at, edit, before) {
                    self.steps.pop();
                } else {
                    self.steps.clear();
                }
            }
        }
    }

    /// Remembers an edit that moves an edge of the hunk.
    pub(super) fn remember(&mut self, range: &Range<usize>, edit: &Edit<'_>, before: &Rope) {
        if edit.at.len() + edit.text.len() > MAX_STEP_BYTES {
            self.steps.clear();
            return;
        }
        if self.steps.len() == MAX_STEPS {
            self.steps.remove(0);
        }
        let start = range
            .start
            .checked_sub(edit.at.start)
            .filter(|offset| *offset > 0);
        let end = range
            .end
            .checked_sub(edit.at.start)
            .filter(|_| range.end < edit.at.end);
        self.steps.push(Step {
            old: linewise::slice(before, edit.origin..edit.origin + edit.at.len()).into_owned(),
            new: edit.text.to_owned(),
            at: edit.at.start.saturating_sub(range.start),
            inside: (start, end),
            region: self.region.clone(),
            is_own: false,
        });
    }

    /// The region of the hunk's own lines and no others.
    fn own_region(&self) -> Region {
        Region {
            old: self.hunk.removed.clone(),
            offset: 0,
        }
    }

    /// Remembers the lines around the hunk that `edit` changes together with it.
    pub(super) fn widen(&mut self, range: &Range<usize>, edit: &Edit<'_>, before: &Rope) {
        let origin = |offset: usize| edit.origin + (offset - edit.at.start);
        let above = if edit.at.start < range.start {
            linewise::slice_lf(before, edit.origin..origin(range.start))
        } else {
            String::new()
        };
        let below = if range.end < edit.at.end {
            linewise::slice_lf(before, origin(range.end)..origin(edit.at.end))
        } else {
            String::new()
        };
        let region = self.region.take().unwrap_or_else(|| self.own_region());
        self.is_restored = false;
        self.region = Some(Region {
            offset: region.offset + above.len(),
            old: above + &region.old + &below,
        });
    }
}
