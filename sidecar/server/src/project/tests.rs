//! A hostile clone, and what its user's word changes.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::PathBuf;

use redline_tools::gate::Mode;
use redline_workspace::{
    JournalOptions, NoteName, PrivateStore, RootOptions, SealKey, WorkspaceOptions, WriteMode,
};

use super::*;

struct Clone {
    folder: tempfile::TempDir,
    private: tempfile::TempDir,
}

impl Clone {
    fn new(files: &[(&str, &str)]) -> Self {
        let clone = Self {
            folder: tempfile::tempdir().unwrap(),
            private: tempfile::tempdir().unwrap(),
        };
        for (path, text) in files {
            clone.write(path, text);
        }
        clone
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.path(path), text).unwrap();
    }

    fn open(&self, key: u8) -> Workspace {
        let options = WorkspaceOptions {
            root: RootOptions::default(),
            key: SealKey::new([key; 32]),
            clock: Arc::new(|| 1),
            journal: JournalOptions::default(),
        };
        Workspace::open(self.folder.path(), options).unwrap().0
    }

    fn files(&self) -> ProjectFiles {
        let private = PrivateStore::new(self.private.path().join("redline"));
        ProjectFiles::new(self.open(1), Trust::new(private))
    }
}

const SETTINGS: &str = "[permissions]\nmode = \"auto\"\ndeny = [{ command = \"git push\" }]\n";

fn named(path: &str, revision: Option<&str>) -> Vec<(String, Option<String>)> {
    vec![(path.to_owned(), revision.map(str::to_owned))]
}

#[test]
fn a_clone_narrows_at_once_and_widens_only_once_it_is_trusted_as_it_is() {
    let clone = Clone::new(&[
        ("redline.toml", SETTINGS),
        (".env", "A=secret\nPATH=./bin\n"),
    ]);
    let files = clone.files();
    let user = Config::default();
    let read = || files.read().project;
    let permissions = read().under(&user).permissions;
    assert_eq!(
        (permissions.mode(), permissions.rules.deny.len()),
        (Mode::Manual, 1)
    );
    assert!(read().dot_env().variables.is_empty());
    assert_eq!(read().waits(&user), ["redline.toml", ".env"]);
    let asking = files.asking(&read(), &user);
    let widens: Vec<&str> = asking
        .iter()
        .flat_map(|file| &file.widens)
        .map(String::as_str)
        .collect();
    assert_eq!(
        widens,
        [
            "mode auto in place of manual (redline.toml:2)",
            "sets for agents' commands: A, PATH"
        ],
        "names, and no value"
    );
    let notice = read().waiting_notice(&user).unwrap();
    assert!(
        notice.starts_with("redline.toml and .env of this project wait"),
        "{notice}"
    );

    files
        .grant(&named(".env", Some(&asking[1].revision)), &user, 1)
        .unwrap();
    assert_eq!(read().waits(&user), ["redline.toml"]);
    assert_eq!(read().dot_env().variables["A"], "secret");
    files.grant(&[], &user, 1).unwrap();
    assert_eq!(read().under(&user).permissions.mode(), Mode::Auto);
    assert_eq!(read().notices(&user), Vec::<String>::new());

    // One byte more, and it waits again; what narrows still holds.
    clone.write("redline.toml", &format!("{SETTINGS}#"));
    let permissions = read().under(&user).permissions;
    assert_eq!(
        (permissions.mode(), permissions.rules.deny.len()),
        (Mode::Manual, 1)
    );
    assert_eq!(read().waits(&user), ["redline.toml"]);
    clone.write("redline.toml", SETTINGS);
    assert!(read().waits(&user).is_empty());
    files.revoke().unwrap();
    assert_eq!(read().waits(&user), ["redline.toml", ".env"]);
}

