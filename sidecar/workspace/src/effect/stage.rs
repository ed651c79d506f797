//! Writing the new bytes of files where nobody looks yet, and waiting until they are on the disk.

use std::fs::File;
use std::io::Write;

use super::area::{Area, Spot};
use super::{Effect, FsError, attributes};
use crate::boundary::{Batch, Held, Place, WorkspacePath};
use crate::handle::{Kind, Stat};
use crate::revision::revision;
use std::sync::Arc;

/// How many written files wait for their fsync at once.
const WINDOW: usize = 64;

/// How many threads wait for fsyncs: journalling file systems merge what waits at the same time.
const SYNCERS: usize = 8;

/// The mode of a staged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewMode {
    /// That of the file it replaces; a new file gets `0666`, narrowed by the process's mask.
    Keep,
    /// As [`NewMode::Keep`], and executable for whoever may read it.
    Executable,
    /// Exactly this, `0o7777` at most.
    Exact(u32),
}

/// One file to stage.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// The file that is to have the bytes.
    pub path: &'a WorkspacePath,
    /// Its new bytes.
    pub bytes: &'a [u8],
    /// Its name in the area: unique there, without `/`.
    pub name: &'a str,
    /// Its mode.
    pub mode: NewMode,
    /// The file whose attributes it takes when its own name is free (a rename with an edit).
    pub like: Option<&'a WorkspacePath>,
    /// Whether a file marked read-only is replaced all the same.
    pub over_read_only: bool,
}

impl<'a> Stage<'a> {
    /// `bytes` for `path`, waiting under `name`; the mode is kept, a read-only file refused.
    pub fn new(path: &'a WorkspacePath, bytes: &'a [u8], name: &'a str) -> Self {
        Self {
            path,
            bytes,
            name,
            mode: NewMode::Keep,
            like: None,
            over_read_only: false,
        }
    }

    /// With this mode.
    #[must_use]
    pub fn mode(self, mode: NewMode) -> Self {
        Self { mode, ..self }
    }

    /// With the attributes of `like`, when its own name is free.
    #[must_use]
    pub fn like(self, like: &'a WorkspacePath) -> Self {
        Self {
            like: Some(like),
            ..self
        }
    }

    /// Over a read-only file.
    #[must_use]
    pub fn over_read_only(self) -> Self {
        Self {
            over_read_only: true,
            ..self
        }
    }
}

/// A file that waits in its area, its bytes on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    /// The file that is to have the bytes.
    pub path: WorkspacePath,
    /// Its name in the area.
    pub name: String,
    /// Hash of its bytes.
    pub revision: String,
    /// Its mode.
    pub mode: u32,
    /// Whether it has the owner of the file that it replaces.
    pub owner_kept: bool,
}

struct Written {
    staged: Staged,
    file: File,
}

