//! Which programs a repository's own configuration would make git run.
//!
//! A `git diff` that only reads runs `diff.external` of `.git/config`, a `git status` runs `core.fsmonitor`. A folder that came
//! from somebody else may hold such settings, so a rule that lets `git diff` run does not hold where they are found.
//! The user's own configuration is theirs and is not looked at.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::boundary::WorkspaceRoot;

/// Longest configuration that is read; what is longer counts as running something.
const LONGEST: u64 = 1 << 20;

/// Configurations of submodules that are read.
const MOST_SUBMODULES: usize = 256;

/// Folders above the workspace that are asked for a repository.
const MOST_FOLDERS: usize = 64;

/// What is told of a configuration that cannot be read or that names others.
const UNKNOWN: &str = "a part of it that cannot be checked";

/// The keys (`diff.external`, `filter.NAME.clean`) by which the repository around `cwd` makes git run programs, sorted;
/// `hooks/post-index-change` for the one hook that reading commands run. Empty outside of a repository.
///
/// `cwd` is relative to the root, empty for the root itself. Reads only. Cost: a few small files, and one for each submodule.
pub fn git_programs(root: &WorkspaceRoot, cwd: &str) -> Vec<String> {
    let Some(place) = repository_of(&root.path().join(cwd)) else {
        return Vec::new();
    };
    let mut keys = Vec::new();
    let mut hooks = vec![place.common.join("hooks")];
    for file in place.configurations() {
        read(&file, &mut |key, value| {
            if key == "core.hookspath" {
                hooks.push(place.work_tree.join(value));
            }
            if runs_program(key, value) {
                keys.push(key.to_owned());
            }
        })
        .unwrap_or_else(|| keys.push(UNKNOWN.to_owned()));
    }
    if hooks
        .iter()
        .any(|folder| is_executable(&folder.join("post-index-change")))
    {
        keys.push("hooks/post-index-change".to_owned());
    }
    keys.sort();
    keys.dedup();
    keys
}

struct Repository {
    work_tree: PathBuf,
    /// The worktree's own folder.
    own: PathBuf,
    /// The folder that worktrees share.
    common: PathBuf,
}

impl Repository {
    fn configurations(&self) -> Vec<PathBuf> {
        let mut files = vec![self.common.join("config"), self.own.join("config.worktree")];
        let mut folders = vec![self.common.join("modules")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
                let config = entry.path().join("config");
                match config.is_file() {
                    true => files.push(config),
                    false => folders.push(entry.path()),
                }
                if files.len() + folders.len() > MOST_SUBMODULES {
                    // Not a file: it counts as one that cannot be read.
                    files.push(self.common.join("modules"));
                    return files;
                }
            }
        }
        files
    }
}

/// The repository that git finds from `folder`.
fn repository_of(folder: &Path) -> Option<Repository> {
    for folder in folder.ancestors().take(MOST_FOLDERS) {
        let dot_git = folder.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else if dot_git.is_file() {
            let text = read_text(&dot_git)?;
            folder.join(text.strip_prefix("gitdir:")?.trim())
        } else if folder.join("HEAD").is_file()
            && folder.join("objects").is_dir()
            && folder.join("refs").is_dir()
        {
            folder.to_owned()
        } else {
            continue;
        };
        let common = match read_text(&own.join("commondir")) {
            Some(text) => own.join(text.trim()),
            None => own.clone(),
        };
        return Some(Repository {
            work_tree: folder.to_owned(),
            own,
            common,
        });
    }
    None
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|stat| stat.is_file() && stat.permissions().mode() & 0o111 != 0)
}

fn read_text(path: &Path) -> Option<String> {
    let stat = std::fs::metadata(path).ok()?;
    if !stat.is_file() || stat.len() > LONGEST {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Calls `see` with each key (section and name in lower case) and value of a file. `None` when it cannot be read; a missing
/// file has no keys.
fn read(file: &Path, see: &mut dyn FnMut(&str, &str)) -> Option<()> {
    if std::fs::symlink_metadata(file).is_err() {
        return Some(());
    }
    let text = read_text(file)?;
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (name, rest) = header(rest)?;
            section = name;
            line = rest.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let mut whole = line.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            whole.push_str(lines.next()?);
        }
        let (name, value) = whole.split_once('=').unwrap_or((&whole, "true"));
        let name = name.trim().to_ascii_lowercase();
        // Quotes, and a comment after the value, make no difference to whether it runs something.
        let value = value.trim().replace('"', "");
        see(&format!("{section}.{name}"), &value);
    }
    Some(())
}

/// `core]`, `diff "name"]`, `a.b]`: the section's name and what follows it on the line.
fn header(rest: &str) -> Option<(String, &str)> {
    match rest.find(['"', ']']) {
        Some(at) if rest[at..].starts_with('"') => {
            let inner = &rest[at + 1..];
            let mut end = 0;
            let bytes = inner.as_bytes();
            while *bytes.get(end)? != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            let after = inner.get(end + 1..)?.trim_start().strip_prefix(']')?;
            let name = format!(
                "{}.{}",
                rest[..at].trim().to_ascii_lowercase(),
                &inner[..end]
            );
            Some((name, after))
        }
        Some(at) => Some((rest[..at].trim().to_ascii_lowercase(), &rest[at + 1..])),
        None => None,
    }
}

