//! One folder held open, and the operations on a single name in it.
//!
//! Everything that touches the disk ends here: a name is one component, no link is followed, and the
//! handle that a check was made on is the handle that is used. This file is what a port has to replace.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};

/// What a name stands for, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A Unix socket.
    Socket,
    /// A character or block device.
    Device,
}

impl Kind {
    /// The kind in words, for messages.
    pub fn word(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Directory => "a folder",
            Kind::Symlink => "a symbolic link",
            Kind::Fifo => "a named pipe",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
        }
    }
}

/// What the file system says of one name, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Length in bytes.
    pub len: u64,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// How many names the file has.
    pub links: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// Last change of content, mode, owner or names, in nanoseconds since 1970. Nobody can set it back.
    pub changed_ns: i128,
}

impl Stat {
    /// Whether both describe one file.
    pub fn same_file(&self, other: &Stat) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }
}

#[allow(
    clippy::unnecessary_cast,
    reason = "the widths differ between platforms"
)]
impl From<rustix::fs::Stat> for Stat {
    fn from(stat: rustix::fs::Stat) -> Self {
        use rustix::fs::FileType;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
        };
        Stat {
            kind,
            len: stat.st_size as u64,
            mode: stat.st_mode as u32 & 0o7777,
            links: stat.st_nlink as u64,
            uid: stat.st_uid,
            gid: stat.st_gid,
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            modified_ns: i128::from(stat.st_mtime as i64) * 1_000_000_000
                + i128::from(stat.st_mtime_nsec as i64),
            changed_ns: i128::from(stat.st_ctime as i64) * 1_000_000_000
                + i128::from(stat.st_ctime_nsec as i64),
        }
    }
}

/// A folder held open.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
}

/// Opens without following a link at the name and without waiting for the other end of a pipe.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

impl Folder {
    pub(crate) fn new(dir: Dir) -> Self {
        Self { dir }
    }

