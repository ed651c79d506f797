//! Giving files their names and taking them away: publish, remove, rename, set-mode.

use std::io::Read;
use std::sync::Arc;

use super::area::{Area, Spot};
use super::{Effect, FsError, Staged};
use crate::boundary::{Batch, Held, Place, WorkspacePath};
use crate::handle::{Folder, Kind};

/// What a name must stand for when an effect reaches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect<'a> {
    /// Nothing.
    Missing,
    /// A file with this revision.
    Revision(&'a str),
}

impl Batch {
    /// Gives a staged file its name.
    ///
    /// With [`Expect::Revision`] the old file is displaced into the area, where [`Batch::put_back`] finds
    /// it; when it turns out not to be the expected one, both files go back to where they were.
    ///
    /// # Errors
    ///
    /// [`FsError::Exists`], [`FsError::Changed`], or any other; the project is then as it was.
    pub fn publish(&self, area: &Area, staged: &Staged, expect: Expect<'_>) -> Result<(), FsError> {
        let place = self.place_to_write(&staged.path)?;
        let parent = parent_of(&place)?;
        let path = staged.path.as_str();
        let leaf = staged.path.name();
        let spot = self.staged_spot(area, &staged.path, &staged.name);
        let fail = |error| FsError::io(path, "rename", error);
        self.root().before(Effect::Rename, path).map_err(fail)?;
        match expect {
            Expect::Missing => spot
                .folder()
                .rename_to_free(&spot.name, &parent.folder, leaf)
                .map_err(fail)?,
            Expect::Revision(revision) => displace(&spot, &parent.folder, leaf, path, revision)?,
        }
        self.note_change(&parent.path);
        Ok(())
    }

    /// Takes a file's name away; the file itself waits in the area as `name`, where [`Batch::put_back`]
    /// finds it.
    ///
    /// # Errors
    ///
    /// [`FsError::Changed`] when it is not the expected one, or any other; the file is then where it was.
    pub fn remove(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        revision: &str,
    ) -> Result<(), FsError> {
        let place = self.place_to_write(path)?;
        let parent = parent_of(&place)?;
        if place.stat().is_none() {
            return Err(FsError::NotFound {
                path: path.as_str().into(),
            });
        }
        self.check_replaceable(&place, false)?;
        let fail = |error| FsError::io(path.as_str(), "remove", error);
        self.root()
            .before(Effect::Remove, path.as_str())
            .map_err(fail)?;
        let spot = self.spot(area, &parent, name);
        let old = old_name(&spot.name);
        parent
            .folder
            .rename_to_free(path.name(), spot.folder(), &old)
            .map_err(fail)?;
        if let Err(found) = check_revision(spot.folder(), &old, revision) {
            spot.folder()
                .rename_to_free(&old, &parent.folder, path.name())
                .map_err(fail)?;
            return Err(FsError::Changed {
                path: path.as_str().into(),
                found,
            });
        }
        self.note_change(&parent.path);
        Ok(())
    }

    /// Moves a file to a free name.
    ///
    /// # Errors
    ///
    /// [`FsError::Exists`] for a taken name, [`FsError::Changed`] for another content than `revision`.
    pub fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        revision: &str,
    ) -> Result<(), FsError> {
        let source = self.place_to_write(from)?;
        let target = self.place_to_write(to)?;
        let (source_parent, target_parent) = (parent_of(&source)?, parent_of(&target)?);
        match source.stat().map(|stat| stat.kind) {
            None => {
                return Err(FsError::NotFound {
                    path: from.as_str().into(),
                });
            }
            Some(Kind::File) => {}
            Some(Kind::Directory) => {
                return Err(FsError::IsDirectory {
                    path: from.as_str().into(),
                });
            }
            Some(kind) => {
                return Err(FsError::NotAFile {
                    path: from.as_str().into(),
                    what: kind.word(),
                });
            }
        }
        let fail = |error| FsError::io(to.as_str(), "rename", error);
        check_revision(&source_parent.folder, from.name(), revision).map_err(|found| {
            FsError::Changed {
                path: from.as_str().into(),
                found,
            }
        })?;
        self.root()
            .before(Effect::Rename, to.as_str())
            .map_err(fail)?;
        // On a file system without case `a` and `A` are one file, whose spelling may change.
        let respelled = source
            .stat()
            .zip(target.stat())
            .is_some_and(|(a, b)| a.same_file(b) && a.links == 1);
        let moved = if respelled {
            source_parent
                .folder
                .rename(from.name(), &target_parent.folder, to.name())
        } else {
            source_parent
                .folder
                .rename_to_free(from.name(), &target_parent.folder, to.name())
        };
        moved.map_err(fail)?;
        // Looked at again: what was moved is what counts, not what was there a moment before.
        if let Err(found) = check_revision(&target_parent.folder, to.name(), revision) {
            target_parent
                .folder
                .rename_to_free(to.name(), &source_parent.folder, from.name())
                .map_err(fail)?;
            return Err(FsError::Changed {
                path: from.as_str().into(),
                found,
            });
        }
        self.note_change(&source_parent.path);
        self.note_change(&target_parent.path);
        Ok(())
    }

    /// Sets a file's mode and returns the one that it had.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], or the system's refusal.
    pub fn set_mode(&self, path: &WorkspacePath, mode: u32) -> Result<u32, FsError> {
        let place = self.place_to_write(path)?;
        let parent = parent_of(&place)?;
        let fail = |error| FsError::io(path.as_str(), "changing its mode", error);
        self.root()
            .before(Effect::Write, path.as_str())
            .map_err(fail)?;
        let (file, stat) = parent.folder.open_file(path.name()).map_err(fail)?;
        let bits = rustix::fs::Mode::from_bits_truncate((mode & 0o7777) as rustix::fs::RawMode);
        rustix::fs::fchmod(&file, bits).map_err(|error| fail(error.into()))?;
        Ok(stat.mode)
    }
}

