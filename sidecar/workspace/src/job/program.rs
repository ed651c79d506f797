//! From the name of a program to the file that will run, and its revision.
//!
//! | asked for | means |
//! |---|---|
//! | `git` | the first executable of that name in an absolute folder of the env's `PATH`, outside the workspace |
//! | `./gradlew`, `tools/gen` | a file of the workspace, seen from the folder that the command runs in |
//! | `/usr/bin/git` | that file |
//!
//! A program of the workspace is only reached by its path: a repository that brings a `git` of its own, and
//! a `PATH` that leads to it, must not be taken for git. What was resolved is compared again right before it
//! starts, so that what was looked at is what runs.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::JobError;
use crate::boundary::{WorkspacePath, WorkspaceRoot};
use crate::handle::Stat;

/// Most revisions that are remembered.
const REMEMBERED: usize = 256;

/// Where a program lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramPlace {
    /// Asked for by its bare name, found on `PATH`.
    Path,
    /// Asked for by an absolute path outside the workspace.
    Absolute,
    /// A file of the workspace.
    Workspace,
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// As it was asked for.
    pub asked: String,
    /// The file that runs; links in it are not resolved, as programs look at the name they run under.
    pub path: PathBuf,
    /// Where it lies.
    pub place: ProgramPlace,
    /// blake3 of its bytes, in hex.
    pub revision: String,
    stat: Stat,
}

impl Program {
    /// Whether the file is still the one that was found.
    ///
    /// # Errors
    ///
    /// [`JobError::ProgramChanged`].
    pub(super) fn check(&self) -> Result<(), JobError> {
        match stat(&self.path) {
            Some(now) if now == self.stat => Ok(()),
            _ => Err(JobError::ProgramChanged {
                path: self.path.display().to_string(),
            }),
        }
    }
}

/// Finds programs, and remembers the revisions of files that did not change since.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    revisions: Arc<Mutex<HashMap<PathBuf, (Stat, String)>>>,
}

impl Programs {
    /// Finds `program` for a command that runs in `folder` (None: the root) with the env's `path`.
    ///
    /// # Errors
    ///
    /// [`JobError::BadCommand`], [`JobError::NoProgram`], [`JobError::NotAProgram`],
    /// [`JobError::OfWorkspace`], and a path of the workspace that is refused.
    pub fn resolve(
        &self,
        root: &WorkspaceRoot,
        program: &str,
        folder: Option<&WorkspacePath>,
        path: Option<&str>,
    ) -> Result<Program, JobError> {
        if program.is_empty() || program.contains('\0') || program.chars().any(char::is_control) {
            return Err(JobError::BadCommand {
                reason: format!("{program:?} cannot be the name of a program"),
            });
        }
        let (file, place) = if program.starts_with('/') {
            let file = PathBuf::from(program);
            let place = if is_inside(root, &file) {
                ProgramPlace::Workspace
            } else {
                ProgramPlace::Absolute
            };
            (file, place)
        } else if program.contains('/') {
            (
                of_workspace(root, program, folder)?,
                ProgramPlace::Workspace,
            )
        } else {
            (on_path(root, program, path)?, ProgramPlace::Path)
        };
        let stat = match problem(&file) {
            Ok(stat) => stat,
            Err(None) => {
                return Err(JobError::NoProgram {
                    program: program.to_owned(),
                    place: "at that path".to_owned(),
                });
            }
            Err(Some(what)) => {
                return Err(JobError::NotAProgram {
                    path: program.to_owned(),
                    what,
                });
            }
        };
        let revision = self.revision(&file, &stat)?;
        Ok(Program {
            asked: program.to_owned(),
            path: file,
            place,
            revision,
            stat,
        })
    }

