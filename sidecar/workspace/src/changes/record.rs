//! What a command changed, as part of its turn's checkpoint.

use std::io::Write;

use serde_json::json;

use super::{ChangeSummary, Changed, Found, Observed};
use crate::checkpoint::{Change, Entry, Header, VERSION, What};
use crate::handle::Folder;
use crate::store::{StoreError, StorePath};
use crate::workspace::Workspace;

/// The journal's word for the changes of a command.
pub(crate) const RAN: &str = "ran";

/// Most paths that are named in short.
const NAMED: usize = 50;

/// From so many files on, the whole file system is synced once instead of each of them.
const SYNC_ALL: usize = 64;

/// For whom changes are recorded.
#[derive(Debug)]
pub(crate) struct Recorded<'a> {
    /// The job.
    pub(crate) job_id: &'a str,
    /// The turn or, without one, the job.
    pub(crate) checkpoint_id: &'a str,
    /// The checkpoint's name, when this is its first entry.
    pub(crate) title: &'a str,
    /// Unix seconds.
    pub(crate) at: u64,
}

/// Writes `found` into the checkpoint, durably. `observed` says of a change why it is only that.
///
/// # Errors
///
/// The store's refusal: the changes stand, and undo does not cover them.
pub(crate) fn record(
    workspace: &Workspace,
    recorded: &Recorded<'_>,
    found: &Found,
    observed: &dyn Fn(&Changed) -> Option<Observed>,
) -> Result<ChangeSummary, StoreError> {
    let mut summary = ChangeSummary {
        gaps: found.gaps.iter().take(NAMED).cloned().collect(),
        gap_count: found.gaps.len(),
        ..ChangeSummary::default()
    };
    if found.changes.is_empty() {
        return Ok(summary);
    }
    let lock = workspace.lock("command")?;
    keep(workspace, recorded, &found.changes)?;
    let mut entries = Vec::with_capacity(found.changes.len());
    for (at, changed) in found.changes.iter().enumerate() {
        let why = observed(changed);
        match changed.what {
            What::Created { .. } => summary.created += 1,
            What::Deleted { .. } => summary.deleted += 1,
            What::Disk { .. } | What::Renamed { .. } | What::Document { .. } => {
                summary.changed += 1;
            }
        }
        summary.observed += usize::from(why.is_some());
        if summary.paths.len() < NAMED {
            summary.paths.push(changed.path.clone());
        }
        entries.push(Entry::Change(Box::new(Change {
            receipt_id: recorded.job_id.to_owned(),
            at: recorded.at,
            transaction_id: recorded.job_id.to_owned(),
            path: changed.path.clone(),
            what: changed.what.clone(),
            edits: changed.edits.clone(),
            kept: changed
                .kept
                .as_ref()
                .map(|_| kept_name(recorded.job_id, at)),
            made: changed.made.clone(),
            observed: why,
        })));
    }
    let header = Header {
        version: VERSION,
        id: recorded.checkpoint_id.to_owned(),
        title: recorded.title.to_owned(),
        undo_of: None,
    };
    workspace.checkpoints().append(&header, &entries)?;
    let data = json!({
        "job_id": recorded.job_id,
        "checkpoint_id": recorded.checkpoint_id,
        "action": "command",
        "created": summary.created,
        "changed": summary.changed,
        "deleted": summary.deleted,
        "paths": summary.paths,
    });
    workspace.journal().append(&lock, RAN, &data)?;
    summary.checkpoint_id = Some(recorded.checkpoint_id.to_owned());
    Ok(summary)
}

fn kept_name(job_id: &str, at: usize) -> String {
    format!("{job_id}.{at}")
}

/// Writes what was there before into the checkpoint's folder, and waits for the disk.
fn keep(
    workspace: &Workspace,
    recorded: &Recorded<'_>,
    changes: &[Changed],
) -> Result<(), StoreError> {
    let store = workspace.store();
    let path = StorePath::new(format!("checkpoints/{}/kept", recorded.checkpoint_id))?;
    let folder = store.make_folder(&path)?;
    let fail = |error| store.io(path.as_str(), "keeping old content", error);
    let kept: Vec<(usize, &Vec<u8>)> = changes
        .iter()
        .enumerate()
        .filter_map(|(at, changed)| Some((at, changed.kept.as_ref()?)))
        .collect();
    let at_once = kept.len() > SYNC_ALL && cfg!(target_os = "linux");
    for (at, bytes) in kept {
        let name = kept_name(recorded.job_id, at);
        let mut file = folder.create_file(&name, 0o600).map_err(fail)?;
        file.write_all(bytes).map_err(fail)?;
        if !at_once {
            file.sync_all().map_err(fail)?;
        }
    }
    if at_once {
        sync_file_system(&folder).map_err(fail)?;
    }
    folder.sync().map_err(fail)
}

#[cfg(target_os = "linux")]
fn sync_file_system(folder: &Folder) -> std::io::Result<()> {
    Ok(rustix::fs::syncfs(folder.beneath())?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(folder: &Folder) -> std::io::Result<()> {
    folder.sync()
}