/// The name of a displaced file beside the name of the one that displaced it.
pub(super) fn old_name(name: &str) -> String {
    format!("{name}.old")
}

pub(super) fn parent_of(place: &Place) -> Result<Arc<Held>, FsError> {
    let folder = || FsError::NotFound {
        path: place.path().folder().to_owned(),
    };
    place.parent().cloned().ok_or_else(folder)
}

/// Lets the staged file and the one called `leaf` change places, when the latter has `revision`.
fn displace(
    spot: &Spot,
    parent: &Folder,
    leaf: &str,
    path: &str,
    revision: &str,
) -> Result<(), FsError> {
    let fail = |error| FsError::io(path, "rename", error);
    let changed = |found| FsError::Changed {
        path: path.to_owned(),
        found,
    };
    let old = old_name(&spot.name);
    match spot.folder().exchange(&spot.name, parent, leaf) {
        Ok(()) => {
            if let Err(found) = check_revision(spot.folder(), &spot.name, revision) {
                spot.folder()
                    .exchange(&spot.name, parent, leaf)
                    .map_err(fail)?;
                return Err(changed(found));
            }
            spot.folder()
                .rename(&spot.name, spot.folder(), &old)
                .map_err(fail)
        }
        Err(error) if cannot_exchange(&error) => {
            displace_by_link(spot, parent, leaf, path, revision)
        }
        Err(error) => Err(fail(error)),
    }
}

/// The next best where a file system cannot exchange names: keep the old file under a second name, look at
/// it, then replace its first one.
fn displace_by_link(
    spot: &Spot,
    parent: &Folder,
    leaf: &str,
    path: &str,
    revision: &str,
) -> Result<(), FsError> {
    let fail = |error| FsError::io(path, "rename", error);
    let old = old_name(&spot.name);
    parent.link(leaf, spot.folder(), &old).map_err(fail)?;
    if let Err(found) = check_revision(spot.folder(), &old, revision) {
        spot.folder().remove_file(&old).map_err(fail)?;
        return Err(FsError::Changed {
            path: path.to_owned(),
            found,
        });
    }
    spot.folder().rename(&spot.name, parent, leaf).map_err(fail)
}

pub(super) fn cannot_exchange(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP))
}

/// Checks that `name` is a file with `revision`; otherwise says what it is.
pub(super) fn check_revision(folder: &Folder, name: &str, revision: &str) -> Result<(), String> {
    let (mut file, stat) = match folder.stat(name) {
        Ok(None) => return Err("it is gone".into()),
        Ok(Some(stat)) if stat.kind != Kind::File => {
            return Err(format!("it is {} now", stat.kind.word()));
        }
        Ok(Some(_)) => folder
            .open_file(name)
            .map_err(|error| format!("it cannot be read: {error}"))?,
        Err(error) => return Err(format!("it cannot be looked up: {error}")),
    };
    let mut bytes = Vec::with_capacity(usize::try_from(stat.len).unwrap_or(0).saturating_add(1));
    file.read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    let found = crate::revision::revision(&bytes);
    if found == revision {
        Ok(())
    } else {
        Err(format!("its revision is {found}, not {revision}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::effect::{NewMode, Stage};
    use crate::testing::{Scratch, revision};

    #[test]
    fn a_kill_between_exchange_and_naming_can_be_taken_back() {
        let scratch = Scratch::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
        let (batch, area, path) = (scratch.root.batch(), scratch.area(), scratch.path("a.txt"));
        batch
            .stage(&area, &[Stage::new(&path, b"A\n", "0")])
            .unwrap();
        let parent = parent_of(&batch.place(&path).unwrap()).unwrap();
        let spot = batch.staged_spot(&area, &path, "0");
        spot.folder()
            .exchange("0", &parent.folder, "a.txt")
            .unwrap();
        batch
            .put_back(&area, &path, "0", Some(&revision("A\n")))
            .unwrap();
        assert_eq!(
            scratch.tree(),
            [("a.txt", "a\n"), ("b.txt", "b\n")].map(Scratch::pair)
        );
    }

    #[test]
    fn without_exchange_the_old_file_is_kept_by_a_link() {
        let scratch = Scratch::new(&[("a.txt", "a\n")]);
        let (batch, area, path) = (scratch.root.batch(), scratch.area(), scratch.path("a.txt"));
        let stage = Stage::new(&path, b"A\n", "0").mode(NewMode::Keep);
        batch.stage(&area, &[stage]).unwrap();
        let parent = parent_of(&batch.place(&path).unwrap()).unwrap();
        let spot = batch.staged_spot(&area, &path, "0");
        let error = displace_by_link(
            &spot,
            &parent.folder,
            "a.txt",
            "a.txt",
            &revision("other\n"),
        )
        .unwrap_err();
        assert_eq!(error.code(), "CONFLICT");
        assert_eq!(scratch.tree(), [Scratch::pair(("a.txt", "a\n"))]);
        displace_by_link(&spot, &parent.folder, "a.txt", "a.txt", &revision("a\n")).unwrap();
        assert_eq!(scratch.tree(), [Scratch::pair(("a.txt", "A\n"))]);
        batch
            .put_back(&area, &path, "0", Some(&revision("A\n")))
            .unwrap();
        assert_eq!(scratch.tree(), [Scratch::pair(("a.txt", "a\n"))]);
    }
}
