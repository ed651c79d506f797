//! The workspace as a proposal is resolved against it: documents over the disk, refusals passed on.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use redline_edits::{DecodeError, FileError, FileState, Files};

use crate::boundary::{Batch, PathError, Spellings, WorkspacePath, WorkspaceRoot};
use crate::effect::FsError;
use crate::list::{ListedKind, list};
use crate::read::Entry;
use crate::walk::{Overlay, Scope, SearchError};

/// Most files that one operation on a folder may concern.
const MOST_BELOW: usize = 10_000;

/// Most names that are looked at for a similar one.
const MOST_NAMES: usize = 2_000;

/// What lies over the disk: `Some` decides what is at an admitted path, `None` leaves it to the disk.
type Documents<'a> = dyn Fn(&str) -> Option<FileState> + 'a;

/// A view for one proposal: it keeps the folders that it has opened.
///
/// It reads as a writer would: a link is told and not followed, and a protected path is refused.
pub struct View<'a> {
    batch: Batch,
    documents: Box<Documents<'a>>,
    /// How the paths that were read are spelled.
    spellings: Mutex<Spellings>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("batch", &self.batch)
            .finish_non_exhaustive()
    }
}

impl<'a> View<'a> {
    /// The disk alone.
    pub fn of_disk(root: &WorkspaceRoot) -> Self {
        Self::new(root, |_| None)
    }

    /// `documents` over the disk.
    pub fn new(root: &WorkspaceRoot, documents: impl Fn(&str) -> Option<FileState> + 'a) -> Self {
        Self {
            batch: root.batch(),
            documents: Box::new(documents),
            spellings: Mutex::default(),
        }
    }

    fn root(&self) -> &WorkspaceRoot {
        self.batch.root()
    }

    fn state(&self, path: &WorkspacePath, entry: Entry) -> Result<FileState, FileError> {
        Ok(match entry {
            Entry::Missing => FileState::Missing,
            Entry::File(file) => decoded(&file.bytes),
            Entry::Directory => FileState::Directory {
                files: self.files_below(path)?,
            },
            Entry::Symlink { target } => FileState::Symlink { target },
            Entry::Special { what } => {
                return Err(FsError::NotAFile {
                    path: path.to_string(),
                    what,
                }
                .into());
            }
            Entry::TooLarge { len, limit } => FileState::TooLarge {
                size_bytes: len,
                limit_bytes: limit,
            },
        })
    }

    /// All files below a folder, ignored ones too: an operation on a folder concerns them all.
    fn files_below(&self, folder: &WorkspacePath) -> Result<Vec<String>, FileError> {
        let scope = Scope {
            folder: Some(folder.clone()),
            ignored: true,
            ..Scope::default()
        };
        let listing = list(
            self.root(),
            &scope,
            &Overlay::new(),
            MOST_BELOW,
            &AtomicBool::new(false),
        )?;
        if listing.truncated {
            let message = format!("{folder} holds more than {MOST_BELOW} files");
            return Err(FileError::new(
                "TOO_LARGE",
                message,
                "change its parts one after another",
            ));
        }
        let files = listing
            .entries
            .into_iter()
            .filter(|entry| entry.kind != ListedKind::Directory);
        Ok(files.map(|entry| entry.path.to_string()).collect())
    }
}

