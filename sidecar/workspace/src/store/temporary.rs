//! Files and folders that are not finished yet, and what a kill has left of them.
//!
//! They stand in the store's own folder under names of their own, `.tmp.<process>.<number>.<name>`, and get
//! their real name when they are whole. So one look at one folder finds all that was ever left behind.

use super::{Store, StoreError};
use crate::handle::{Folder, Kind, Stat};

/// The start of every temporary name.
pub(super) const PREFIX: &str = ".tmp.";

/// How long nothing may have changed before a temporary file counts as left behind: another machine, or a
/// container, may be at work here, whose processes cannot be seen.
const LEFT_AFTER_SECS: u64 = 60 * 60;

/// The name of something unfinished that will be called `name`.
pub(super) fn name(number: u64, name: &str) -> String {
    format!("{PREFIX}{}.{number}.{name}", std::process::id())
}

/// The process that made the temporary `name`; none when it is no name of ours.
fn maker(name: &str) -> Option<u32> {
    let mut parts = name.strip_prefix(PREFIX)?.splitn(3, '.');
    let process = parts.next()?.parse().ok()?;
    parts.next()?.parse::<u64>().ok()?;
    parts.next().filter(|rest| !rest.is_empty())?;
    Some(process)
}

fn is_alive(process: u32) -> bool {
    let pid = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| {
        // Only "no such process" says that there is none.
        rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
    })
}

impl Store {
    /// Removes what processes that are gone left unfinished, `now` being in Unix seconds. Blocks on the lock only
    /// when there is something. Returns how much it was.
    ///
    /// Links, pipes and the like are left alone, whatever they are called.
    ///
    /// # Errors
    ///
    /// As [`Store::lock`] and [`Store::read`].
    pub(crate) fn sweep(&self, now: u64) -> Result<usize, StoreError> {
        let Some(folder) = self.open()? else {
            return Ok(0);
        };
        let names = folder
            .names()
            .map_err(|error| self.io("", "listing", error))?;
        let left = |name: &String| {
            let is_gone = maker(name).is_some_and(|process| !is_alive(process));
            is_gone
                && folder
                    .stat(name)
                    .ok()
                    .flatten()
                    .is_some_and(|stat| is_left(&stat, now))
        };
        let left: Vec<String> = names.into_iter().filter(left).collect();
        if left.is_empty() {
            return Ok(0);
        }
        let _lock = self.lock(super::lock::PATIENCE, "sweep")?;
        Ok(left.iter().filter(|name| remove(&folder, name)).count())
    }
}

fn is_left(stat: &Stat, now: u64) -> bool {
    let changed = u64::try_from(stat.modified_ns / 1_000_000_000).unwrap_or(0);
    matches!(stat.kind, Kind::File | Kind::Directory)
        && changed.saturating_add(LEFT_AFTER_SECS) <= now
}

/// Removes a file, or a folder of files. Whatever else is in the folder stays, and so does the folder then.
fn remove(above: &Folder, name: &str) -> bool {
    let is_file = |folder: &Folder, name: &str| {
        let stat = folder.stat(name).ok().flatten();
        stat.is_some_and(|stat| stat.kind == Kind::File)
    };
    if is_file(above, name) {
        return above.remove_file(name).is_ok();
    }
    let Ok(folder) = above.open_folder(name) else {
        return false;
    };
    for inner in folder.names().unwrap_or_default() {
        if is_file(&folder, &inner) {
            // What resists keeps its folder.
            let _ = folder.remove_file(&inner);
        }
    }
    above.remove_folder(name).is_ok()
}

/// Removes `name` and what is below it, links unfollowed; what resists stays.
pub(super) fn remove_tree(above: &Folder, name: &str) {
    if let Ok(folder) = above.open_folder(name) {
        for inner in folder.names().unwrap_or_default() {
            remove_tree(&folder, &inner);
        }
        let _ = above.remove_folder(name);
    } else {
        let _ = above.remove_file(name);
    }
}