    fn revision(&self, file: &Path, stat: &Stat) -> Result<String, JobError> {
        let lock = || {
            self.revisions
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((known, revision)) = lock().get(file)
            && known == stat
        {
            return Ok(revision.clone());
        }
        let mut hasher = blake3::Hasher::new();
        File::open(file)
            .and_then(|open| hasher.update_reader(open).map(drop))
            .map_err(|source| JobError::Start {
                program: file.display().to_string(),
                source: Arc::new(source),
            })?;
        let revision = hasher.finalize().to_hex().to_string();
        let mut revisions = lock();
        if revisions.len() >= REMEMBERED {
            revisions.clear();
        }
        revisions.insert(file.to_path_buf(), (*stat, revision.clone()));
        Ok(revision)
    }
}

/// The file of the workspace that `program` names, seen from `folder`.
fn of_workspace(
    root: &WorkspaceRoot,
    program: &str,
    folder: Option<&WorkspacePath>,
) -> Result<PathBuf, JobError> {
    let from_root = match folder {
        None => program.to_owned(),
        Some(folder) => format!("{folder}/{program}"),
    };
    // `..` may lead up from the folder, but not out of the workspace; admitting knows neither.
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(&from_root).components() {
        match component {
            Component::Normal(name) => parts.extend(name.to_str()),
            Component::ParentDir if parts.pop().is_some() => {}
            Component::ParentDir => {
                root.admit(program)?;
                return Err(JobError::BadCommand {
                    reason: format!("{program} leaves the workspace"),
                });
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Ok(root.absolute(&root.admit(&parts.join("/"))?))
}

/// The first executable of that name on `path`.
fn on_path(root: &WorkspaceRoot, program: &str, path: Option<&str>) -> Result<PathBuf, JobError> {
    let folders: Vec<&Path> = path
        .unwrap_or_default()
        .split(':')
        // An empty or relative entry means the folder that one happens to be in.
        .filter(|folder| folder.starts_with('/'))
        .map(Path::new)
        .collect();
    let found = folders
        .iter()
        .map(|folder| folder.join(program))
        .find(|file| problem(file).is_ok());
    match found {
        Some(file) if is_inside(root, &file) => Err(JobError::OfWorkspace {
            program: program.to_owned(),
            path: file
                .strip_prefix(root.path())
                .unwrap_or(&file)
                .display()
                .to_string(),
        }),
        Some(file) => Ok(file),
        None => Err(JobError::NoProgram {
            program: program.to_owned(),
            place: match folders.len() {
                0 => "to be found: the env has no PATH".to_owned(),
                count => format!("in the {count} folders of PATH"),
            },
        }),
    }
}

/// Whether a file lies in the workspace, by its spelling or by where its folder really is.
fn is_inside(root: &WorkspaceRoot, file: &Path) -> bool {
    file.starts_with(root.path())
        || file
            .parent()
            .and_then(|folder| folder.canonicalize().ok())
            .is_some_and(|folder| folder.starts_with(root.path()))
}

/// Why `file` cannot be run; `Err(None)` when nothing is there.
fn problem(file: &Path) -> Result<Stat, Option<&'static str>> {
    let meta = std::fs::metadata(file).map_err(|_| None)?;
    if meta.is_dir() {
        return Err(Some("a folder"));
    }
    if !meta.is_file() {
        return Err(Some("a pipe, socket or device"));
    }
    let allowed = rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    if meta.permissions().mode() & 0o111 == 0 || !allowed {
        return Err(Some("a file that is not executable"));
    }
    stat(file).ok_or(None)
}

fn stat(file: &Path) -> Option<Stat> {
    rustix::fs::stat(file).ok().map(Stat::from)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::Scratch;

    fn executable(scratch: &Scratch, path: &str) {
        scratch.write(path, "#!/bin/sh\n");
        let file = scratch.on_disk(path);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn resolve(
        scratch: &Scratch,
        program: &str,
        folder: &str,
        path: &str,
    ) -> Result<Program, String> {
        let folder = scratch.root.admit_folder(folder).unwrap();
        Programs::default()
            .resolve(&scratch.root, program, folder.as_ref(), Some(path))
            .map_err(|error| format!("{}: {error}", error.code()))
    }

    #[test]
    fn bare_names_are_found_on_absolute_folders_of_path() {
        let scratch = Scratch::new(&[]);
        let found = resolve(&scratch, "sh", "", "relative::/no/such:/usr/bin:/bin").unwrap();
        assert_eq!(found.place, ProgramPlace::Path);
        assert_eq!(found.path, Path::new("/usr/bin/sh"));
        assert_eq!(found.revision.len(), 64);
        assert!(found.check().is_ok());
        let missing = resolve(&scratch, "no-such-program", "", "/usr/bin").unwrap_err();
        assert_eq!(
            missing,
            "NOT_FOUND: there is no program `no-such-program` in the 1 folders of PATH"
        );
        assert!(
            resolve(&scratch, "sh", "", "")
                .unwrap_err()
                .starts_with("NOT_FOUND")
        );
    }

    #[test]
    fn a_program_of_the_workspace_is_named_by_its_path() {
        let scratch = Scratch::new(&[("plain", "x")]);
        executable(&scratch, "bin/git");
        executable(&scratch, "sub/tool");
        let path = format!("{}:/usr/bin", scratch.on_disk("bin").display());
        let bare = resolve(&scratch, "git", "", &path).unwrap_err();
        assert_eq!(
            bare,
            "INVALID_ARGUMENTS: `git` would be bin/git, a program of the workspace itself"
        );
        // The same folder under another name.
        std::os::unix::fs::symlink(scratch.on_disk("bin"), scratch.outside().join("link")).unwrap();
        let path = format!("{}:/usr/bin", scratch.outside().join("link").display());
        assert!(resolve(&scratch, "git", "", &path).is_err());
        for (asked, folder) in [("bin/git", ""), ("./bin/git", ""), ("../bin/git", "sub")] {
            let found = resolve(&scratch, asked, folder, "").unwrap();
            assert_eq!(found.place, ProgramPlace::Workspace);
            assert_eq!(found.path, scratch.on_disk("bin/git"));
        }
        let absolute = scratch.on_disk("bin/git");
        let found = resolve(&scratch, absolute.to_str().unwrap(), "", "").unwrap();
        assert_eq!(found.place, ProgramPlace::Workspace);
        let out = resolve(&scratch, "../../x", "sub", "").unwrap_err();
        assert!(out.starts_with("OUTSIDE_WORKSPACE"), "{out}");
        let plain = resolve(&scratch, "./plain", "", "").unwrap_err();
        assert_eq!(
            plain,
            "INVALID_ARGUMENTS: ./plain is a file that is not executable, not a program"
        );
        assert!(
            resolve(&scratch, "./sub", "", "")
                .unwrap_err()
                .contains("a folder")
        );
        assert!(
            resolve(&scratch, "a\0b", "", "/bin")
                .unwrap_err()
                .starts_with("INVALID_ARGUMENTS")
        );
    }

    #[test]
    fn a_program_that_was_replaced_is_another_one() {
        let scratch = Scratch::new(&[]);
        executable(&scratch, "tool");
        let programs = Programs::default();
        let find = || {
            programs
                .resolve(&scratch.root, "./tool", None, None)
                .unwrap()
        };
        let first = find();
        assert_eq!(find(), first, "remembered");
        scratch.write("tool", "#!/bin/sh\necho other\n");
        assert_eq!(first.check().unwrap_err().code(), "STALE_VERSION");
        assert_ne!(find().revision, first.revision);
    }
}
