//! Giving a new file the owner, mode and extended attributes of the one that it replaces.

use std::fs::File;
use std::io;

use rustix::fs::{Gid, Mode, Uid, XattrFlags};

use crate::handle::Stat;

/// Attributes that describe the old bytes, or that the kernel drops itself when a file is written.
const NOT_COPIED: [&str; 3] = ["security.capability", "security.ima", "security.evm"];

/// Copies owner, extended attributes, then mode from `old` to `new`. Returns whether the owner was kept.
///
/// The owner comes first because changing it clears mode bits, and the mode last so that the file is never
/// more readable than the old one. An owner that this user may not give keeps the group if that works, as
/// `git checkout` does.
pub(super) fn copy(
    old: &File,
    old_stat: &Stat,
    new: &File,
    new_stat: &Stat,
    mode: u32,
) -> io::Result<bool> {
    let owner_kept = copy_owner(old_stat, new, new_stat);
    copy_xattrs(old, new)?;
    rustix::fs::fchmod(new, Mode::from_bits_truncate(mode as rustix::fs::RawMode))?;
    Ok(owner_kept)
}

fn copy_owner(old: &Stat, new: &File, new_stat: &Stat) -> bool {
    if (old.uid, old.gid) == (new_stat.uid, new_stat.gid) {
        return true;
    }
    let (uid, gid) = (Uid::from_raw(old.uid), Gid::from_raw(old.gid));
    if rustix::fs::fchown(new, Some(uid), Some(gid)).is_ok() {
        return true;
    }
    // The group alone can often be given where the owner cannot; what matters more is told to the caller.
    let _ = rustix::fs::fchown(new, None, Some(gid));
    old.uid == new_stat.uid
}

fn copy_xattrs(old: &File, new: &File) -> io::Result<()> {
    let Some(names) = list(old) else {
        return Ok(());
    };
    for name in names
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
    {
        let Ok(name) = std::str::from_utf8(name) else {
            continue;
        };
        if NOT_COPIED.contains(&name) {
            continue;
        }
        let Some(value) = value(old, name) else {
            continue;
        };
        match rustix::fs::fsetxattr(new, name, &value, XattrFlags::empty()) {
            Ok(()) => {}
            // A user's own attributes must survive; labels are the system's business.
            Err(error) if name.starts_with("user.") => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(())
}

/// The names of all attributes, each ended by a zero byte; `None` where there are none to copy.
fn list(file: &File) -> Option<Vec<u8>> {
    let mut small = [0u8; 256];
    match rustix::fs::flistxattr(file, &mut small[..]) {
        Ok(0) => None,
        Ok(len) => Some(small[..len].to_vec()),
        Err(rustix::io::Errno::RANGE) => {
            let mut names = vec![0; rustix::fs::flistxattr_query(file).ok()?];
            let len = rustix::fs::flistxattr(file, &mut names[..]).ok()?;
            names.truncate(len);
            Some(names)
        }
        Err(_) => None,
    }
}

fn value(file: &File, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; rustix::fs::fgetxattr_query(file, name).ok()?];
    let len = rustix::fs::fgetxattr(file, name, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}