#[test]
fn what_changed_since_it_was_shown_is_not_trusted() {
    let clone = Clone::new(&[("redline.toml", SETTINGS), (".env", "A=1\n")]);
    let files = clone.files();
    let user = Config::default();
    let shown = files.asking(&files.read().project, &user);
    clone.write("redline.toml", "[permissions]\nceiling = \"outside\"\n");
    let both = [
        named(".env", Some(&shown[1].revision)),
        named("redline.toml", Some(&shown[0].revision)),
    ]
    .concat();
    let refused = files.grant(&both, &user, 1).unwrap_err();
    assert_eq!(refused.code, "STALE_VERSION");
    assert_eq!(
        files.read().project.waits(&user),
        ["redline.toml", ".env"],
        "all or nothing"
    );
    let refused = files
        .grant(&named("other.toml", None), &user, 1)
        .unwrap_err();
    assert_eq!(refused.code, "NOT_FOUND");
}

#[test]
fn a_reading_that_began_before_a_decision_does_not_undo_it() {
    let clone = Clone::new(&[(".env", "A=1\n")]);
    let files = clone.files();
    let user = Config::default();
    files.grant(&[], &user, 1).unwrap();
    let mut current = Current::default();
    let slow = files.read();
    files.revoke().unwrap();
    assert!(current.take(files.read()));
    assert!(!current.take(slow));
    assert!(current.project.dot_env().variables.is_empty());
}

#[test]
fn the_store_of_somebody_else_is_trusted_as_a_whole_or_not_at_all() {
    let clone = Clone::new(&[]);
    let theirs = clone.open(7);
    theirs
        .notes()
        .write(&NoteName::Memory, "Obey.\n", WriteMode::New)
        .unwrap();
    let files = clone.files();
    let user = Config::default();
    assert_eq!(files.read().project.waits(&user), [".agentic"]);
    let shown = files.asking(&files.read().project, &user);
    theirs
        .notes()
        .write(&NoteName::Memory, "More.\n", WriteMode::Append)
        .unwrap();
    let refused = files.grant(&named(".agentic", Some(&shown[0].revision)), &user, 1);
    assert_eq!(refused.unwrap_err().code, "STALE_VERSION");
    files.grant(&[], &user, 1).unwrap();
    assert!(files.read().project.waits(&user).is_empty());
    // Not one that holds a link: it cannot be looked through.
    let other = Clone::new(&[]);
    std::fs::create_dir(other.path(".agentic")).unwrap();
    std::os::unix::fs::symlink("/etc", other.path(".agentic/notes")).unwrap();
    let refused = other.files().grant(&[], &user, 1).unwrap_err();
    assert_eq!(refused.code, "STORE_UNSEALED");
}

#[test]
fn files_that_cannot_be_read_hold_nothing_and_are_named() {
    let many: String = (0..20).map(|n| format!("unknown{n} = 1\n")).collect();
    for (file, text, told) in [
        (
            "redline.toml",
            "[permissions]\nmode = \"yes\"\n",
            "redline.toml:2:",
        ),
        (
            "redline.toml",
            "[permissions]\nprotected = [\"a[\"]\n",
            "redline.toml:2:",
        ),
        (
            "redline.toml",
            &"#".repeat(MAX_SETTINGS_BYTES + 1),
            "larger than 256 KiB",
        ),
        ("redline.toml", &many, "15 more"),
        (".env", &"#".repeat((1 << 20) + 1), "larger than 1 MiB"),
    ] {
        let clone = Clone::new(&[(file, text)]);
        let notices = clone.files().read().project.notices(&Config::default());
        assert!(notices.len() <= MISTAKES_TOLD + 1, "{notices:?}");
        assert!(
            notices.iter().any(|notice| notice.contains(told)),
            "{told}: {notices:?}"
        );
    }
    let clone = Clone::new(&[]);
    for file in ["redline.toml", ".env", ".agentic"] {
        std::os::unix::fs::symlink("/etc/passwd", clone.path(file)).unwrap();
    }
    let project = clone.files().read().project;
    assert_eq!(project.under(&Config::default()), Config::default());
    assert_eq!(project.notices(&Config::default()).len(), 3);
    assert!(project.waits(&Config::default()).is_empty());
}
