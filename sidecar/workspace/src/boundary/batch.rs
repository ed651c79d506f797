//! Walking admitted paths to handles, with the folders of one batch kept open.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::protect::fold;
use super::{PathError, WorkspacePath, WorkspaceRoot, git};
use crate::handle::{Folder, Kind, Stat};

/// How many folders stay open at once, well under the usual limit of 1,024 handles.
const MOST_FOLDERS: usize = 200;

/// How many folders at the root are asked for a `.git` file.
const MOST_CHECKOUTS: usize = 256;

/// The folders opened for one proposal, read or commit.
///
/// Folders are remembered for the life of the batch: make a new one for each decision, so that it sees the
/// tree as it is then.
#[derive(Debug)]
pub struct Batch {
    root: WorkspaceRoot,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    folders: HashMap<String, Option<Arc<Held>>>,
    /// Folded paths of folders that `.git` files point to.
    pointed: Vec<String>,
    /// Whether the folders right below the root were asked for theirs.
    looked: bool,
    /// Folders whose names were changed and are not synced yet.
    changed: BTreeSet<String>,
}

/// A folder held open, and what was seen of it at that time.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) path: String,
    pub(crate) folder: Folder,
    pub(crate) stat: Stat,
    git: bool,
    mount: OnceLock<Option<u64>>,
    /// Whether names that differ in case or Unicode form alone are one here.
    pub(super) folds: OnceLock<bool>,
    /// The names in it by their folded form.
    names: OnceLock<HashMap<String, Vec<String>>>,
}

impl Held {
    /// A folder of the durable store.
    pub(crate) fn of_store(path: String, folder: Folder, stat: Stat) -> Arc<Self> {
        Arc::new(Self {
            path,
            folder,
            stat,
            git: false,
            mount: OnceLock::new(),
            folds: OnceLock::new(),
            names: OnceLock::new(),
        })
    }

    /// The name here, as it was when first asked for, that differs from `name` in case or Unicode form alone;
    /// none when `name` itself is here.
    pub(super) fn twin(&self, name: &str) -> std::io::Result<Option<&str>> {
        let names = match self.names.get() {
            Some(names) => names,
            None => {
                let mut names: HashMap<String, Vec<String>> = HashMap::new();
                for name in self.folder.names()? {
                    let folded = fold(&name).into_owned();
                    names.entry(folded).or_default().push(name);
                }
                self.names.get_or_init(|| names)
            }
        };
        let alike = names
            .get(fold(name).as_ref())
            .map_or(&[][..], Vec::as_slice);
        let is_here = alike.iter().any(|known| known == name);
        Ok(alike.first().filter(|_| !is_here).map(String::as_str))
    }

    /// Whether a rename can go from one folder to the other.
    pub(crate) fn shares_mount(&self, other: &Held) -> bool {
        let mount = |held: &Held| *held.mount.get_or_init(|| held.folder.mount());
        self.stat.dev == other.stat.dev && mount(self) == mount(other)
    }
}

/// A path walked to its folder: the handle to use, and what the name stood for when it was walked.
#[derive(Debug, Clone)]
pub struct Place {
    path: WorkspacePath,
    parent: Option<Arc<Held>>,
    stat: Option<Stat>,
}

impl Place {
    /// The path.
    pub fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// What the name stood for when it was walked; `None` when it was free.
    pub fn stat(&self) -> Option<&Stat> {
        self.stat.as_ref()
    }

    /// Whether the folder that would hold it exists.
    pub fn has_parent(&self) -> bool {
        self.parent.is_some()
    }

    pub(crate) fn parent(&self) -> Option<&Arc<Held>> {
        self.parent.as_ref()
    }
}

impl Batch {
    pub(super) fn new(root: WorkspaceRoot) -> Self {
        Self {
            root,
            state: Mutex::default(),
        }
    }

    /// The workspace.
    pub fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    /// Admits the text of a path for writing and walks to it.
    ///
    /// # Errors
    ///
    /// Every [`PathError`]: text that cannot be a path, a protected path, a symbolic link on the way or at
    /// its end, a file where a folder should be.
    pub fn admit_write(&self, raw: &str) -> Result<Place, PathError> {
        self.place_to_write(&self.root.admit(raw)?)
    }

