//! The boundary of a workspace: which paths exist for us, and the handles that reach them.
//!
//! [`WorkspaceRoot`] is the folder held open. [`WorkspaceRoot::admit`] checks the text of a path, a
//! [`Batch`] walks it: component by component, each opened from the one before it without following links,
//! so a check and the use of what was checked are one operation on one handle. A batch keeps the folders
//! it has opened, so a proposal of a thousand files costs one look per file.
//!
//! **Invariant:** no write goes through a symbolic link, and none reaches a protected path.
//! **Invariant:** a [`WorkspacePath`] is only made here.

mod batch;
mod collide;
mod error;
mod git;
mod lexical;
mod protect;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

pub(crate) use batch::Held;
use batch::LinkLeads;
pub use batch::{Batch, Place};
pub use collide::Folding;
pub(crate) use collide::Spellings;
pub use error::PathError;
pub use lexical::{PathRules, WorkspacePath};
use protect::Protected;
pub(crate) use protect::STORE;

use crate::effect::{Effect, Faults};
use crate::handle::{Folder, Stat};

/// How a workspace is opened.
#[derive(Clone)]
pub struct RootOptions {
    /// Globs of further protected paths, relative to the root.
    pub protected: Vec<String>,
    /// The rules for the text of paths.
    pub rules: PathRules,
    /// Which folders take names that differ in case or Unicode form alone for one.
    pub folding: Folding,
    /// The largest file that is read as text, in bytes.
    pub max_file: u64,
    /// Injected failures; `None` outside tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Default for RootOptions {
    fn default() -> Self {
        Self {
            protected: Vec::new(),
            rules: PathRules::NATIVE,
            folding: Folding::Detect,
            max_file: 64 << 20,
            faults: None,
        }
    }
}

/// A project folder, held open. Cheap to clone; clones share the handle.
#[derive(Clone)]
pub struct WorkspaceRoot {
    inner: Arc<Inner>,
}

struct Inner {
    folder: Folder,
    stat: Stat,
    path: PathBuf,
    protected: RwLock<Protected>,
    options: RootOptions,
}

impl std::fmt::Debug for WorkspaceRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WorkspaceRoot")
            .field(&self.inner.path)
            .finish()
    }
}

