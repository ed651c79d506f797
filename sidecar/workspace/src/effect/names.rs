//! Giving files their names and taking them away: publish, remove, rename, set-mode, folders, and back.

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
        let spot = self.staged_spot(area, &parent, &staged.name);
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

    /// Takes back what [`Batch::publish`] or [`Batch::remove`] did to `path` under `name`. `ours` is the
    /// revision that was published, `None` after a removal. Does nothing when there is nothing to take back.
    ///
    /// # Errors
    ///
    /// [`FsError::Changed`] when somebody else changed the file since: it is left alone, and so is what
    /// waits in the area.
    pub fn put_back(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        ours: Option<&str>,
    ) -> Result<(), FsError> {
        let place = self.place_to_write(path)?;
        let Some(parent) = place.parent().cloned() else {
            return Ok(());
        };
        let spot = self.displaced_spot(area, &parent, name);
        let old = old_name(&spot.name);
        let fail = |error| FsError::io(path.as_str(), "putting it back", error);
        let changed = |found| FsError::Changed {
            path: path.as_str().into(),
            found,
        };
        let leaf = path.name();
        let mut has_old = spot.folder().stat(&old).map_err(fail)?.is_some();
        let staged = self.staged_spot(area, &parent, name);
        if !has_old && staged.folder().stat(&staged.name).map_err(fail)?.is_some() {
            // The staged file still waits, so nothing was published; unless a kill came between the exchange
            // and the old file's new name.
            let is_published = |ours| {
                check_revision(&parent.folder, leaf, ours).is_ok()
                    && check_revision(staged.folder(), &staged.name, ours).is_err()
            };
            if !ours.is_some_and(is_published) {
                return Ok(());
            }
            staged
                .folder()
                .rename(&staged.name, spot.folder(), &old)
                .map_err(fail)?;
            has_old = true;
        }
        match (place.stat().is_some(), has_old, ours) {
            (false, false, _) => return Ok(()),
            (false, true, _) => {
                self.root()
                    .before(Effect::Rename, path.as_str())
                    .map_err(fail)?;
                spot.folder()
                    .rename_to_free(&old, &parent.folder, leaf)
                    .map_err(fail)?;
            }
            (true, true, Some(ours)) => {
                check_revision(&parent.folder, leaf, ours).map_err(changed)?;
                self.root()
                    .before(Effect::Rename, path.as_str())
                    .map_err(fail)?;
                match spot.folder().exchange(&old, &parent.folder, leaf) {
                    Ok(()) => spot.folder().remove_file(&old).map_err(fail)?,
                    Err(error) if cannot_exchange(&error) => {
                        spot.folder()
                            .rename(&old, &parent.folder, leaf)
                            .map_err(fail)?;
                    }
                    Err(error) => return Err(fail(error)),
                }
            }
            (true, false, Some(ours)) => {
                // A create: take our own file away, and nobody else's.
                if check_revision(&parent.folder, leaf, ours).is_ok() {
                    self.root()
                        .before(Effect::Remove, path.as_str())
                        .map_err(fail)?;
                    parent.folder.remove_file(leaf).map_err(fail)?;
                } else {
                    return Err(changed("it is not what was published".into()));
                }
            }
            (true, true, None) => return Err(changed("a new file has its name".into())),
            (true, false, None) => return Ok(()),
        }
        self.note_change(&parent.path);
        Ok(())
    }

    /// Forgets what waits in the area as `name` for `path`: a staged file, a displaced one. Best effort.
    pub fn discard(&self, area: &Area, path: &WorkspacePath, name: &str) {
        let place = self.place(path).ok();
        let beside = place.and_then(|place| self.existing_parent(&place).ok());
        let mut spots = vec![Spot::in_area(area, name)];
        spots.extend(beside.map(|held| Spot::beside(area, &held, name)));
        for spot in spots {
            let _ = spot.folder().remove_file(&spot.name);
            let _ = spot.folder().remove_file(&old_name(&spot.name));
        }
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

    /// Makes the folders that `path` needs. Returns those that it made, outermost first.
    ///
    /// # Errors
    ///
    /// Those of the walk, or the system's refusal; what was made until then is removed again.
    pub fn make_folders(&self, path: &WorkspacePath) -> Result<Vec<String>, FsError> {
        let mut made: Vec<String> = Vec::new();
        let folder = path.folder();
        self.place_to_write(path)?;
        let ends = folder
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([folder.len()]);
        for prefix in ends
            .map(|end| &folder[..end])
            .filter(|prefix| !prefix.is_empty())
        {
            if self.folder_at(path.as_str(), prefix)?.is_some() {
                continue;
            }
            match self.make_folder(path, prefix) {
                Ok(true) => made.push(prefix.to_owned()),
                Ok(false) => {}
                Err(error) => {
                    self.remove_folders(&made);
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    fn make_folder(&self, path: &WorkspacePath, folder: &str) -> Result<bool, FsError> {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let fail = |error| FsError::io(folder, "making the folder", error);
        let held = self.folder_at(path.as_str(), above)?;
        let held = held.ok_or_else(|| FsError::NotFound {
            path: above.to_owned(),
        })?;
        self.root().before(Effect::Write, folder).map_err(fail)?;
        let made = match held.folder.create_folder(name, 0o777) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(fail(error)),
        };
        self.forget(folder);
        self.note_change(above);
        Ok(made)
    }

    /// Removes folders that [`Batch::make_folders`] made, innermost first; one that holds something stays.
    /// Returns those that stayed.
    pub fn remove_folders(&self, folders: &[String]) -> Vec<String> {
        let mut stayed = Vec::new();
        for folder in folders.iter().rev() {
            let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            self.forget(folder);
            let removed = match self.folder_at(folder, above) {
                Ok(Some(held)) => self
                    .root()
                    .before(Effect::Remove, folder)
                    .and_then(|()| held.folder.remove_folder(name)),
                Ok(None) => continue,
                Err(_) => Err(std::io::ErrorKind::NotFound.into()),
            };
            match removed {
                Ok(()) => self.note_change(above),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => stayed.push(folder.clone()),
            }
        }
        stayed
    }

    /// Waits until all names changed by this batch are on the disk: one fsync for each folder.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`] naming the folder.
    pub fn sync_changed(&self) -> Result<(), FsError> {
        for folder in self.take_changed() {
            let Some(held) = self.folder_at(&folder, &folder)? else {
                continue;
            };
            let synced = self
                .root()
                .before(Effect::Fsync, &folder)
                .and_then(|()| held.folder.sync());
            synced.map_err(|error| FsError::io(&folder, "fsync of the folder", error))?;
        }
        Ok(())
    }

    pub(super) fn sync_area(&self, area: &Area) -> Result<(), FsError> {
        let synced = self
            .root()
            .before(Effect::Fsync, area.path())
            .and_then(|()| area.folder().sync());
        synced.map_err(|error| FsError::io(area.path(), "fsync of the folder", error))
    }

    pub(super) fn staged_spot(&self, area: &Area, parent: &Arc<Held>, name: &str) -> Spot {
        first_with(area, parent, name, str::to_owned)
    }

    pub(super) fn displaced_spot(&self, area: &Area, parent: &Arc<Held>, name: &str) -> Spot {
        first_with(area, parent, name, old_name)
    }
}

/// The spot in the area when it has the file, else the one beside the target.
fn first_with(area: &Area, parent: &Arc<Held>, name: &str, file: impl Fn(&str) -> String) -> Spot {
    let spot = Spot::in_area(area, name);
    match spot.folder().stat(&file(&spot.name)) {
        Ok(Some(_)) => spot,
        Ok(None) | Err(_) => Spot::beside(area, parent, name),
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

fn cannot_exchange(error: &std::io::Error) -> bool {
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
        let spot = batch.staged_spot(&area, &parent, "0");
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
        let spot = batch.staged_spot(&area, &parent, "0");
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
