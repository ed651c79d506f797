//! Names that differ in case or Unicode form alone: two files here, one on many other systems.

use super::protect::fold;
use super::{Batch, PathError, WorkspacePath, git};

impl WorkspacePath {
    /// Whether some file systems take both for one path.
    pub fn collides_with(&self, other: &WorkspacePath) -> bool {
        self != other && git::fold_path(self.as_str()) == git::fold_path(other.as_str())
    }
}

impl Batch {
    /// The existing path that a new file at `path` would collide with on a file system without case or with
    /// one Unicode form: `README.md` for `readme.md`, `src` for `SRC/new.rs`.
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
            let fail = |error| PathError::io(path.as_str(), error);
            let join = |name: &str| {
                if above.is_empty() {
                    name.to_owned()
                } else {
                    format!("{above}/{name}")
                }
            };
            if held.folder.stat(name).map_err(fail)?.is_none() {
                let names = held.folded_names().map_err(fail)?;
                let twin = names.get(fold(name).as_ref()).filter(|twin| *twin != name);
                return Ok(twin.map(|twin| join(twin)));
            }
            above = join(name);
        }
        Ok(None)
    }
}
