//! The workspace of one row: made from the case, changed by others, compared at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Difference;
use super::entry::{Content, Entry, EntryKind};
use super::load::Row;
use crate::project::Project;
use crate::tree::{Bytes, Node, Tree};

/// The folders of one row.
pub(super) struct World {
    pub project: Project,
    /// Contents by path as the case gives them: what a large file is compared with.
    contents: BTreeMap<PathBuf, Content>,
    /// A `.git` was made by `setup`: it is compared on its own.
    pub own_git: bool,
}

/// The state of the folders at one moment.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub workspace: Tree,
    pub outside: Tree,
    home: Tree,
    git: Tree,
}

impl World {
    /// Makes the files of a row.
    pub(super) fn make(row: &Row) -> Result<World> {
        let project = Project::new()?;
        let mut contents = BTreeMap::new();
        let files = Entry::parse_all(row.get("files_before"))?;
        for (path, entry) in &files {
            if let Some(EntryKind::Content(content)) = entry.as_ref().map(|entry| &entry.kind) {
                contents.insert(PathBuf::from(path), content.clone());
            }
        }
        make_all(&project.root(), &files)?;
        make_all(
            &project.outside(),
            &Entry::parse_all(row.get("outside_before"))?,
        )?;
        let own_git = row
            .list("setup")?
            .iter()
            .any(|step| step.get("git").is_some());
        Ok(World {
            project,
            contents,
            own_git,
        })
    }

    /// The state now.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        let root = self.project.root();
        let without: &[&str] = if self.own_git {
            &[".agentic", ".git"]
        } else {
            &[".agentic"]
        };
        Ok(Snapshot {
            workspace: Tree::read(&root, without)?,
            outside: Tree::read(&self.project.outside(), &["ws"])?,
            home: Tree::read(&self.project.folder().join("home"), &[])?,
            git: if self.own_git {
                Tree::read(&root.join(".git"), &[])?
            } else {
                Tree::default()
            },
        })
    }

    /// Bytes that the durable and the private store take.
    pub(super) fn state_bytes(&self) -> u64 {
        crate::tree::size_bytes(&self.project.root().join(".agentic"))
            + crate::tree::size_bytes(&self.project.state_dir())
    }

    /// Runs git as the user would, with nobody's configuration.
    pub(super) fn git(&self, arguments: &[String]) -> Result<()> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.project.root())
            .env_clear()
            .envs(self.project.environment())
            .output()
            .context("cannot start git")?;
        ensure!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    /// Writes a file as a program does that replaces it; in place, as one that does not.
    pub(super) fn write(&self, path: &str, entry: &Entry, in_place: bool) -> Result<()> {
        let root = self.project.root();
        let target = root.join(path);
        match fs::symlink_metadata(&target) {
            Ok(meta) if meta.is_dir() => {}
            Ok(meta) if meta.is_symlink() => fs::remove_file(&target)?,
            Ok(meta) if !in_place => {
                fs::remove_file(&target)?;
                entry.make(&root, path)?;
                if entry.mode.is_none() && matches!(entry.kind, EntryKind::Content(_)) {
                    fs::set_permissions(&target, meta.permissions())?;
                }
                return Ok(());
            }
            _ => {}
        }
        entry.make(&root, path)
    }

    /// Rewrites a file with the bytes that it has.
    pub(super) fn rewrite_same(&self, path: &str, new_inode: bool, offset_s: i64) -> Result<()> {
        let target = self.project.root().join(path);
        let meta = fs::metadata(&target)?;
        let bytes = fs::read(&target)?;
        if new_inode {
            let beside = target.with_extension("rewritten");
            fs::write(&beside, bytes)?;
            fs::set_permissions(&beside, meta.permissions())?;
            fs::rename(&beside, &target)?;
        } else {
            fs::write(&target, bytes)?;
        }
        let shift = Duration::from_secs(offset_s.unsigned_abs());
        let now = SystemTime::now();
        let time = if offset_s < 0 {
            now - shift
        } else {
            now + shift
        };
        fs::File::options()
            .append(true)
            .open(&target)?
            .set_modified(time)?;
        Ok(())
    }

    /// Removes a file, a link, or a folder with all in it.
    pub(super) fn delete(&self, path: &str) -> Result<()> {
        let target = self.project.root().join(path);
        let meta = fs::symlink_metadata(&target).with_context(|| format!("no {path}"))?;
        if meta.is_dir() {
            fs::remove_dir_all(&target)?;
        } else {
            fs::remove_file(&target)?;
        }
        Ok(())
    }

    /// Compares the workspace with `before` and the differences that the case names.
    pub(super) fn compare(
        &self,
        before: &Snapshot,
        wanted: &Value,
        whole: &Tree,
    ) -> Result<Vec<Difference>> {
        compare(
            "files_after",
            &self.project.root(),
            &before.workspace,
            wanted,
            whole,
            &self.contents,
        )
    }

    /// The same for what lies around the workspace, and for the user's home.
    pub(super) fn compare_outside(
        &self,
        before: &Snapshot,
        wanted: &Value,
        now: &Snapshot,
    ) -> Result<Vec<Difference>> {
        let mut all = compare(
            "outside_after",
            &self.project.outside(),
            &before.outside,
            wanted,
            &now.outside,
            &BTreeMap::new(),
        )?;
        for line in before.home.differences(&now.home) {
            all.push(Difference::new("home", "nothing changed", line));
        }
        Ok(all)
    }

    /// The git folder is nobody's business here.
    pub(super) fn compare_git(&self, before: &Snapshot, now: &Snapshot) -> Vec<Difference> {
        before
            .git
            .differences(&now.git)
            .into_iter()
            .map(|line| Difference::new(".git", "nothing changed", line))
            .collect()
    }
}

