//! The virtual tree: what each path holds after the changes played so far.

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use super::{
    FileError, FileState, Files, ResolveError,
    node::{Content, File, Node, Notes, TextFile, opaque},
    paths::{ancestors, join_link},
};
use crate::{proposal::Change, text::BOM};

/// Longer chains of links are taken for loops.
const MAX_LINKS: usize = 16;

/// Paths and what they hold now; a path that was never asked for is not in it.
pub(super) struct Tree<'f> {
    files: &'f dyn Files,
    nodes: HashMap<String, Node>,
    /// Every path that was asked for, in that order.
    order: Vec<String>,
    /// Deleted files, by their path on disk.
    graves: HashMap<String, File>,
    /// Folders that files were created in.
    folders: BTreeSet<String>,
}

/// A tree after the last change.
pub(super) struct Played {
    /// Every path in order of first mention.
    pub(super) order: Vec<String>,
    /// The files that are there.
    pub(super) files: HashMap<String, File>,
    /// Deleted files, by their path on disk.
    pub(super) graves: HashMap<String, File>,
}

impl<'f> Tree<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            nodes: HashMap::new(),
            order: Vec::new(),
            graves: HashMap::new(),
            folders: BTreeSet::new(),
        }
    }

    pub(super) fn admit(&self, path: &str) -> Result<String, FileError> {
        self.files.admit(path)
    }

    /// What `path` holds now, reading it on the first time.
    fn node(&mut self, path: &str) -> Result<&mut Node, ResolveError> {
        match self.nodes.entry(path.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let node = match self.files.read(path)? {
                    FileState::Missing => Node::Missing,
                    FileState::Directory { files } => Node::Folder(files),
                    FileState::Text { text, bom, version } => {
                        Node::existing(path, Content::Text(TextFile::existing(text, bom, version)))
                    }
                    other => Node::existing(path, Content::Opaque(other)),
                };
                self.order.push(path.to_owned());
                Ok(new.insert(node))
            }
        }
    }

    pub(super) fn is_missing(&mut self, path: &str) -> Result<bool, ResolveError> {
        let made_folder = self.folders.contains(path);
        Ok(matches!(self.node(path)?, Node::Missing) && !made_folder)
    }

    pub(super) fn is_absent_or_empty(&mut self, path: &str) -> Result<bool, ResolveError> {
        let made_folder = self.folders.contains(path);
        Ok(match self.node(path)? {
            Node::Missing => !made_folder,
            Node::File(file) => {
                matches!(&file.content, Content::Text(text) if text.text.is_empty())
            }
            Node::Folder(_) => false,
        })
    }

    /// The path of the file behind `path`: the same one, or where its link leads.
    pub(super) fn follow(&mut self, path: &str) -> Result<String, ResolveError> {
        let mut path = path.to_owned();
        let mut link_flag = None;
        for _ in 0..MAX_LINKS {
            let target = match self.node(&path)? {
                Node::File(file) => match &mut file.content {
                    Content::Opaque(FileState::Symlink { target }) => target.clone(),
                    Content::Opaque(_) | Content::Text(_) => {
                        if let Some(flag) = link_flag {
                            file.notes.flag(flag);
                        }
                        return Ok(path);
                    }
                },
                Node::Missing | Node::Folder(_) => return Ok(path),
            };
            link_flag.get_or_insert_with(|| format!("symlink:{path}"));
            path = join_link(&path, &target).ok_or_else(|| ResolveError::Symlink {
                code: "OUTSIDE_WORKSPACE",
                path: path.clone(),
                target,
                why: "that leads out of the workspace",
            })?;
        }
        Err(ResolveError::Symlink {
            code: "SYMLINK_LOOP",
            target: path.clone(),
            path,
            why: "in a loop",
        })
    }

    /// The text at a followed path.
    pub(super) fn text_mut(&mut self, path: &str) -> Result<&mut TextFile, ResolveError> {
        if self.is_missing(path)? {
            return Err(self.not_found(path));
        }
        if self.is_folder(path)? {
            return Err(ResolveError::IsDirectory {
                path: path.to_owned(),
                n_files: self.files_below(path)?.len(),
            });
        }
        let not_found = ResolveError::NotFound {
            path: path.to_owned(),
            similar: None,
        };
        match self.node(path)? {
            Node::File(file) => match &mut file.content {
                Content::Text(text) => Ok(text),
                Content::Opaque(state) => Err(opaque(path, state)),
            },
            Node::Folder(_) | Node::Missing => Err(not_found),
        }
    }

    pub(super) fn check_version(
        &mut self,
        path: &str,
        proposed: Option<i32>,
    ) -> Result<(), ResolveError> {
        let Some(proposed) = proposed else {
            return Ok(());
        };
        let path = self.follow(path)?;
        match self.node(&path)? {
            Node::File(file) => match &file.content {
                Content::Text(text) if text.version != Some(proposed) && !text.is_new => {
                    Err(ResolveError::StaleVersion {
                        path,
                        proposed,
                        current: text.version,
                    })
                }
                Content::Text(_) | Content::Opaque(_) => Ok(()),
            },
            Node::Missing | Node::Folder(_) => Ok(()),
        }
    }

    pub(super) fn create(
        &mut self,
        path: &str,
        text: &str,
        overwrite: bool,
        ignore_if_exists: bool,
    ) -> Result<(), ResolveError> {
        let (bare, bom) = match text.strip_prefix(BOM) {
            Some(bare) => (bare, true),
            None => (text, false),
        };
        if self.is_missing(path)? {
            self.check_parents(path)?;
            let file = File {
                origin: None,
                content: Content::Text(TextFile::new(bare, bom)),
                mode: None,
                notes: Notes::default(),
            };
            self.put(path, file);
            return Ok(());
        }
        if overwrite {
            let path = self.follow(path)?;
            let file = self.text_mut(&path)?;
            file.spans.clear();
            file.set_text(bare.to_owned());
            self.flag(&path, "overwrite");
            return Ok(());
        }
        if ignore_if_exists {
            return Ok(());
        }
        Err(self.exists(path)?)
    }

    pub(super) fn copy(&mut self, path: &str, to: &str) -> Result<(), ResolveError> {
        let from = self.follow(path)?;
        let (text, bom) = {
            let source = self.text_mut(&from)?;
            (source.text.clone(), source.bom)
        };
        self.create(to, &text, false, false)?;
        self.text_mut(to)?.bom = bom;
        Ok(())
    }

    pub(super) fn delete(
        &mut self,
        path: &str,
        recursive: bool,
        ignore_if_missing: bool,
    ) -> Result<(), ResolveError> {
        if self.is_missing(path)? {
            return match ignore_if_missing {
                true => Ok(()),
                false => Err(self.not_found(path)),
            };
        }
        if self.is_folder(path)? {
            let below = self.files_below(path)?;
            if !recursive {
                return Err(ResolveError::IsDirectory {
                    path: path.to_owned(),
                    n_files: below.len(),
                });
            }
            for file in below {
                self.bury(&file)?;
            }
            self.forget_folder(path);
            return Ok(());
        }
        self.bury(path)
    }

    /// Deletes a file whose lines a patch has all removed.
    pub(super) fn delete_emptied(&mut self, path: &str) -> Result<(), ResolveError> {
        let text = self.text_mut(path)?;
        if !text.text.is_empty() {
            let n_lines = text.text.lines().count();
            return Err(ResolveError::Malformed {
                path: path.to_owned(),
                message: format!(
                    "the patch deletes the file, but does not hold {n_lines} of its lines"
                ),
                hint: "read the file again; to delete it whatever it holds, delete it as a whole",
            });
        }
        self.bury(path)
    }

    pub(super) fn rename(
        &mut self,
        path: &str,
        to: &str,
        overwrite: bool,
        ignore_if_exists: bool,
    ) -> Result<(), ResolveError> {
        if self.is_missing(path)? {
            return Err(self.not_found(path));
        }
        if path == to {
            return Ok(());
        }
        if to
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('/'))
        {
            return Err(ResolveError::Malformed {
                path: path.to_owned(),
                message: format!("a folder cannot be moved into itself ({to})"),
                hint: "choose another path",
            });
        }
        let replaced = !self.is_missing(to)?;
        if replaced {
            if !overwrite {
                return match ignore_if_exists {
                    true => Ok(()),
                    false => Err(self.exists(to)?),
                };
            }
            if self.is_folder(to)? || self.is_folder(path)? {
                return Err(self.exists(to)?);
            }
            self.bury(to)?;
        } else {
            self.check_parents(to)?;
        }
        if self.is_folder(path)? {
            for file in self.files_below(path)? {
                let target = format!("{to}{}", &file[path.len()..]);
                let moved = self.remove(&file)?;
                self.put(&target, moved);
            }
            self.forget_folder(path);
        } else {
            let moved = self.remove(path)?;
            self.put(to, moved);
        }
        if replaced {
            self.flag(to, "overwrite");
        }
        Ok(())
    }

    pub(super) fn set_mode(&mut self, path: &str, mode: u32) -> Result<(), ResolveError> {
        let path = self.follow(path)?;
        if self.is_missing(&path)? {
            return Err(self.not_found(&path));
        }
        match self.node(&path)? {
            Node::File(file) => {
                file.mode = Some(mode);
                Ok(())
            }
            Node::Missing | Node::Folder(_) => Err(ResolveError::Unsupported {
                path,
                message: "only the mode of a file can be set".to_owned(),
            }),
        }
    }

    /// Keeps what a change says about the path that it touched.
    pub(super) fn note(&mut self, path: &str, change: &Change) {
        if let Some(Node::File(file)) = self.nodes.get_mut(path) {
            if let Some(rationale) = &change.rationale
                && !file.notes.rationales.contains(rationale)
            {
                file.notes.rationales.push(rationale.clone());
            }
            for flag in &change.flags {
                file.notes.flag(*flag);
            }
            if change.mode.is_some() {
                file.mode = change.mode;
            }
        }
    }

    /// What is left after all is played.
    pub(super) fn into_played(self) -> Played {
        let mut files = HashMap::with_capacity(self.nodes.len());
        for (path, node) in self.nodes {
            if let Node::File(file) = node {
                files.insert(path, *file);
            }
        }
        Played {
            order: self.order,
            files,
            graves: self.graves,
        }
    }

    fn flag(&mut self, path: &str, flag: &str) {
        if let Some(Node::File(file)) = self.nodes.get_mut(path) {
            file.notes.flag(flag);
        }
    }

    fn put(&mut self, path: &str, file: File) {
        for folder in ancestors(path) {
            if !self.folders.insert(folder.to_owned()) {
                break;
            }
        }
        if !self.nodes.contains_key(path) {
            self.order.push(path.to_owned());
        }
        self.nodes
            .insert(path.to_owned(), Node::File(Box::new(file)));
    }

    /// Takes the file at `path` out of the tree and keeps what it was on disk.
    fn bury(&mut self, path: &str) -> Result<(), ResolveError> {
        let file = self.remove(path)?;
        if let Some(origin) = file.origin.clone() {
            self.graves.insert(origin, file);
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<File, ResolveError> {
        let node = std::mem::replace(self.node(path)?, Node::Missing);
        match node {
            Node::File(file) => Ok(*file),
            Node::Missing | Node::Folder(_) => Err(self.not_found(path)),
        }
    }

    fn is_folder(&mut self, path: &str) -> Result<bool, ResolveError> {
        let made_folder = self.folders.contains(path);
        Ok(match self.node(path)? {
            Node::Folder(_) => true,
            Node::Missing => made_folder,
            Node::File(_) => false,
        })
    }

    /// The files below a folder as the changes have left it, by path.
    fn files_below(&mut self, path: &str) -> Result<BTreeSet<String>, ResolveError> {
        let mut below: BTreeSet<String> = match self.node(path)? {
            Node::Folder(files) => files.iter().cloned().collect(),
            Node::Missing => BTreeSet::new(),
            Node::File(_) => return Ok(BTreeSet::new()),
        };
        let inside = |file: &str| {
            file.strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        for (file, node) in self.nodes.iter().filter(|(file, _)| inside(file)) {
            match node {
                Node::File(_) => below.insert(file.clone()),
                Node::Missing => below.remove(file),
                Node::Folder(_) => false,
            };
        }
        Ok(below)
    }

    /// A folder whose files are all gone is gone.
    fn forget_folder(&mut self, path: &str) {
        self.folders.remove(path);
        self.nodes.insert(path.to_owned(), Node::Missing);
    }

    /// No file may be above a new one.
    fn check_parents(&self, path: &str) -> Result<(), ResolveError> {
        match ancestors(path).find(|above| matches!(self.nodes.get(*above), Some(Node::File(_)))) {
            Some(parent) => Err(ResolveError::NotDirectory {
                path: path.to_owned(),
                parent: parent.to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn exists(&mut self, path: &str) -> Result<ResolveError, ResolveError> {
        Ok(if self.is_folder(path)? {
            ResolveError::IsDirectory {
                path: path.to_owned(),
                n_files: self.files_below(path)?.len(),
            }
        } else {
            ResolveError::Exists {
                path: path.to_owned(),
            }
        })
    }

    fn not_found(&self, path: &str) -> ResolveError {
        ResolveError::NotFound {
            path: path.to_owned(),
            similar: self.files.similar(path).filter(|similar| similar != path),
        }
    }
}
