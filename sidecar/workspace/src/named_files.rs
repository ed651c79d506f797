//! The files that a command line names, with the revisions of their bytes: what a person who approves it has read.
//!
//! A window stays between the last look and the start of the program; only running a file from a held handle would close it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::boundary::WorkspaceRoot;

/// The revision of a file that is not there.
pub const MISSING: &str = "missing";

/// Arguments that are looked at, and files that are kept.
const MOST_ARGUMENTS: usize = 4096;
const MOST_FILES: usize = 256;

/// Files up to this size are hashed whole; a larger one is known by size and time of change.
const LARGEST: u64 = 64 << 20;

/// The files that `arguments` name, as seen from `cwd` (relative to the root, empty for the root), by path from the root, or
/// absolute when they lie outside.
///
/// An argument counts as a whole, after `=`, and after the letter of a short option. What names no file is left out, except where
/// it looks like a path: then it is [`MISSING`], so that a script that appears later is another script. Folders are left out.
/// Links are followed, as the program will.
pub fn named_files(
    root: &WorkspaceRoot,
    cwd: &str,
    arguments: &[String],
) -> BTreeMap<String, String> {
    let folder = root.path().join(cwd);
    let mut found = BTreeMap::new();
    for argument in arguments.iter().take(MOST_ARGUMENTS) {
        let attached = argument
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))
            .and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
        let value = argument.split_once('=').map(|(_, value)| value);
        let whole = (!argument.starts_with('-')).then_some(argument.as_str());
        for name in [whole, value, attached].into_iter().flatten() {
            if name.is_empty()
                || name.len() > 4096
                || name.contains('\0')
                || found.len() >= MOST_FILES
            {
                continue;
            }
            let path = folder.join(name);
            let looks_like_a_path =
                whole == Some(name) && (name.contains('/') || name.contains('.'));
            let revision = match revision_of(&path) {
                Some(revision) => revision,
                None if looks_like_a_path && std::fs::symlink_metadata(&path).is_err() => {
                    MISSING.to_owned()
                }
                None => continue,
            };
            found.insert(shown(root.path(), cwd, name), revision);
        }
    }
    found
}

/// Those of `files`, as [`named_files`] told them, that are different now.
pub(crate) fn changed(root: &WorkspaceRoot, files: &BTreeMap<String, String>) -> Vec<String> {
    let differs = |(path, revision): &(&String, &String)| {
        let now = revision_of(&root.path().join(path));
        now.as_deref().unwrap_or(MISSING) != revision.as_str()
    };
    let changed = files.iter().filter(differs);
    changed.map(|(path, _)| path.clone()).collect()
}

/// The revision of the file at `path`, links followed; `None` for what is no file.
fn revision_of(path: &Path) -> Option<String> {
    // Without blocking: it may be a pipe.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    let stat = file.metadata().ok()?;
    if !stat.is_file() {
        return None;
    }
    if stat.len() > LARGEST {
        use std::os::unix::fs::MetadataExt;
        return Some(format!(
            "large:{}:{}:{}:{}",
            stat.len(),
            stat.ino(),
            stat.ctime(),
            stat.ctime_nsec()
        ));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    Some(crate::revision::revision(&bytes))
}

/// How a file is called to people: from the root where it lies below it.
fn shown(root: &Path, cwd: &str, name: &str) -> String {
    if let Ok(below) = Path::new(name).strip_prefix(root) {
        return below.display().to_string();
    }
    let mut parts: Vec<&str> = Vec::new();
    if !name.starts_with('/') {
        parts.extend(cwd.split('/').filter(|part| !part.is_empty()));
    }
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if name.starts_with('/') {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{Scratch, revision};

    fn named(scratch: &Scratch, cwd: &str, arguments: &[&str]) -> Vec<(String, String)> {
        let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
        named_files(&scratch.root, cwd, &arguments)
            .into_iter()
            .collect()
    }

    #[test]
    fn files_are_found_however_they_are_named() {
        let scratch = Scratch::new(&[("tool.sh", "a"), ("sub/x", "b"), ("conf", "c")]);
        let a = ("tool.sh".to_owned(), revision("a"));
        assert_eq!(
            named(&scratch, "", &["tool.sh", "-v", "5"]),
            std::slice::from_ref(&a)
        );
        assert_eq!(
            named(&scratch, "sub", &["../tool.sh"]),
            std::slice::from_ref(&a)
        );
        assert_eq!(
            named(&scratch, "", &["./sub/../tool.sh"]),
            std::slice::from_ref(&a)
        );
        let absolute = scratch.on_disk("tool.sh").display().to_string();
        assert_eq!(named(&scratch, "sub", &[&absolute]), [a]);
        let c = ("conf".to_owned(), revision("c"));
        assert_eq!(
            named(&scratch, "", &["--file=conf"]),
            std::slice::from_ref(&c)
        );
        assert_eq!(named(&scratch, "", &["-fconf", "sub"]), [c]);
    }

    #[test]
    fn a_change_a_link_and_an_appearance_show() {
        let scratch = Scratch::new(&[("a.sh", "1"), ("b.sh", "2")]);
        std::os::unix::fs::symlink("a.sh", scratch.on_disk("link.sh")).unwrap();
        assert_eq!(named(&scratch, "", &["link.sh"])[0].1, revision("1"));
        scratch.write("a.sh", "changed");
        assert_eq!(named(&scratch, "", &["link.sh"])[0].1, revision("changed"));
        std::fs::remove_file(scratch.on_disk("link.sh")).unwrap();
        std::os::unix::fs::symlink("b.sh", scratch.on_disk("link.sh")).unwrap();
        assert_eq!(named(&scratch, "", &["link.sh"])[0].1, revision("2"));
        assert_eq!(named(&scratch, "", &["new.sh"])[0].1, MISSING);
        assert!(named(&scratch, "", &["main", "", "a\0b", "-"]).is_empty());
    }

    #[test]
    fn a_pipe_is_passed_over_without_waiting() {
        let scratch = Scratch::new(&[]);
        let made = std::process::Command::new("mkfifo")
            .arg(scratch.on_disk("p.x"))
            .status();
        assert!(made.unwrap().success());
        assert!(named(&scratch, "", &["p.x"]).is_empty());
    }
}
