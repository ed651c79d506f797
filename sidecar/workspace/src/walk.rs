//! Walking the project as its user sees it: ignore rules honoured, links not followed, our own folders left
//! out, and the texts of open documents and proposals laid over the disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{WalkBuilder, WalkState};

use crate::boundary::{PathError, STORE, WorkspacePath, WorkspaceRoot};
use crate::handle::Stat;

/// Texts that lie over the disk, by path: an open document or a proposed text; `None` for a file that is
/// to go.
pub type Overlay = BTreeMap<WorkspacePath, Option<Arc<str>>>;

/// Which files a walk visits.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The folder to start at; `None` is the root.
    pub folder: Option<WorkspacePath>,
    /// Globs in the way of `rg -g`: matching files only, `!` excludes.
    pub globs: Vec<String>,
    /// Visits what ignore rules leave out, too.
    pub ignored: bool,
    /// How deep below `folder`; `None` is without limit.
    pub depth: Option<usize>,
}

/// Why a walk or a search could not start.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A glob that does not parse.
    #[error("the glob `{glob}` does not parse: {reason}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern that does not parse.
    #[error("the pattern `{pattern}` does not parse: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder to start at was refused.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The folder to start at is not there.
    #[error("{path} is not a folder of the workspace")]
    NoFolder {
        /// Its path.
        path: String,
    },
}

impl SearchError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            SearchError::Glob { .. } | SearchError::Pattern { .. } => "INVALID_ARGUMENTS",
            SearchError::Path(error) => error.code(),
            SearchError::NoFolder { .. } => "NOT_FOUND",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            SearchError::Glob { .. } => "use globs as ripgrep does, such as `*.rs` or `!target/**`",
            SearchError::Pattern { .. } => "correct the expression, or search for it literally",
            SearchError::Path(error) => error.hint(),
            SearchError::NoFolder { .. } => "list the folder above it",
        }
    }
}