    /// Walks to `path` for writing.
    ///
    /// # Errors
    ///
    /// As [`Batch::admit_write`].
    pub fn place_to_write(&self, path: &WorkspacePath) -> Result<Place, PathError> {
        let protected = |rule| PathError::Protected {
            path: path.as_str().into(),
            rule,
        };
        if let Some(rule) = self.root.protection(path) {
            return Err(protected(rule));
        }
        let parent = self.folder_at(path.as_str(), path.folder())?;
        if let Some(folder) = self.git_folder_above(path) {
            return Err(protected(format!("git's own files ({folder})")));
        }
        self.walk_leaf(path, parent)
    }

    /// Walks to `path` without following links, protected or not: for looking and for the store's own use.
    ///
    /// # Errors
    ///
    /// As [`Batch::admit_write`], but never [`PathError::Protected`].
    pub fn place(&self, path: &WorkspacePath) -> Result<Place, PathError> {
        let parent = self.folder_at(path.as_str(), path.folder())?;
        self.walk_leaf(path, parent)
    }

    /// Walks to `path` for making or removing a symbolic link: as [`Batch::place_to_write`], but the name
    /// itself may be a link.
    pub(crate) fn place_of_link(&self, path: &WorkspacePath) -> Result<Place, PathError> {
        match self.place_to_write(path) {
            Err(PathError::IsSymlink { .. } | PathError::Outside { .. }) => {
                let parent = self.folder_at(path.as_str(), path.folder())?;
                let stat = match &parent {
                    None => None,
                    Some(held) => held
                        .folder
                        .stat(path.name())
                        .map_err(|error| PathError::io(path.as_str(), error))?,
                };
                Ok(Place {
                    path: path.clone(),
                    parent,
                    stat,
                })
            }
            other => other,
        }
    }

    fn walk_leaf(
        &self,
        path: &WorkspacePath,
        parent: Option<Arc<Held>>,
    ) -> Result<Place, PathError> {
        let stat = match &parent {
            None => None,
            Some(held) => held
                .folder
                .stat(path.name())
                .map_err(|error| PathError::io(path.as_str(), error))?,
        };
        if stat.is_some_and(|stat| stat.kind == Kind::Symlink)
            && let Some(held) = &parent
        {
            return Err(self.link_error(path.as_str(), path.as_str(), &held.folder, path.name()));
        }
        Ok(Place {
            path: path.clone(),
            parent,
            stat,
        })
    }