fn make_all(root: &Path, files: &[(String, Option<Entry>)]) -> Result<()> {
    let order = |entry: &Entry| match entry.kind {
        EntryKind::Folder => 0,
        EntryKind::Content(_) => 1,
        EntryKind::Hardlink(_) => 2,
        EntryKind::Symlink(_) => 3,
    };
    let mut list: Vec<(&String, &Entry)> = files
        .iter()
        .filter_map(|(path, entry)| Some((path, entry.as_ref()?)))
        .collect();
    list.sort_by_key(|(_, entry)| order(entry));
    for (path, entry) in &list {
        entry
            .make(root, path)
            .with_context(|| format!("cannot make {path}"))?;
    }
    // Modes of folders last, deepest first: a read-only folder takes no more files.
    list.sort_by_key(|(path, _)| std::cmp::Reverse(path.matches('/').count()));
    for (path, entry) in list {
        if let (Some(mode), EntryKind::Folder) = (entry.mode, &entry.kind) {
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

/// Lists what differs between `now` and `before` changed as `wanted` says.
fn compare(
    what: &str,
    root: &Path,
    before: &Tree,
    wanted: &Value,
    now: &Tree,
    contents: &BTreeMap<PathBuf, Content>,
) -> Result<Vec<Difference>> {
    let named = Entry::parse_all(wanted)?;
    let mut all = Vec::new();
    let mut handled: BTreeSet<PathBuf> = BTreeSet::new();
    let mut standing: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, entry) in &named {
        let path = PathBuf::from(path);
        handled.insert(path.clone());
        let got = now.0.get(&path);
        let label = format!("{what} {}", path.display());
        match entry {
            None => {
                if let Some(got) = got {
                    all.push(Difference::new(&label, "nothing", format!("{got:?}")));
                }
            }
            Some(entry) => {
                standing.insert(path.clone());
                if let Some(difference) =
                    compare_entry(&label, &root.join(&path), entry, before.0.get(&path), got)
                {
                    all.push(difference);
                }
            }
        }
    }
    for (path, node) in &before.0 {
        if handled.contains(path) {
            continue;
        }
        let label = format!("{what} {}", path.display());
        let got = now.0.get(path);
        if matches!(node, Node::Folder { .. }) {
            // A folder may go with the last file that the case takes out of it.
            let emptied = named
                .iter()
                .any(|(name, entry)| entry.is_none() && Path::new(name).starts_with(path));
            if got.is_none() && emptied {
                continue;
            }
        }
        standing.insert(path.clone());
        if got == Some(node) || same_large(root, path, got, contents) {
            continue;
        }
        let shown = got.map_or("nothing".to_owned(), |got| format!("{got:?}"));
        all.push(Difference::new(
            &label,
            format!("{node:?} as before"),
            shown,
        ));
    }
    for (path, node) in &now.0 {
        let known = handled.contains(path) || before.0.contains_key(path);
        let parent_of_wanted = matches!(node, Node::Folder { .. })
            && standing.iter().any(|wanted| wanted.starts_with(path));
        if !known && !parent_of_wanted {
            all.push(Difference::new(
                &format!("{what} {}", path.display()),
                "nothing",
                format!("{node:?}"),
            ));
        }
    }
    Ok(all)
}

/// A large file that was written anew with the bytes it had is unchanged.
fn same_large(
    root: &Path,
    path: &Path,
    got: Option<&Node>,
    contents: &BTreeMap<PathBuf, Content>,
) -> bool {
    let large = matches!(
        got,
        Some(Node::File {
            bytes: Bytes::Large { .. },
            ..
        })
    );
    large
        && contents
            .get(path)
            .is_some_and(|content| content.equals_file(&root.join(path)).unwrap_or(false))
}

fn compare_entry(
    label: &str,
    file: &Path,
    entry: &Entry,
    before: Option<&Node>,
    got: Option<&Node>,
) -> Option<Difference> {
    let shown = || got.map_or("nothing".to_owned(), |got| format!("{got:?}"));
    // A file whose mode the case does not name keeps the one that it had.
    let mode = entry.mode.or(match before {
        Some(Node::File { mode, .. } | Node::Folder { mode }) => Some(*mode),
        _ => None,
    });
    let mode_fits = |got: u32| mode.is_none_or(|mode| mode == got);
    let (fits, wanted) = match (&entry.kind, got) {
        (EntryKind::Content(content), got) => {
            let wanted = Node::File {
                bytes: Bytes::of(if content.len() < 1 << 20 {
                    content.to_bytes()
                } else {
                    format!("({} bytes as the case gives them)", content.len()).into_bytes()
                }),
                mode: mode.unwrap_or(0o644),
            };
            let fits = match got {
                Some(Node::File { bytes, mode }) if mode_fits(*mode) => match bytes {
                    // What was read then counts, not what the file holds by now.
                    Bytes::Whole(bytes) => *bytes == content.to_bytes(),
                    Bytes::Large { len, .. } => {
                        *len == content.len() && content.equals_file(file).unwrap_or(false)
                    }
                },
                _ => false,
            };
            (fits, format!("{wanted:?}"))
        }
        (EntryKind::Symlink(to), got) => (
            matches!(got, Some(Node::Link { target }) if target == to),
            format!("link to {}", to.display()),
        ),
        (EntryKind::Folder, got) => (
            matches!(got, Some(Node::Folder { mode }) if mode_fits(*mode)),
            format!("folder {mode:?}"),
        ),
        (EntryKind::Hardlink(to), got) => (
            matches!(got, Some(Node::File { .. })),
            format!("hard link to {to}"),
        ),
    };
    (!fits).then(|| Difference::new(label, wanted, shown()))
}

/// Reads some files over and over while the row plays: none may be seen half written.
pub(super) struct Watch {
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<Vec<Difference>>>,
}

impl Watch {
    /// Watches the paths named, each with the contents that it may show; null is a missing file.
    pub(super) fn start(world: &World, wanted: &Value) -> Result<Watch> {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        if wanted.is_null() {
            return Ok(Watch { stop, thread: None });
        }
        let mut files: Vec<(PathBuf, Vec<Option<Vec<u8>>>)> = Vec::new();
        let by_path = match (wanted.as_object(), wanted["path"].as_str()) {
            (_, Some(path)) => {
                let allowed = ["one_of", "allowed", "values"]
                    .into_iter()
                    .find_map(|key| wanted.get(key))
                    .context("watch names what may be seen")?;
                vec![(path.to_owned(), allowed.clone())]
            }
            (Some(object), None) => object
                .iter()
                .map(|(path, allowed)| (path.clone(), allowed.clone()))
                .collect(),
            _ => anyhow::bail!("watch {wanted}"),
        };
        for (path, allowed) in by_path {
            let list = allowed.as_array().context("watch lists contents")?;
            let contents = list
                .iter()
                .map(|entry| {
                    Ok(match Entry::parse(entry)?.map(|entry| entry.kind) {
                        Some(EntryKind::Content(content)) => Some(content.to_bytes()),
                        Some(_) => anyhow::bail!("only contents can be watched"),
                        None => None,
                    })
                })
                .collect::<Result<Vec<_>>>()?;
            files.push((world.project.root().join(path), contents));
        }
        let stopping = stop.clone();
        let thread = std::thread::spawn(move || watch(&files, &stopping));
        Ok(Watch {
            stop,
            thread: Some(thread),
        })
    }

    /// Stops watching; what was seen that may not be.
    pub(super) fn differences(mut self) -> Vec<Difference> {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        self.thread
            .take()
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }
}

type Watched = (PathBuf, Vec<Option<Vec<u8>>>);

fn watch(files: &[Watched], stop: &std::sync::atomic::AtomicBool) -> Vec<Difference> {
    let mut all = Vec::new();
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        for (path, allowed) in files {
            let seen = fs::read(path).ok();
            if !allowed.contains(&seen) && all.len() < 3 {
                let shown = seen.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                all.push(Difference::new(
                    &format!("watch {}", path.display()),
                    "one of the contents named",
                    format!("{shown:?}"),
                ));
            }
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    /// Makes a folder, changes it, and lists what differs from the expectation.
    fn check(wanted: Value, change: impl FnOnce(&Path)) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let before = json!({"a.txt": {"text": "a\n", "mode": "0755"}, "d/b.txt": "b\n", "l": {"symlink": "a.txt"}});
        make_all(root, &Entry::parse_all(&before).unwrap()).unwrap();
        let before = Tree::read(root, &[]).unwrap();
        change(root);
        let now = Tree::read(root, &[]).unwrap();
        compare("files", root, &before, &wanted, &now, &BTreeMap::new())
            .unwrap()
            .into_iter()
            .map(|difference| difference.what)
            .collect()
    }

    #[test]
    fn nothing_changed_is_nothing_different() {
        assert!(check(json!({}), |_| {}).is_empty());
        assert_eq!(check(json!({"a.txt": "A\n"}), |_| {}), ["files a.txt"]);
    }

    #[test]
    fn bytes_modes_and_kinds_count() {
        let write = |root: &Path| fs::write(root.join("a.txt"), "A\n").unwrap();
        assert!(check(json!({"a.txt": "A\n"}), write).is_empty());
        assert_eq!(check(json!({}), write), ["files a.txt"]);
        let chmod = |root: &Path| {
            write(root);
            fs::set_permissions(root.join("a.txt"), fs::Permissions::from_mode(0o644)).unwrap();
        };
        assert_eq!(
            check(json!({"a.txt": "A\n"}), chmod),
            ["files a.txt"],
            "the mode was lost"
        );
        let replace = |root: &Path| {
            fs::remove_file(root.join("l")).unwrap();
            fs::write(root.join("l"), "a\n").unwrap();
        };
        assert_eq!(
            check(json!({}), replace),
            ["files l"],
            "a link became a file"
        );
    }

    #[test]
    fn strays_and_left_over_folders_are_seen() {
        let stray = |root: &Path| fs::write(root.join("d/.tmp123"), "").unwrap();
        assert_eq!(check(json!({}), stray), ["files d/.tmp123"]);
        let empty = |root: &Path| fs::create_dir(root.join("sub")).unwrap();
        assert_eq!(check(json!({}), empty), ["files sub"]);
        let made = |root: &Path| {
            fs::create_dir(root.join("sub")).unwrap();
            fs::write(root.join("sub/x"), "x").unwrap();
        };
        assert!(check(json!({"sub/x": "x"}), made).is_empty());
        let gone = |root: &Path| fs::remove_dir_all(root.join("d")).unwrap();
        assert!(check(json!({"d/b.txt": null}), gone).is_empty());
        assert_eq!(check(json!({}), gone), ["files d", "files d/b.txt"]);
    }
}