    /// Opens the folder at an absolute path: the one place where a path of the machine is followed.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        // Not cap-std's own opening: its handle is for paths only, and names in it could not be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Folder::new(Dir::from_std_file(File::from(fd))))
    }

    /// The handle for what cap-std does itself: resolution beneath this folder.
    pub(crate) fn beneath(&self) -> &Dir {
        &self.dir
    }

    /// Opens the folder `name`; a link is `ELOOP` or `ENOTDIR`.
    pub(crate) fn open_folder(&self, name: &str) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, name, flags, Mode::empty())?;
        Ok(Folder::new(Dir::from_std_file(File::from(fd))))
    }

    /// What `name` is, links not followed; `None` when nothing has that name.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat.into())),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What this folder is.
    pub(crate) fn own_stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&self.dir)?.into())
    }

    /// The target of the link `name`, as written in it.
    pub(crate) fn read_link(&self, name: &str) -> io::Result<String> {
        let target = rustix::fs::readlinkat(&self.dir, name, Vec::new())?;
        Ok(target.to_string_lossy().into_owned())
    }

    /// Opens the regular file `name` for reading. A pipe, socket or device is refused without waiting for it.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<(File, Stat)> {
        let fd = rustix::fs::openat(&self.dir, name, READ, Mode::empty())?;
        let stat = Stat::from(rustix::fs::fstat(&fd)?);
        if stat.kind != Kind::File {
            return Err(io::Error::from(rustix::io::Errno::INVAL));
        }
        Ok((File::from(fd), stat))
    }

    /// Makes the file `name`, which must not exist; `mode` is narrowed by the process's mask.
    pub(crate) fn create_file(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(
            &self.dir,
            name,
            flags,
            mode_bits(mode),
        )?))
    }

    /// Opens `name` for reading and appending, making it with `mode` when it is missing.
    pub(crate) fn open_append(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, name, flags, mode_bits(mode))?;
        if Stat::from(rustix::fs::fstat(&fd)?).kind != Kind::File {
            return Err(io::Error::from(rustix::io::Errno::INVAL));
        }
        Ok(File::from(fd))
    }

    /// Opens `name` for locking, making it with `mode` when it is missing.
    pub(crate) fn open_lock(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, name, flags, mode_bits(mode))?;
        if Stat::from(rustix::fs::fstat(&fd)?).kind != Kind::File {
            return Err(io::Error::from(rustix::io::Errno::INVAL));
        }
        Ok(File::from(fd))
    }

    /// Makes the folder `name`.
    pub(crate) fn create_folder(&self, name: &str, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.dir, name, mode_bits(mode))?)
    }

    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.dir, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.dir, name, AtFlags::REMOVEDIR)?)
    }

    /// Moves `name` to `to_name` in `to`, replacing what is there.
    pub(crate) fn rename(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.dir, name, &to.dir, to_name)?)
    }

    /// Moves `name` to `to_name` in `to`, which must be free: `EEXIST` otherwise.
    ///
    /// Where the file system cannot promise that in one step, a hard link does: it never replaces a name.
    pub(crate) fn rename_to_free(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        use rustix::io::Errno;
        match rustix::fs::renameat_with(&self.dir, name, &to.dir, to_name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                if self
                    .stat(name)?
                    .is_some_and(|stat| stat.kind == Kind::Directory)
                {
                    return match to.stat(to_name)? {
                        Some(_) => Err(Errno::EXIST.into()),
                        None => self.rename(name, to, to_name),
                    };
                }
                rustix::fs::linkat(&self.dir, name, &to.dir, to_name, AtFlags::empty())?;
                self.remove_file(name)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the file `name` a second name.
    pub(crate) fn link(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        Ok(rustix::fs::linkat(
            &self.dir,
            name,
            &to.dir,
            to_name,
            AtFlags::empty(),
        )?)
    }

    /// The mount that this folder is on, where the system tells: one file system can be mounted twice, and
    /// no rename crosses mounts.
    pub(crate) fn mount(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::StatxFlags;
            let statx =
                rustix::fs::statx(&self.dir, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
            (statx.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(statx.stx_mnt_id)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Whether names here that differ in case alone are one, where the system tells; `None` where it does not.
    pub(crate) fn is_case_folding(&self) -> Option<bool> {
        #[cfg(target_os = "linux")]
        {
            /// `FS_CASEFOLD_FL`: set for a single folder, and inherited by those made in it.
            const CASEFOLD: u32 = 0x4000_0000;
            /// ext4, F2FS, tmpfs and Btrfs: they fold where that flag says so, and nowhere else.
            const TOLD_BY_FLAG: [u64; 4] = [0xef53, 0xf2f5_2010, 0x0102_1994, 0x9123_683e];
            let flags = rustix::fs::ioctl_getflags(&self.dir);
            if flags.is_ok_and(|flags| flags.bits() & CASEFOLD != 0) {
                return Some(true);
            }
            let system = rustix::fs::fstatfs(&self.dir).ok()?;
            let kind = u64::try_from(system.f_type).unwrap_or_default() & 0xffff_ffff;
            TOLD_BY_FLAG.contains(&kind).then_some(false)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Lets two names change places, in one step.
    pub(crate) fn exchange(&self, name: &str, with: &Folder, with_name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(
            &self.dir,
            name,
            &with.dir,
            with_name,
            RenameFlags::EXCHANGE,
        )?)
    }

    /// The names in this folder, unordered. A name that is not UTF-8 is left out.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            let name: &OsStr = &entry?.file_name();
            names.extend(name.to_str().map(str::to_owned));
        }
        Ok(names)
    }

    /// The names of the first `most` folders in this folder.
    pub(crate) fn folder_names(&self, most: usize) -> Vec<String> {
        let Ok(entries) = self.dir.entries() else {
            return Vec::new();
        };
        let folders = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders
            .filter_map(|entry| entry.file_name().into_string().ok())
            .take(most)
            .collect()
    }

    /// Waits until the names in this folder are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.dir) {
            // Some network and FUSE file systems have no fsync of a folder; there is nothing to wait for then.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Whether this process may change names in this folder.
    pub(crate) fn is_writable(&self) -> bool {
        use rustix::fs::Access;
        rustix::fs::accessat(
            &self.dir,
            ".",
            Access::WRITE_OK | Access::EXEC_OK,
            AtFlags::EACCESS,
        )
        .is_ok()
    }

    /// Whether this process may write the file `name`.
    pub(crate) fn is_file_writable(&self, name: &str) -> bool {
        rustix::fs::accessat(
            &self.dir,
            name,
            rustix::fs::Access::WRITE_OK,
            AtFlags::EACCESS,
        )
        .is_ok()
    }

    /// Whether new files here inherit an access list from the folder.
    pub(crate) fn has_default_acl(&self) -> bool {
        let mut buffer = [0u8; 0];
        rustix::fs::fgetxattr(
            self.dir.as_fd(),
            "system.posix_acl_default",
            &mut buffer[..],
        )
        .is_ok()
    }
}

fn mode_bits(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as rustix::fs::RawMode)
}
