//! Finding git folders that are not called `.git`.
//!
//! A bare repository, a `--separate-git-dir`, what a worktree's or submodule's `.git` file points to: a
//! hook or a setting written there runs as the user at the next git command, whatever the folder is called.

use super::lexical::{self, PathRules};
use super::protect::fold;
use crate::handle::{Folder, Kind};

/// Longest pointer file that is read.
const LONGEST_POINTER: u64 = 8192;

/// Whether git would take this folder for a repository's or a worktree's own folder.
pub(super) fn is_git_folder(folder: &Folder) -> bool {
    let is = |name: &str, kind: Kind| {
        folder
            .stat(name)
            .ok()
            .flatten()
            .is_some_and(|stat| stat.kind == kind)
    };
    let has_head = folder.stat("HEAD").ok().flatten().is_some();
    has_head
        && ((is("objects", Kind::Directory) && is("refs", Kind::Directory))
            || is("commondir", Kind::File))
}

/// The folders inside the workspace that the `.git` file of `folder` names, folded: the worktree's own and
/// the repository that it shares. Empty when there is no such file, or when it points outside.
pub(super) fn pointed_to(
    root: &Folder,
    root_path: &str,
    folder: &Folder,
    folder_path: &str,
) -> Vec<String> {
    let is_file = folder
        .stat(".git")
        .ok()
        .flatten()
        .is_some_and(|stat| stat.kind == Kind::File);
    if !is_file {
        return Vec::new();
    }
    let Some(text) = read_small(folder, ".git") else {
        return Vec::new();
    };
    let Some(target) = text.strip_prefix("gitdir:").map(str::trim) else {
        return Vec::new();
    };
    let Some(own) = inside(root_path, folder_path, target) else {
        return Vec::new();
    };
    let mut found = vec![fold_path(&own)];
    if let Ok(dir) = root.beneath().open_dir(&own)
        && let Some(common) = read_small(&Folder::new(dir), "commondir")
        && let Some(common) = inside(root_path, &own, common.trim())
    {
        found.push(fold_path(&common));
    }
    found
}

/// Whether the folded `path` lies in the folded `folder` or is it.
pub(super) fn covers(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path folded component by component.
pub(super) fn fold_path(path: &str) -> String {
    path.split('/').map(fold).collect::<Vec<_>>().join("/")
}

fn read_small(folder: &Folder, name: &str) -> Option<String> {
    use std::io::Read;
    let (file, stat) = folder.open_file(name).ok()?;
    let mut text = String::new();
    (stat.len <= LONGEST_POINTER).then_some(())?;
    file.take(LONGEST_POINTER).read_to_string(&mut text).ok()?;
    Some(text)
}

/// `target`, as seen from `folder`, as a path inside the workspace.
fn inside(root_path: &str, folder: &str, target: &str) -> Option<String> {
    let relative = match target
        .strip_prefix(root_path)
        .and_then(|rest| rest.strip_prefix('/'))
    {
        Some(below) => below.to_owned(),
        None if target.starts_with('/') => return None,
        None if folder.is_empty() => target.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let path = lexical::admit_folder(&relative, PathRules::Posix).ok()??;
    Some(path.as_str().to_owned())
}