/// Settings that git passes to a shell or executes, or that bring in others.
fn runs_program(key: &str, value: &str) -> bool {
    let section = key.split('.').next().unwrap_or(key);
    let name = key.rsplit('.').next().unwrap_or(key);
    match (section, name) {
        // A yes or no chooses git's own watcher.
        ("core", "fsmonitor") => !matches!(
            value.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1" | ""
        ),
        (
            "core",
            "pager"
            | "editor"
            | "sshcommand"
            | "gitproxy"
            | "askpass"
            | "alternaterefscommand"
            | "worktree",
        )
        | ("sequence", "editor")
        | ("diff", "external" | "command" | "textconv")
        | ("merge", "driver")
        | ("credential", "helper")
        | ("gpg", "program" | "defaultkeycommand")
        | ("interactive", "difffilter")
        | ("uploadpack", "packobjectshook")
        | ("remote", "uploadpack" | "receivepack" | "vcs")
        | ("browser" | "man" | "difftool" | "mergetool" | "guitool", "cmd" | "path")
        | ("tar", "command")
        | ("trailer", "command" | "cmd")
        | ("init", "templatedir")
        | ("log", "showsignature")
        | ("protocol", "allow")
        | ("include" | "includeif", "path")
        | ("alias", _) => true,
        ("pager", _) => !matches!(value, "true" | "false"),
        ("submodule", "update") => value.starts_with('!'),
        // What `git lfs install --local` writes runs the user's own git-lfs.
        ("filter", "clean" | "smudge" | "process") => !matches!(
            value,
            "git-lfs clean -- %f" | "git-lfs smudge -- %f" | "git-lfs filter-process"
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::Scratch;

    fn found(config: &str) -> Vec<String> {
        let scratch = Scratch::new(&[(".git/HEAD", "ref: x\n"), (".git/config", config)]);
        git_programs(&scratch.root, "")
    }

    #[test]
    fn programs_of_the_repository_are_named() {
        for (config, keys) in [
            (
                "[core]\n\tbare = false\n\tfsmonitor = true\n[user]\n\tname = x\n",
                vec![],
            ),
            ("[diff]\n\texternal = touch x\n", vec!["diff.external"]),
            ("[Core]\n\tFsMonitor = ./x\n", vec!["core.fsmonitor"]),
            ("[core] pager = x\n", vec!["core.pager"]),
            (
                "[diff \"a b\"]\n\ttextconv = x\n",
                vec!["diff.a b.textconv"],
            ),
            ("[diff.a]\n\tcommand = x\n", vec!["diff.a.command"]),
            (
                "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n",
                vec![],
            ),
            (
                "[filter \"lfs\"]\n\tclean = ./git-lfs clean -- %f\n",
                vec!["filter.lfs.clean"],
            ),
            ("[include]\n\tpath = ../evil\n", vec!["include.path"]),
            (
                "[includeIf \"gitdir:x\"]\n\tpath = ../evil\n",
                vec!["includeif.gitdir:x.path"],
            ),
            ("[alias]\n\tzz = \"!touch x\"\n", vec!["alias.zz"]),
            ("# [diff]\n; external = x\n", vec![]),
            ("[core]\n\tedi\\\ntor = x\n", vec!["core.editor"]),
            (
                "[remote \"o\"]\n\turl = https://a/b\n\tfetch = +a:b\n",
                vec![],
            ),
            ("[broken\n", vec![UNKNOWN]),
            ("[a \"b\n", vec![UNKNOWN]),
        ] {
            assert_eq!(found(config), keys, "{config:?}");
        }
    }

    #[test]
    fn every_place_that_git_reads_is_looked_at() {
        let evil = "[diff]\nexternal = x\n";
        let scratch = Scratch::new(&[
            (".git/HEAD", "x"),
            (".git/modules/lib/config", evil),
            ("nested/.git/HEAD", "x"),
            ("bare/HEAD", "x"),
            ("bare/objects/a", ""),
            ("bare/refs/a", ""),
            ("bare/config", "[core]\npager = x\n"),
            ("tree/.git", "gitdir: ../.git/worktrees/tree\n"),
            (".git/worktrees/tree/commondir", "../..\n"),
            (
                ".git/worktrees/tree/config.worktree",
                "[core]\nsshCommand = x\n",
            ),
        ]);
        assert_eq!(git_programs(&scratch.root, ""), ["diff.external"]);
        assert_eq!(git_programs(&scratch.root, "nested"), [] as [&str; 0]);
        assert_eq!(git_programs(&scratch.root, "bare/objects"), ["core.pager"]);
        assert_eq!(
            git_programs(&scratch.root, "tree"),
            ["core.sshcommand", "diff.external"]
        );
    }

    #[test]
    fn the_hook_of_reading_commands_is_found() {
        let scratch = Scratch::new(&[
            (".git/HEAD", "x"),
            (".git/config", "[core]\n\thooksPath = .husky\n"),
            (".husky/pre-commit", "x"),
            (".husky/post-index-change", "x"),
        ]);
        assert_eq!(git_programs(&scratch.root, ""), [] as [&str; 0]);
        let hook = scratch.on_disk(".husky/post-index-change");
        std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(git_programs(&scratch.root, ""), ["hooks/post-index-change"]);
    }
}