    /// The nearest folder above `path` that exists.
    pub(crate) fn nearest_folder(&self, path: &WorkspacePath) -> Result<Arc<Held>, PathError> {
        let mut folder = path.folder();
        loop {
            if let Some(held) = self.folder_at(path.as_str(), folder)? {
                return Ok(held);
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// Notes that names in `folder` changed, for [`Batch::sync_changed`].
    pub(crate) fn note_change(&self, folder: &str) {
        let mut state = self.lock();
        if !state.changed.contains(folder) {
            state.changed.insert(folder.to_owned());
        }
    }

    pub(crate) fn take_changed(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.lock().changed)
    }

    /// Forgets what is known of `folder` and of what is below it.
    pub(crate) fn forget(&self, folder: &str) {
        self.lock()
            .folders
            .retain(|path, _| !git::covers(folder, path));
    }

    /// The folder at `folder` (`""`: the root), for an error about `path`; `None` when it does not exist.
    pub(crate) fn folder_at(
        &self,
        path: &str,
        folder: &str,
    ) -> Result<Option<Arc<Held>>, PathError> {
        if let Some(known) = self.lock().folders.get(folder) {
            return Ok(known.clone());
        }
        let found = if folder.is_empty() {
            let reopened = self.root.folder().open_folder(".");
            let opened = reopened.map_err(|error| PathError::io(path, error))?;
            Some(self.hold(folder, opened, *self.root.stat()))
        } else {
            let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            match self.folder_at(path, above)? {
                None => None,
                Some(above) => self.open_below(path, folder, &above, name)?,
            }
        };
        let mut state = self.lock();
        if state.folders.len() >= MOST_FOLDERS {
            state.folders.clear();
        }
        state.folders.insert(folder.to_owned(), found.clone());
        Ok(found)
    }

    fn open_below(
        &self,
        path: &str,
        folder: &str,
        above: &Held,
        name: &str,
    ) -> Result<Option<Arc<Held>>, PathError> {
        match above.folder.open_folder(name) {
            Ok(opened) => {
                let stat = opened
                    .own_stat()
                    .map_err(|error| PathError::io(path, error))?;
                Ok(Some(self.hold(folder, opened, stat)))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => match above.folder.stat(name) {
                Ok(Some(stat)) if stat.kind == Kind::Symlink => {
                    Err(self.link_error(path, folder, &above.folder, name))
                }
                Ok(Some(stat)) if stat.kind != Kind::Directory => Err(PathError::NotDirectory {
                    path: path.into(),
                    component: folder.into(),
                }),
                _ => Err(PathError::io(path, error)),
            },
        }
    }

    fn hold(&self, path: &str, folder: Folder, stat: Stat) -> Arc<Held> {
        let git = git::is_git_folder(&folder);
        let pointed = git::pointed_to(
            self.root.folder(),
            &self.root.path().to_string_lossy(),
            &folder,
            path,
        );
        if !pointed.is_empty() {
            self.lock().pointed.extend(pointed);
        }
        Arc::new(Held {
            path: path.to_owned(),
            folder,
            stat,
            git,
            mount: OnceLock::new(),
            folds: OnceLock::new(),
            names: OnceLock::new(),
        })
    }

    /// The git folder that holds `path`, by the content of the folders above it or because a `.git` file
    /// of a folder above it, or right below the root, points there.
    fn git_folder_above(&self, path: &WorkspacePath) -> Option<String> {
        self.look_for_checkouts();
        let state = self.lock();
        let mut folder = path.folder();
        loop {
            if state
                .folders
                .get(folder)
                .is_some_and(|held| held.as_ref().is_some_and(|held| held.git))
            {
                return Some(if folder.is_empty() {
                    ".".into()
                } else {
                    folder.into()
                });
            }
            match folder.rsplit_once('/') {
                Some((above, _)) => folder = above,
                None if !folder.is_empty() => folder = "",
                None => break,
            }
        }
        if state.pointed.is_empty() {
            return None;
        }
        let folded = git::fold_path(path.as_str());
        state
            .pointed
            .iter()
            .find(|folder| git::covers(folder, &folded))
            .cloned()
    }

    fn look_for_checkouts(&self) {
        if self.lock().looked {
            return;
        }
        let root = self.root.folder();
        let root_path = self.root.path().to_string_lossy();
        let mut found = Vec::new();
        for name in root.folder_names(MOST_CHECKOUTS) {
            if let Ok(folder) = root.open_folder(&name) {
                found.extend(git::pointed_to(root, &root_path, &folder, &name));
            }
        }
        let mut state = self.lock();
        state.looked = true;
        state.pointed.extend(found);
    }

    /// The error for the link `name` in `folder`, at `link` on the way to `path`.
    fn link_error(&self, path: &str, link: &str, folder: &Folder, name: &str) -> PathError {
        let target = match folder.read_link(name) {
            Ok(target) => target,
            Err(error) => return PathError::io(path, error),
        };
        match self.root.link_leads(link, &target) {
            LinkLeads::Outside => PathError::Outside {
                path: path.into(),
                reason: format!("the symbolic link {link} leads out of it"),
            },
            LinkLeads::Nowhere => PathError::SymlinkLoop { path: path.into() },
            LinkLeads::Inside if link == path => PathError::IsSymlink {
                path: path.into(),
                target,
            },
            LinkLeads::Inside => PathError::SymlinkRejected {
                path: path.into(),
                link: link.into(),
                target,
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a symbolic link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkLeads {
    /// To something, or to a free name, inside the workspace.
    Inside,
    /// Out of it.
    Outside,
    /// Round in circles.
    Nowhere,
}