impl WorkspaceRoot {
    /// Opens the folder at `path`; links in `path` itself are resolved once, here. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`PathError::Io`] or [`PathError::NotDirectory`] for the folder, [`PathError::BadPath`] for a glob.
    pub fn open(path: &Path, options: RootOptions) -> Result<Self, PathError> {
        let shown = path.display().to_string();
        let canonical =
            std::fs::canonicalize(path).map_err(|error| PathError::io(&shown, error))?;
        let folder = Folder::open(&canonical).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotADirectory => PathError::NotDirectory {
                path: shown.clone(),
                component: shown.clone(),
            },
            _ => PathError::io(&shown, error),
        })?;
        let stat = folder
            .own_stat()
            .map_err(|error| PathError::io(&shown, error))?;
        let protected = Protected::new(&options.protected)?;
        Ok(Self {
            inner: Arc::new(Inner {
                folder,
                stat,
                path: canonical,
                protected: RwLock::new(protected),
                options,
            }),
        })
    }

    /// Whether `patterns` can be [`RootOptions::protected`].
    ///
    /// # Errors
    ///
    /// [`PathError::BadPath`] saying why not.
    pub fn check_protected(patterns: &[String]) -> Result<(), PathError> {
        Protected::new(patterns).map(drop)
    }

    /// The folder's absolute path, links resolved.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The options it was opened with.
    pub fn options(&self) -> &RootOptions {
        &self.inner.options
    }

    /// Admits the text of a file's path. Looks at no disk.
    ///
    /// # Errors
    ///
    /// [`PathError::BadPath`] and [`PathError::Outside`].
    pub fn admit(&self, raw: &str) -> Result<WorkspacePath, PathError> {
        lexical::admit(raw, self.inner.options.rules)
    }

    /// Admits the text of a folder's path; `None` is the root (`""`, `.`).
    ///
    /// # Errors
    ///
    /// [`PathError::BadPath`] and [`PathError::Outside`].
    pub fn admit_folder(&self, raw: &str) -> Result<Option<WorkspacePath>, PathError> {
        lexical::admit_folder(raw, self.inner.options.rules)
    }

    /// Admits an absolute path of this machine, such as an editor's document has.
    ///
    /// # Errors
    ///
    /// [`PathError::Outside`] when it is not below the root, else as [`WorkspaceRoot::admit`].
    pub fn admit_absolute(&self, path: &Path) -> Result<WorkspacePath, PathError> {
        let shown = path.display().to_string();
        let outside = || PathError::Outside {
            path: shown.clone(),
            reason: "it is not below the root".into(),
        };
        let below = match path.strip_prefix(&self.inner.path) {
            Ok(below) => below.to_path_buf(),
            // The editor may have come here through a link: compare the folders, not their spelling.
            Err(_) => {
                let parent = path.parent().ok_or_else(outside)?;
                let name = path.file_name().ok_or_else(outside)?;
                let parent = canonical_ancestor(parent).ok_or_else(outside)?;
                parent
                    .strip_prefix(&self.inner.path)
                    .map_err(|_| outside())?
                    .join(name)
            }
        };
        let text = below.to_str().ok_or_else(|| PathError::BadPath {
            path: shown.clone(),
            reason: "it is not valid UTF-8".into(),
        })?;
        self.admit(text)
    }

    /// The path of what a reader of `path` means: itself, or what the links on the way and at its end lead to. What
    /// comes back is read like any other path, no link followed.
    ///
    /// # Errors
    ///
    /// [`PathError::Outside`] when a link leads out of the workspace.
    pub fn resolve(&self, path: &WorkspacePath) -> Result<WorkspacePath, PathError> {
        match self.batch().place(path) {
            Err(PathError::SymlinkRejected { .. } | PathError::IsSymlink { .. }) => {}
            Err(error @ PathError::Outside { .. }) => return Err(error),
            // Whatever else is wrong with it is for the one who reads it.
            Ok(_) | Err(_) => return Ok(path.clone()),
        }
        let leaves = || PathError::Outside {
            path: path.as_str().into(),
            reason: "a symbolic link leads out of it".into(),
        };
        let real = canonical_ancestor(&self.absolute(path)).ok_or_else(leaves)?;
        let below = real
            .strip_prefix(&self.inner.path)
            .map_err(|_| leaves())?
            .to_str();
        self.admit(below.ok_or_else(|| PathError::BadPath {
            path: path.as_str().into(),
            reason: "it leads to a name that is not valid UTF-8".into(),
        })?)
    }

    /// The absolute path of `path` on this machine, for showing and for URIs; never for opening.
    pub fn absolute(&self, path: &WorkspacePath) -> PathBuf {
        self.inner.path.join(path.as_str())
    }

    /// Whether the text of `path` is protected, and by which rule. A [`Batch`] also knows git folders by
    /// their content.
    pub fn protection(&self, path: &WorkspacePath) -> Option<String> {
        self.inner
            .protected
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .rule(path)
    }

    /// Protects these globs from now on, in place of [`RootOptions::protected`].
    ///
    /// # Errors
    ///
    /// [`PathError::BadPath`] for a glob; nothing is changed then.
    pub fn protect(&self, patterns: &[String]) -> Result<(), PathError> {
        let protected = || self.inner.protected.read();
        if protected()
            .unwrap_or_else(PoisonError::into_inner)
            .are(patterns)
        {
            return Ok(());
        }
        let changed = Protected::new(patterns)?;
        *self
            .inner
            .protected
            .write()
            .unwrap_or_else(PoisonError::into_inner) = changed;
        Ok(())
    }

    /// A fresh set of folder handles, for one proposal or one commit.
    pub fn batch(&self) -> Batch {
        Batch::new(self.clone())
    }

    /// Where the link at `link` (relative to the root), which says `target`, leads.
    fn link_leads(&self, link: &str, target: &str) -> LinkLeads {
        let absolute_inside = Path::new(target).strip_prefix(&self.inner.path).ok();
        if target.starts_with('/') && absolute_inside.is_none() {
            return LinkLeads::Outside;
        }
        match self.inner.folder.beneath().canonicalize(link) {
            Ok(_) => LinkLeads::Inside,
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                LinkLeads::Nowhere
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let above = link.rsplit_once('/').map_or("", |(above, _)| above);
                match lexical::admit_folder(
                    format!("{above}/{target}").trim_start_matches('/'),
                    PathRules::Posix,
                ) {
                    Ok(_) => LinkLeads::Inside,
                    Err(_) => LinkLeads::Outside,
                }
            }
            Err(_) if absolute_inside.is_some() => LinkLeads::Inside,
            Err(_) => LinkLeads::Outside,
        }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.inner.folder
    }

    pub(crate) fn stat(&self) -> &Stat {
        &self.inner.stat
    }

    /// Lets an injected fault happen before an effect on `path` (relative to the root).
    pub(crate) fn before(&self, effect: Effect, path: &str) -> std::io::Result<()> {
        match &self.inner.options.faults {
            None => Ok(()),
            Some(faults) => faults.before(effect, path),
        }
    }
}

/// `path` with the links of its longest existing part resolved.
fn canonical_ancestor(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(canonical) = std::fs::canonicalize(existing) {
            return Some(
                missing
                    .iter()
                    .rev()
                    .fold(canonical, |path, name| path.join(name)),
            );
        }
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
}
