//! Segments: changes of one file that follow each other with nobody else in between.
//!
//! Only a segment's first `before` and last `after` matter to an undo, so a file that was changed by
//! ten thousand small commits is compared and merged once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::format::{Change, What, apply};
use crate::commit::Fingerprint;

/// A state at one end of a segment.
#[derive(Debug, Clone)]
pub(super) enum End {
    Disk(Fingerprint),
    /// Text revision of an open document.
    Document(String),
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) from: String,
    pub(super) before: Option<End>,
    pub(super) to: String,
    pub(super) after: Option<End>,
    /// Name of the kept content before.
    pub(super) kept: Option<String>,
    pub(super) text_before: Option<Arc<str>>,
    pub(super) text_after: Option<Arc<str>>,
    pub(super) made: Vec<String>,
}

fn ends(what: &What) -> (Option<End>, Option<End>) {
    match what {
        What::Disk { before, after } | What::Renamed { before, after, .. } => (
            Some(End::Disk(before.clone())),
            Some(End::Disk(after.clone())),
        ),
        What::Created { after } => (None, Some(End::Disk(after.clone()))),
        What::Deleted { before } => (Some(End::Disk(before.clone())), None),
        What::Document { before, after } => (
            Some(End::Document(before.clone())),
            Some(End::Document(after.clone())),
        ),
    }
}

/// Whether the content after is not the one before.
fn is_other(what: &What) -> bool {
    match what {
        What::Disk { before, after } | What::Renamed { before, after, .. } => {
            !before.same_content(after)
        }
        What::Created { after } => after.revision != crate::revision::revision(b""),
        What::Deleted { .. } => true,
        What::Document { before, after } => before != after,
    }
}

/// Joins changes into segments, in the order of their last change.
pub(super) fn segments(
    changes: &[Change],
    kept: &mut dyn FnMut(&str) -> Option<Arc<str>>,
) -> Vec<Segment> {
    let mut done: Vec<Segment> = Vec::new();
    // The segment that ends at a path, if the next change there may continue it.
    let mut open: BTreeMap<String, Segment> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for change in changes {
        let (before, after) = ends(&change.what);
        let to = match &change.what {
            What::Renamed { to, .. } => to.clone(),
            What::Disk { .. }
            | What::Created { .. }
            | What::Deleted { .. }
            | What::Document { .. } => change.path.clone(),
        };
        let continues = change.kept.is_none()
            && open
                .get(&change.path)
                .is_some_and(|segment| segment.after.is_some() == before.is_some());
        let mut segment = if continues {
            open.remove(&change.path)
        } else {
            None
        }
        .unwrap_or_else(|| {
            let text = change.kept.as_deref().and_then(&mut *kept);
            let text = if before.is_none() {
                Some(Arc::from(""))
            } else {
                text
            };
            Segment {
                from: change.path.clone(),
                before,
                to: change.path.clone(),
                after: None,
                kept: change.kept.clone(),
                text_before: text.clone(),
                text_after: text,
                made: Vec::new(),
            }
        });
        segment.text_after = match (&segment.text_after, &after) {
            (Some(text), Some(_)) if change.edits.is_empty() && !is_other(&change.what) => {
                Some(text.clone())
            }
            // Its content changed, and no lines tell how.
            (Some(_), Some(_)) if change.edits.is_empty() => None,
            (Some(text), Some(_)) => apply(text, &change.edits).map(Arc::from),
            (Some(_), None) => Some(Arc::from("")),
            (None, _) => None,
        };
        segment.after = after;
        segment.made.extend(change.made.iter().cloned());
        segment.to = to.clone();
        order.retain(|path| path != &to && path != &change.path);
        if let Some(ended) = open.insert(to.clone(), segment) {
            done.push(ended);
        }
        order.push(to);
    }
    done.extend(order.iter().filter_map(|path| open.remove(path)));
    done
}