impl Files for View<'_> {
    fn admit(&self, path: &str) -> Result<String, FileError> {
        let is_uri = path
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
        let admitted = if is_uri {
            self.root().admit_uri(path)
        } else {
            self.root().admit(path)
        };
        Ok(admitted?.to_string())
    }

    fn read(&self, path: &str) -> Result<FileState, FileError> {
        let path = self.root().admit(path)?;
        self.spellings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&self.batch, &path)
            .or_else(only_collisions)?;
        if let Some(state) = (self.documents)(path.as_str()) {
            // Open or not: what may not be written may not be proposed.
            self.batch
                .place_to_write(&path)
                .map(drop)
                .or_else(|error| match error {
                    PathError::IsSymlink { .. } => Ok(()),
                    error => Err(error),
                })?;
            return Ok(state);
        }
        let entry = self.batch.read_to_write(&path)?;
        self.state(&path, entry)
    }

    fn similar(&self, path: &str) -> Option<String> {
        let wanted = self.root().admit(path).ok()?;
        let mut nearest: Option<(usize, WorkspacePath)> = None;
        let scope = Scope::default();
        let listing = list(
            self.root(),
            &scope,
            &Overlay::new(),
            MOST_NAMES,
            &AtomicBool::new(false),
        )
        .ok()?;
        for entry in listing
            .entries
            .into_iter()
            .filter(|entry| entry.kind == ListedKind::File)
        {
            let distance = if entry.path.name() == wanted.name() {
                0
            } else if entry.path.folder() == wanted.folder() {
                distance(entry.path.name(), wanted.name())
            } else {
                continue;
            };
            // Alike means that most of the name is the same.
            let is_alike = distance * 3 <= wanted.name().chars().count();
            if is_alike && nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                nearest = Some((distance, entry.path));
            }
        }
        nearest.map(|(_, path)| path.to_string())
    }
}

/// What else is wrong with a path is said when it is walked to.
fn only_collisions(error: PathError) -> Result<(), PathError> {
    match error {
        PathError::Collision { .. } => Err(error),
        _ => Ok(()),
    }
}

fn decoded(bytes: &[u8]) -> FileState {
    match redline_edits::decode(bytes) {
        Ok(decoded) => FileState::Text {
            text: decoded.text,
            bom: decoded.bom,
            version: None,
        },
        Err(DecodeError::Encoding { byte, offset }) => FileState::Undecodable {
            byte,
            offset: offset as u64,
        },
        Err(_) => FileState::Binary {
            size_bytes: bytes.len() as u64,
        },
    }
}

/// How many characters have to be changed, added or left out to get from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, from) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 0..to.len() {
            let changed = diagonal + usize::from(from != to[column]);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

impl From<PathError> for FileError {
    fn from(error: PathError) -> Self {
        FileError::new(error.code(), error.to_string(), error.hint())
    }
}

impl From<FsError> for FileError {
    fn from(error: FsError) -> Self {
        FileError::new(error.code(), error.to_string(), error.hint())
    }
}

