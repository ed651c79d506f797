//! Where staged and displaced files wait.

use std::fs::File;
use std::sync::Arc;

use super::names::old_name;
use crate::boundary::{Batch, Held, WorkspacePath};
use crate::handle::Folder;

/// A folder below the durable store for the files of one commit.
#[derive(Debug, Clone)]
pub struct Area {
    held: Arc<Held>,
}

impl Area {
    pub(crate) fn new(held: Arc<Held>) -> Self {
        Self { held }
    }

    /// The folder, relative to the workspace root.
    pub fn path(&self) -> &str {
        &self.held.path
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.held.folder
    }
}

/// A folder and a name in it where a file waits on the mount of its target.
#[derive(Debug)]
pub(super) struct Spot {
    held: Arc<Held>,
    pub(super) name: String,
}

impl Spot {
    /// `name` in the area.
    pub(super) fn in_area(area: &Area, name: &str) -> Self {
        Self {
            held: area.held.clone(),
            name: name.to_owned(),
        }
    }

    /// A name in the folder `target` that nothing else has: it names the area's owner.
    pub(super) fn beside(area: &Area, target: &Arc<Held>, name: &str) -> Self {
        let owner = area
            .path()
            .rsplit('/')
            .find(|part| part.contains('_'))
            .unwrap_or("commit");
        Self {
            held: target.clone(),
            name: format!(".redline-{owner}-{name}.tmp"),
        }
    }

    /// Makes the file. One that a killed process left under this name gives way: names belong to one commit.
    pub(super) fn create(&self, mode: u32) -> std::io::Result<File> {
        match self.folder().create_file(&self.name, mode) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                self.folder().remove_file(&self.name)?;
                self.folder().create_file(&self.name, mode)
            }
            created => created,
        }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.held.folder
    }
}

impl Batch {
    /// The spot called `name` for a file that comes from or goes to a folder like `target`: in `area` when
    /// a rename from there can work, else right in `target`.
    pub(super) fn spot(&self, area: &Area, target: &Arc<Held>, name: &str) -> Spot {
        if area.held.shares_mount(target) {
            Spot::in_area(area, name)
        } else {
            Spot::beside(area, target, name)
        }
    }

    /// Where the staged file `name` for `path` waits; a spot without it when it waits nowhere.
    pub(super) fn staged_spot(&self, area: &Area, path: &WorkspacePath, name: &str) -> Spot {
        self.spot_with(area, path, name, str::to_owned)
    }

    /// Where the file that `name` displaced at `path` waits; a spot without it when it waits nowhere.
    pub(super) fn displaced_spot(&self, area: &Area, path: &WorkspacePath, name: &str) -> Spot {
        self.spot_with(area, path, name, old_name)
    }

    fn spot_with(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        file: impl Fn(&str) -> String,
    ) -> Spot {
        let mut spots = self.spots_of(area, path, name);
        let has_it = |spot: &Spot| {
            spot.folder()
                .stat(&file(&spot.name))
                .is_ok_and(|stat| stat.is_some())
        };
        // The one in the area, which is always there, unless another has the file.
        let at = spots.iter().position(has_it).unwrap_or(0);
        spots.swap_remove(at)
    }

    /// Every spot that a file called `name` for `path` can wait at: the area, then the folders above `path`,
    /// nearest first. One may have been made only after the file was staged beside it.
    pub(super) fn spots_of(&self, area: &Area, path: &WorkspacePath, name: &str) -> Vec<Spot> {
        let mut spots = vec![Spot::in_area(area, name)];
        let mut folder = path.folder();
        loop {
            if let Ok(Some(held)) = self.folder_at(path.as_str(), folder) {
                spots.push(Spot::beside(area, &held, name));
            }
            match folder.rsplit_once('/') {
                Some((above, _)) => folder = above,
                None if !folder.is_empty() => folder = "",
                None => return spots,
            }
        }
    }
}
