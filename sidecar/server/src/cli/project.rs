//! Which project a command is about.
//!
//! Owns: finding the root from where the command was started. Must not know: what is in it.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// What marks the root of a project.
const MARKERS: [&str; 3] = [".git", ".agentic", "redline.toml"];

/// The root: `given`, else the nearest folder upward that a marker is in, else the current folder.
///
/// # Errors
///
/// `NOT_FOUND` or `NOT_DIRECTORY` when `given` is no folder.
pub(crate) fn root(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(given) = given {
        let hint = "name an existing folder with --workspace";
        let root = given.canonicalize().map_err(|error| {
            Failure::new("NOT_FOUND", format!("{}: {error}", given.display()), hint)
        })?;
        if !root.is_dir() {
            let message = format!("{} is not a folder", given.display());
            return Err(Failure::new("NOT_DIRECTORY", message, hint));
        }
        return Ok(root);
    }
    let here = std::env::current_dir().map_err(|error| {
        let mut failure = Failure::io("the current folder cannot be read", &error);
        failure.hint = "change to an existing folder, or name one with --workspace".to_owned();
        failure
    })?;
    Ok(enclosing(&here).unwrap_or(&here).to_owned())
}

fn enclosing(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| MARKERS.iter().any(|marker| folder.join(marker).exists()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn the_nearest_marked_folder_is_the_root() {
        let base = tempfile::tempdir().unwrap();
        let inner = base.path().join("a/b/c");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(base.path().join(".git")).unwrap();
        assert_eq!(enclosing(&inner), Some(base.path()));
        std::fs::write(base.path().join("a/b/redline.toml"), "").unwrap();
        assert_eq!(enclosing(&inner), Some(base.path().join("a/b").as_path()));
    }

    #[test]
    fn a_given_folder_must_be_one() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("f");
        std::fs::write(&file, "").unwrap();
        assert_eq!(root(Some(&file)).unwrap_err().code, "NOT_DIRECTORY");
        assert_eq!(
            root(Some(&base.path().join("x"))).unwrap_err().code,
            "NOT_FOUND"
        );
        assert_eq!(
            root(Some(base.path())).unwrap(),
            base.path().canonicalize().unwrap()
        );
    }
}