impl From<SearchError> for FileError {
    fn from(error: SearchError) -> Self {
        FileError::new(error.code(), error.to_string(), error.hint())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use redline_edits::{Format, ParseOptions, parse, resolve};

    use super::*;
    use crate::boundary::{Folding, RootOptions};
    use crate::testing::Scratch;

    fn project() -> Scratch {
        let scratch = Scratch::new(&[
            ("src/user.service.ts", "export class UserService {}\n"),
            ("src/bom.txt", "\u{feff}x\n"),
            ("src/bin", "a\0b"),
            (".git/config", "[core]\n"),
            ("d/x.txt", "x\n"),
            ("d/e/y.txt", "y\n"),
        ]);
        std::fs::write(scratch.on_disk("src/latin1"), b"caf\xe9\n").unwrap();
        std::os::unix::fs::symlink("src/bom.txt", scratch.on_disk("link")).unwrap();
        std::os::unix::fs::symlink("/etc", scratch.on_disk("out")).unwrap();
        scratch
    }

    #[test]
    fn states_and_refusals_are_told_as_they_are() {
        let scratch = project();
        let view = View::of_disk(&scratch.root);
        let text = |text: &str, bom| FileState::Text {
            text: text.into(),
            bom,
            version: None,
        };
        let rows = [
            ("src/bom.txt", text("x\n", true)),
            ("src/none", FileState::Missing),
            ("none/none", FileState::Missing),
            ("src/bin", FileState::Binary { size_bytes: 3 }),
            (
                "src/latin1",
                FileState::Undecodable {
                    byte: 0xe9,
                    offset: 3,
                },
            ),
            (
                "d",
                FileState::Directory {
                    files: vec!["d/e/y.txt".into(), "d/x.txt".into()],
                },
            ),
            (
                "link",
                FileState::Symlink {
                    target: "src/bom.txt".into(),
                },
            ),
        ];
        for (path, state) in rows {
            assert_eq!(view.read(path).unwrap(), state, "{path}");
        }
        let refused = [
            (".git/config", "PROTECTED_PATH"),
            ("out/passwd", "OUTSIDE_WORKSPACE"),
            ("../x", "OUTSIDE_WORKSPACE"),
            ("d/x.txt/y", "NOT_DIRECTORY"),
            ("a\\b", "BAD_PATH"),
        ];
        for (path, code) in refused {
            assert_eq!(view.read(path).unwrap_err().code, code, "{path}");
        }
        let uri = scratch.root.uri(&scratch.path("d/x.txt"));
        assert_eq!(view.admit(&uri).unwrap(), "d/x.txt");
        assert_eq!(view.admit("./d//x.txt").unwrap(), "d/x.txt");
        assert_eq!(
            view.admit("file:///etc/passwd").unwrap_err().code,
            "OUTSIDE_WORKSPACE"
        );
    }

    #[test]
    fn documents_win_and_do_not_lift_protection() {
        let scratch = project();
        let open = FileState::Text {
            text: "open\n".into(),
            bom: false,
            version: Some(3),
        };
        let view = View::new(&scratch.root, |path| {
            (path != "src/bom.txt").then(|| open.clone())
        });
        assert_eq!(view.read("d/x.txt").unwrap(), open);
        assert_eq!(view.read("new.txt").unwrap(), open);
        assert!(matches!(
            view.read("src/bom.txt").unwrap(),
            FileState::Text { version: None, .. }
        ));
        assert_eq!(view.read(".git/config").unwrap_err().code, "PROTECTED_PATH");
        assert_eq!(view.read("out/x").unwrap_err().code, "OUTSIDE_WORKSPACE");
    }

    #[test]
    fn one_proposal_cannot_name_one_file_twice() {
        let scratch = project();
        let options = RootOptions {
            folding: Folding::Always,
            ..RootOptions::default()
        };
        let root = WorkspaceRoot::open(scratch.root.path(), options).unwrap();
        let view = View::of_disk(&root);
        assert_eq!(view.read("d/new.txt").unwrap(), FileState::Missing);
        for path in ["d/NEW.txt", "D/other.txt", "d/X.TXT"] {
            assert_eq!(
                view.read(path).unwrap_err().code,
                "NAME_COLLISION",
                "{path}"
            );
        }
        // Here they are two files.
        if !scratch.on_disk("D").exists() {
            assert_eq!(
                View::of_disk(&scratch.root).read("d/X.TXT").unwrap(),
                FileState::Missing
            );
        }
    }

    #[test]
    fn a_similar_name_is_suggested_and_never_used() {
        let scratch = project();
        let view = View::of_disk(&scratch.root);
        let rows = [
            ("src/user.servce.ts", Some("src/user.service.ts")),
            ("user.service.ts", Some("src/user.service.ts")),
            ("lib/user.service.ts", Some("src/user.service.ts")),
            ("src/other.ts", None),
        ];
        for (path, similar) in rows {
            assert_eq!(view.similar(path).as_deref(), similar, "{path}");
        }
    }

    #[test]
    fn a_proposal_resolves_against_it() {
        let scratch = project();
        let patch = "--- a/d/x.txt\n+++ b/d/x.txt\n@@ -1 +1 @@\n-x\n+X\n";
        let proposal = parse(Format::UnifiedDiff, patch, &ParseOptions::default()).unwrap();
        let resolved = resolve(&proposal, &View::of_disk(&scratch.root)).unwrap();
        assert_eq!(resolved.operations[0].path, "d/x.txt");
        assert_eq!(resolved.operations[0].after.as_deref(), Some("X\n"));
        let bad = patch.replace("d/x.txt", "vendor/.git/x.txt");
        let proposal = parse(Format::UnifiedDiff, &bad, &ParseOptions::default()).unwrap();
        let error = resolve(&proposal, &View::of_disk(&scratch.root)).unwrap_err();
        assert_eq!(error.code(), "PROTECTED_PATH");
    }
}
