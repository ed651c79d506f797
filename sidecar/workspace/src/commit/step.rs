//! Running the steps of a plan, taking them back, and seeing from the disk alone which of them ran.

use std::collections::BTreeMap;

use super::plan::Step;
use super::{Fingerprint, fingerprint};
use crate::boundary::{Batch, WorkspacePath};
use crate::effect::{Area, Expect, FsError, Staged};

/// Where a step stands, as seen on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has not run.
    Before,
    /// It has run.
    After,
    /// It has run, and then somebody else changed the path.
    ChangedAfter,
    /// It has not run, and somebody else changed the path: it can no longer run.
    ChangedBefore,
}

fn print_at(batch: &Batch, path: &WorkspacePath) -> Result<Option<Fingerprint>, FsError> {
    Ok(fingerprint(&batch.read(path)?))
}

/// Sees where `step` stands.
pub(super) fn standing(batch: &Batch, area: &Area, step: &Step) -> Result<Standing, FsError> {
    let at = |path: &str| batch.root().admit(path).map_err(FsError::from);
    let path = at(step.path())?;
    let by = |before: bool, after: bool, ran: &dyn Fn() -> bool| {
        if after {
            Standing::After
        } else if before {
            Standing::Before
        } else if ran() {
            Standing::ChangedAfter
        } else {
            Standing::ChangedBefore
        }
    };
    Ok(match step {
        Step::Remove { name, before, .. } => {
            batch.put_in_order(area, &path, name, &before.revision)?;
            let now = print_at(batch, &path)?;
            let ran = || batch.has_displaced(area, &path, name, &before.revision);
            by(now.as_ref() == Some(before), now.is_none(), &ran)
        }
        Step::Rename { to, content, .. } => {
            let now = print_at(batch, &path)?;
            let there = print_at(batch, &at(to)?)?;
            let moved = there
                .as_ref()
                .is_some_and(|there| there.same_content(content));
            let ran = || now.is_none() && there.is_some();
            by(
                now.as_ref() == Some(content) && there.is_none(),
                now.is_none() && moved,
                &ran,
            )
        }
        Step::Publish {
            name,
            before,
            after,
            ..
        } => {
            if let Some(before) = before {
                batch.put_in_order(area, &path, name, &before.revision)?;
            }
            let now = print_at(batch, &path)?;
            let ran = || match before {
                Some(before) => batch.has_displaced(area, &path, name, &before.revision),
                None => false,
            };
            by(now == *before, now.as_ref() == Some(after), &ran)
        }
        Step::RemoveLink { target, .. } => {
            let now = print_at(batch, &path)?;
            by(
                now == Some(Fingerprint::of_link(target)),
                now.is_none(),
                &|| false,
            )
        }
        Step::MakeLink { target, .. } => {
            let now = print_at(batch, &path)?;
            by(
                now.is_none(),
                now == Some(Fingerprint::of_link(target)),
                &|| false,
            )
        }
        Step::SetMode { content, mode, .. } => {
            let now = print_at(batch, &path)?;
            let after = Fingerprint {
                mode: *mode,
                ..content.clone()
            };
            by(
                now.as_ref() == Some(content),
                now.as_ref() == Some(&after),
                &|| false,
            )
        }
    })
}

/// Runs `step`.
pub(super) fn run(batch: &Batch, area: &Area, step: &Step) -> Result<(), FsError> {
    let path = batch.root().admit(step.path())?;
    match step {
        Step::Remove { name, before, .. } => batch.remove(area, &path, name, &before.revision),
        Step::Rename { to, content, .. } => {
            let to = batch.root().admit(to)?;
            batch.make_folders(&to)?;
            batch.rename(&path, &to, &content.revision)
        }
        Step::Publish {
            name,
            before,
            after,
            ..
        } => {
            if before.is_none() {
                batch.make_folders(&path)?;
            }
            let staged = Staged {
                path,
                name: name.clone(),
                revision: after.revision.clone(),
                mode: after.mode,
                owner_kept: true,
            };
            let expect = before
                .as_ref()
                .map_or(Expect::Missing, |old| Expect::Revision(&old.revision));
            batch.publish(area, &staged, expect)
        }
        Step::RemoveLink { target, .. } => batch.remove_link(&path, target),
        Step::MakeLink { target, .. } => {
            batch.make_folders(&path)?;
            batch.make_link(&path, target)
        }
        Step::SetMode { mode, .. } => batch.set_mode(&path, *mode).map(|_| ()),
    }
}

