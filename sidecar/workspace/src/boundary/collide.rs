//! Names that differ in case or Unicode form alone: two files here, one on many other systems.
//!
//! Where the file system takes both spellings for one file, a path must be spelled as it is on the
//! disk, and one transaction must spell it in one way: `Readme.md` beside `README.md` would be the
//! same file, reviewed twice. Where the file system tells them apart, both are legal.

use std::collections::{HashMap, HashSet};

use super::batch::Held;
use super::protect::fold;
use super::{Batch, PathError, WorkspacePath};
use crate::handle::Folder;

/// Names of a folder that are tried for the one that tells whether it folds.
const MOST_NAMES: usize = 64;

/// Which folders take names that differ in case or Unicode form alone for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    /// Those of which the disk says so.
    #[default]
    Detect,
    /// All of them, whatever the disk says: what is refused elsewhere is refused here.
    Always,
}

impl Batch {
    /// The existing path that `path` would be, spelled as it is on the disk: `README.md` for `readme.md`, `src`
    /// for `SRC/new.rs`. None where the file system tells the two apart.
    ///
    /// # Errors
    ///
    /// Those of the walk.
    pub fn collision(&self, path: &WorkspacePath) -> Result<Option<String>, PathError> {
        let mut above = String::new();
        for name in path.components() {
            let Some(held) = self.folder_at(path.as_str(), &above)? else {
                return Ok(None);
            };
            if self.folds(&held) {
                let twin = held.twin(name);
                let twin = twin.map_err(|error| PathError::io(path.as_str(), error))?;
                if let Some(twin) = twin {
                    return Ok(Some(join(&above, twin)));
                }
            }
            above = join(&above, name);
        }
        Ok(None)
    }

    /// Whether a folder above `path` folds; one that is not there yet will be like the one that it is made in.
    fn folds_on_the_way(&self, path: &WorkspacePath) -> Result<bool, PathError> {
        let folder = path.folder();
        let ends = folder.match_indices('/').map(|(end, _)| end);
        for end in std::iter::once(0).chain(ends).chain([folder.len()]) {
            match self.folder_at(path.as_str(), &folder[..end])? {
                Some(held) if self.folds(&held) => return Ok(true),
                Some(_) => {}
                None => break,
            }
        }
        Ok(false)
    }

    /// Whether names in a folder that differ in case or Unicode form alone are one.
    fn folds(&self, held: &Held) -> bool {
        match self.root().options().folding {
            Folding::Always => true,
            Folding::Detect => *held.folds.get_or_init(|| {
                let told = held.folder.is_case_folding();
                told.or_else(|| probe(&held.folder))
                    .unwrap_or_else(|| self.is_folded_above(held))
            }),
        }
    }

    /// For a folder in which nothing tells: whether its own name is folded by the folder above.
    fn is_folded_above(&self, held: &Held) -> bool {
        if held.path.is_empty() {
            let root = self.root().path();
            let (Some(above), Some(name)) = (root.parent(), root.file_name()) else {
                return false;
            };
            return name.to_str().is_some_and(|name| {
                Folder::open(above).is_ok_and(|above| is_one(&above, name) == Some(true))
            });
        }
        let above = held.path.rsplit_once('/').map_or("", |(above, _)| above);
        match self.folder_at(&held.path, above) {
            Ok(Some(above)) => above.stat.dev == held.stat.dev && self.folds(&above),
            Ok(None) | Err(_) => false,
        }
    }
}

/// How the paths of one transaction are spelled.
#[derive(Debug, Default)]
pub(crate) struct Spellings {
    /// Each path, and each folder above one, by its folded form.
    seen: HashMap<String, String>,
    /// Folders in which every spelling is a name of its own, all the way down to them.
    plain: HashSet<String>,
}

impl Spellings {
    /// Adds a path.
    ///
    /// # Errors
    ///
    /// [`PathError::Collision`] when it, or a folder above it, is spelled in another way on the disk or by a path
    /// that was added before, and the file system takes both for one.
    pub(crate) fn add(&mut self, batch: &Batch, path: &WorkspacePath) -> Result<(), PathError> {
        if self.plain.contains(path.folder()) {
            return Ok(());
        }
        if !batch.folds_on_the_way(path)? {
            self.plain.insert(path.folder().to_owned());
            return Ok(());
        }
        let collision = |with: &str| PathError::Collision {
            path: path.as_str().into(),
            with: with.into(),
        };
        if let Some(twin) = batch.collision(path)? {
            return Err(collision(&twin));
        }
        let (mut above, mut key) = (String::new(), String::new());
        // A folder that is not there yet will be like the one that it is made in.
        let (mut folds, mut folded) = (false, false);
        for name in path.components() {
            if let Some(held) = batch.folder_at(path.as_str(), &above)? {
                folds = batch.folds(&held);
            }
            folded |= folds;
            above = join(&above, name);
            key = if folds {
                join(&key, &fold(name))
            } else {
                join(&key, name)
            };
            if !folded {
                continue;
            }
            let spelled = self
                .seen
                .entry(key.clone())
                .or_insert_with(|| above.clone());
            if *spelled != above {
                return Err(collision(spelled));
            }
        }
        Ok(())
    }
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}/{name}")
    }
}

/// Whether a folder folds names, as the first of them tells that has letters; `None` when none does.
fn probe(folder: &Folder) -> Option<bool> {
    let names = folder.names().ok()?;
    names
        .iter()
        .take(MOST_NAMES)
        .filter(|name| !names.contains(&other_case(name)))
        .find_map(|name| is_one(folder, name))
}

/// Whether `name` and the same name in the other case are one here; `None` when it has no letters, or is not there.
fn is_one(folder: &Folder, name: &str) -> Option<bool> {
    let other = other_case(name);
    if other == name {
        return None;
    }
    let here = folder.stat(name).ok()??;
    let there = folder.stat(&other).ok()?;
    Some(there.is_some_and(|there| there.same_file(&here)))
}

fn other_case(name: &str) -> String {
    let flip = |c: char| {
        if c.is_ascii_lowercase() {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        }
    };
    name.chars().map(flip).collect()
}