impl Batch {
    /// Writes every file and waits until all bytes are on the disk. Nothing in the project changes.
    ///
    /// Refuses what could not be published: protected paths, links, hard links, read-only files and folders.
    ///
    /// # Errors
    ///
    /// The first [`FsError`]; what was staged until then is removed again.
    pub fn stage(&self, area: &Area, files: &[Stage<'_>]) -> Result<Vec<Staged>, FsError> {
        let mut done = Vec::with_capacity(files.len());
        let staged = files
            .chunks(WINDOW)
            .try_for_each(|window| self.sync_window(&self.write_window(area, window, &mut done)?))
            .and_then(|()| self.sync_area(area));
        if let Err(error) = staged {
            for staged in &done {
                self.discard(area, &staged.path, &staged.name);
            }
            return Err(error);
        }
        Ok(done)
    }

    fn write_window(
        &self,
        area: &Area,
        window: &[Stage<'_>],
        done: &mut Vec<Staged>,
    ) -> Result<Vec<Written>, FsError> {
        let mut written = Vec::with_capacity(window.len());
        for stage in window {
            let one = self.write_one(area, stage)?;
            done.push(one.staged.clone());
            written.push(one);
        }
        Ok(written)
    }

    fn write_one(&self, area: &Area, stage: &Stage<'_>) -> Result<Written, FsError> {
        let place = self.place_to_write(stage.path)?;
        self.check_replaceable(&place, stage.over_read_only)?;
        let parent = self.existing_parent(&place)?;
        let old = match (place.stat(), stage.like) {
            (Some(_), _) => Some(place),
            (None, Some(like)) => Some(self.place(like)?),
            (None, None) => None,
        };
        let path = stage.path.as_str();
        let fail = |action, error| FsError::io(path, action, error);
        self.root()
            .before(Effect::Write, path)
            .map_err(|error| fail("writing", error))?;
        let spot = self.spot(area, &parent, stage.name);
        let inherits =
            old.is_none() && (parent.stat.mode & 0o2000 != 0 || parent.folder.has_default_acl());
        let spot = if inherits {
            Spot::beside(area, &parent, stage.name)
        } else {
            spot
        };
        let first_mode = if old.is_some() { 0o600 } else { 0o666 };
        let file = spot
            .create(first_mode)
            .map_err(|error| fail("writing", error))?;
        let finish = || -> std::io::Result<(u32, bool)> {
            (&file).write_all(stage.bytes)?;
            let stat = Stat::from(rustix::fs::fstat(&file)?);
            match old
                .as_ref()
                .and_then(|old| Some((old, old.parent()?, old.stat()?)))
            {
                Some((old, held, old_stat)) => {
                    let mode = stage.mode.over(old_stat.mode);
                    let (old_file, old_stat) = held.folder.open_file(old.path().name())?;
                    Ok((
                        mode,
                        attributes::copy(&old_file, &old_stat, &file, &stat, mode)?,
                    ))
                }
                None => {
                    let mode = stage.mode.over(stat.mode);
                    if mode != stat.mode {
                        rustix::fs::fchmod(
                            &file,
                            rustix::fs::Mode::from_bits_truncate(mode as rustix::fs::RawMode),
                        )?;
                    }
                    Ok((mode, true))
                }
            }
        };
        match finish() {
            Ok((mode, owner_kept)) => {
                let staged = Staged {
                    path: stage.path.clone(),
                    name: stage.name.to_owned(),
                    revision: revision(stage.bytes),
                    mode,
                    owner_kept,
                };
                Ok(Written { staged, file })
            }
            Err(error) => {
                let _ = spot.folder().remove_file(&spot.name);
                Err(fail("writing", error))
            }
        }
    }

    /// Waits for the bytes of one window, from a few threads at once.
    fn sync_window(&self, written: &[Written]) -> Result<(), FsError> {
        let sync = |one: &Written| {
            let path = one.staged.path.as_str();
            self.root()
                .before(Effect::Fsync, path)
                .and_then(|()| one.file.sync_all())
                .map_err(|error| FsError::io(path, "fsync", error))
        };
        if written.len() < 4 {
            return written.iter().try_for_each(sync);
        }
        std::thread::scope(|scope| {
            let parts = written.chunks(written.len().div_ceil(SYNCERS));
            let workers: Vec<_> = parts
                .map(|part| scope.spawn(move || part.iter().try_for_each(sync)))
                .collect();
            workers
                .into_iter()
                .try_for_each(|worker| match worker.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
        })
    }

    /// Whether the file at `place` may be replaced or removed: its kind, its other names, its marks.
    pub(super) fn check_replaceable(
        &self,
        place: &Place,
        over_read_only: bool,
    ) -> Result<(), FsError> {
        let path = place.path().as_str().to_owned();
        let parent = self.existing_parent(place)?;
        if !parent.folder.is_writable() {
            let folder = if parent.path.is_empty() {
                ".".to_owned()
            } else {
                parent.path.clone()
            };
            return Err(FsError::ReadOnly {
                path: folder,
                why: format!("{path} cannot be changed in this folder"),
            });
        }
        let Some(stat) = place.stat() else {
            return Ok(());
        };
        match stat.kind {
            Kind::File => {}
            Kind::Directory => return Err(FsError::IsDirectory { path }),
            Kind::Symlink | Kind::Fifo | Kind::Socket | Kind::Device => {
                return Err(FsError::NotAFile {
                    path,
                    what: stat.kind.word(),
                });
            }
        }
        if stat.links > 1 {
            return Err(FsError::HardLinked {
                path,
                links: stat.links,
            });
        }
        if over_read_only {
            return Ok(());
        }
        if stat.mode & 0o222 == 0 {
            return Err(FsError::ReadOnly {
                path,
                why: format!("its mode is {:04o}", stat.mode),
            });
        }
        if !parent.folder.is_file_writable(place.path().name()) {
            return Err(FsError::ReadOnly {
                path,
                why: "it belongs to somebody else".into(),
            });
        }
        Ok(())
    }

    /// The nearest folder above `place` that exists.
    pub(super) fn existing_parent(&self, place: &Place) -> Result<Arc<Held>, FsError> {
        if let Some(parent) = place.parent() {
            return Ok(parent.clone());
        }
        Ok(self.nearest_folder(place.path())?)
    }
}

impl NewMode {
    fn over(self, base: u32) -> u32 {
        match self {
            NewMode::Keep => base,
            NewMode::Executable => base | (base & 0o444) >> 2,
            NewMode::Exact(mode) => mode & 0o7777,
        }
    }
}