/// One walk, its rules made ready.
pub(crate) struct Walk<'a> {
    root: &'a WorkspaceRoot,
    scope: &'a Scope,
    globs: Override,
    builder: WalkBuilder,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(root: &'a WorkspaceRoot, scope: &'a Scope) -> Result<Self, SearchError> {
        let globs = build_globs(root.path(), &scope.globs)?;
        if let Some(folder) = &scope.folder {
            // Walked once through the boundary: no link leads the walk out.
            let stat = root.batch().place(folder)?.stat().copied();
            if stat.is_none_or(|stat| stat.kind != crate::handle::Kind::Directory) {
                return Err(SearchError::NoFolder {
                    path: folder.to_string(),
                });
            }
        }
        let start = scope.folder.as_ref().map(|folder| root.absolute(folder));
        // Ignore rules count as they do for git: from the repository's root downwards. Without a repository
        // they count from the workspace's, so that a stray rule in somebody's home hides nothing.
        let in_repository = root
            .path()
            .ancestors()
            .any(|folder| folder.join(".git").exists());
        let above = scope
            .folder
            .as_ref()
            .map_or(0, |folder| folder.components().count());
        let mut builder = WalkBuilder::new(root.path());
        builder
            .hidden(false)
            .follow_links(false)
            .ignore(!scope.ignored)
            .git_ignore(!scope.ignored)
            .git_exclude(!scope.ignored)
            .require_git(in_repository)
            .parents(in_repository && !scope.ignored)
            // A user's global rules live in their home, which this crate does not read.
            .git_global(false)
            .max_depth(scope.depth.map(|depth| depth + above))
            .overrides(globs.clone());
        let top = root.path().to_path_buf();
        builder.filter_entry(move |entry| {
            let path = entry.path();
            let is_in_scope = start
                .as_ref()
                .is_none_or(|start| path.starts_with(start) || start.starts_with(path));
            is_in_scope && !is_ours(&top, path)
        });
        Ok(Self {
            root,
            scope,
            globs,
            builder,
        })
    }

    /// Whether the overlay's `path` belongs to the walk. Ignore rules are not asked: it is open or proposed.
    pub(crate) fn covers(&self, path: &WorkspacePath) -> bool {
        let folder = self.scope.folder.as_ref().map_or("", WorkspacePath::as_str);
        let below = path
            .as_str()
            .strip_prefix(folder)
            .unwrap_or_default()
            .trim_start_matches('/');
        let is_below = path.is_below(folder) && !below.is_empty();
        let depth = below.split('/').count();
        is_below
            && self.scope.depth.is_none_or(|most| depth <= most)
            && !self
                .globs
                .matched(self.root.absolute(path), false)
                .is_ignore()
    }

    /// Visits entries in order of their paths until `visit` returns false.
    pub(crate) fn in_order(
        mut self,
        cancel: &AtomicBool,
        mut visit: impl FnMut(WorkspacePath, ignore::DirEntry) -> bool,
    ) {
        self.builder.sort_by_file_name(std::cmp::Ord::cmp);
        for entry in self.builder.build().flatten() {
            if cancel.load(Ordering::Relaxed) {
                return;
            }
            if let Some(path) = admitted(self.root, self.scope, entry.path())
                && !visit(path, entry)
            {
                return;
            }
        }
    }

    /// Everything, with what the file system says of it, in no order, walked by `threads` threads.
    pub(crate) fn stats(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Vec<(WorkspacePath, Stat)> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (root, scope) = (self.root, self.scope);
        self.builder
            .threads(threads.max(1))
            .build_parallel()
            .run(|| {
                let sender = sender.clone();
                Box::new(move |entry| {
                    if cancel.load(Ordering::Relaxed) {
                        return WalkState::Quit;
                    }
                    if let Ok(entry) = entry
                        && let Some(path) = admitted(root, scope, entry.path())
                        && let Ok(stat) = rustix::fs::lstat(entry.path())
                    {
                        let _ = sender.send((path, Stat::from(stat)));
                    }
                    WalkState::Continue
                })
            });
        drop(sender);
        receiver.into_iter().collect()
    }

    /// The regular files, sorted, walked by `threads` threads.
    pub(crate) fn files(&mut self, threads: usize, cancel: &AtomicBool) -> Vec<WorkspacePath> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (root, scope) = (self.root, self.scope);
        self.builder
            .threads(threads.max(1))
            .build_parallel()
            .run(|| {
                let sender = sender.clone();
                Box::new(move |entry| {
                    if cancel.load(Ordering::Relaxed) {
                        return WalkState::Quit;
                    }
                    if let Ok(entry) = entry
                        && entry.file_type().is_some_and(|kind| kind.is_file())
                        && let Some(path) = admitted(root, scope, entry.path())
                    {
                        let _ = sender.send(path);
                    }
                    WalkState::Continue
                })
            });
        drop(sender);
        let mut files: Vec<WorkspacePath> = receiver.into_iter().collect();
        files.sort_unstable();
        files
    }
}

/// `path` relative to the root; `None` for what is not below the scope's folder and for names that are not
/// text.
fn admitted(root: &WorkspaceRoot, scope: &Scope, path: &Path) -> Option<WorkspacePath> {
    let relative = path.strip_prefix(root.path()).ok()?.to_str()?;
    let path = root.admit(relative).ok()?;
    let is_below = |folder: &WorkspacePath| path.is_below(folder.as_str()) && path != *folder;
    scope.folder.as_ref().is_none_or(is_below).then_some(path)
}

/// Whether a walk leaves `path` out whatever the rules say: git's folders and the durable store.
fn is_ours(root: &Path, path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name == ".git" || (name == STORE && path.parent() == Some(root))
}

fn build_globs(root: &Path, globs: &[String]) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        let bad = |error: ignore::Error| SearchError::Glob {
            glob: glob.clone(),
            reason: error.to_string(),
        };
        builder.add(glob).map_err(bad)?;
    }
    builder.build().map_err(|error| SearchError::Glob {
        glob: globs.join(" "),
        reason: error.to_string(),
    })
}