/// Takes back a step that has run.
pub(super) fn reverse(batch: &Batch, area: &Area, step: &Step) -> Result<(), FsError> {
    let path = batch.root().admit(step.path())?;
    match step {
        Step::Remove { name, .. } => {
            batch.make_folders(&path)?;
            batch.put_back(area, &path, name, None)
        }
        Step::Rename { to, content, .. } => {
            let to = batch.root().admit(to)?;
            batch.make_folders(&path)?;
            batch.rename(&to, &path, &content.revision)
        }
        Step::Publish { name, after, .. } => {
            batch.put_back(area, &path, name, Some(&after.revision))
        }
        Step::RemoveLink { target, .. } => {
            batch.make_folders(&path)?;
            batch.make_link(&path, target)
        }
        Step::MakeLink { target, .. } => batch.remove_link(&path, target),
        Step::SetMode { content, .. } => batch.set_mode(&path, content.mode).map(|_| ()),
    }
}

/// Takes back every step that has run, last first, and checks by content that it is back.
///
/// Returns what could not be put back, each with the reason; what somebody else changed is among
/// them, and was not touched.
pub(super) fn restore(batch: &Batch, area: &Area, steps: &[Step]) -> Vec<String> {
    let mut left = Vec::new();
    for step in steps.iter().rev() {
        match standing(batch, area, step) {
            Ok(Standing::After) => {
                if let Err(error) = reverse(batch, area, step) {
                    left.push(error.to_string());
                    continue;
                }
                batch.remove_folders(step.folders());
                match standing(batch, area, step) {
                    Ok(Standing::Before) => {}
                    Ok(_) => left.push(format!("{}: it does not read as before", step.path())),
                    Err(error) => left.push(error.to_string()),
                }
            }
            Ok(Standing::Before | Standing::ChangedBefore) => {
                batch.remove_folders(step.folders());
            }
            Ok(Standing::ChangedAfter) => left.push(format!(
                "{}: somebody else changed it meanwhile, and it was left alone",
                step.path()
            )),
            Err(error) => left.push(error.to_string()),
        }
    }
    if let Err(error) = batch.sync_changed() {
        left.push(error.to_string());
    }
    left
}

/// Drops what waits in the area for `steps`.
pub(super) fn discard(batch: &Batch, area: &Area, steps: &[Step]) {
    for step in steps {
        if let (Step::Remove { name, .. } | Step::Publish { name, .. }, Ok(path)) =
            (step, batch.root().admit(step.path()))
        {
            batch.discard(area, &path, name);
        }
    }
}

/// What the paths of `steps` read before the first and after the last of them.
pub(super) fn states(steps: &[Step]) -> (States, States) {
    let (mut before, mut after) = (States::new(), States::new());
    let mut note = |path: &str, from: Option<Fingerprint>, to: Option<Fingerprint>| {
        before.entry(path.to_owned()).or_insert(from);
        after.insert(path.to_owned(), to);
    };
    for step in steps {
        match step {
            Step::Remove { path, before, .. } => note(path, Some(before.clone()), None),
            Step::Rename {
                path, to, content, ..
            } => {
                note(path, Some(content.clone()), None);
                note(to, None, Some(content.clone()));
            }
            Step::Publish {
                path,
                before,
                after,
                ..
            } => {
                note(path, before.clone(), Some(after.clone()));
            }
            Step::RemoveLink { path, target } => {
                note(path, Some(Fingerprint::of_link(target)), None)
            }
            Step::MakeLink { path, target, .. } => {
                note(path, None, Some(Fingerprint::of_link(target)));
            }
            Step::SetMode {
                path,
                content,
                mode,
            } => note(
                path,
                Some(content.clone()),
                Some(Fingerprint {
                    mode: *mode,
                    ..content.clone()
                }),
            ),
        }
    }
    (before, after)
}

/// What paths read.
pub(super) type States = BTreeMap<String, Option<Fingerprint>>;

/// The first path that does not read as `states` says.
pub(super) fn first_other<'s>(
    batch: &Batch,
    states: &'s States,
) -> Result<Option<&'s str>, FsError> {
    for (path, expected) in states {
        let admitted = batch.root().admit(path)?;
        if print_at(batch, &admitted)? != *expected {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
