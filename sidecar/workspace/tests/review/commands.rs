//! What commands change: found, kept, taken back and put back, with git and without.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redline_workspace::{
    ChangeLimits, ChangeSummary, EditorSaves, Ids, JobOptions, JobOrigin, JobSpec, JobState, Jobs,
    Masker, Observed, SessionEnv,
};

use crate::*;

struct Numbers;

impl Ids for Numbers {
    fn next(&self, prefix: &str) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        // Jobs are found by their ids, also among those of other tests and processes.
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{:010}{count:016}", std::process::id())
    }
}

/// Paths whose latest text an editor saved.
#[derive(Default)]
struct Saves(Mutex<Vec<String>>);

impl EditorSaves for Saves {
    fn saved(&self, path: &str, text_revision: &str, _: u64) -> bool {
        assert_eq!(text_revision.len(), 64);
        self.0.lock().unwrap().iter().any(|saved| saved == path)
    }
}

struct Shell {
    ground: Ground,
    jobs: Jobs,
    saves: Arc<Saves>,
}

fn shell(files: &[(&str, &str)]) -> Shell {
    shell_with(Ground::new(files), ChangeLimits::default())
}

fn shell_with(ground: Ground, changes: ChangeLimits) -> Shell {
    let saves = Arc::new(Saves::default());
    let ids = Arc::new(Numbers);
    let options = JobOptions {
        changes,
        saves: saves.clone(),
        ..JobOptions::new(Arc::new(|| 1_700_000_003_000), ids)
    };
    let (jobs, _) = Jobs::open(ground.ws.clone(), options);
    Shell {
        ground,
        jobs,
        saves,
    }
}

impl Shell {
    fn spec(&self, script: &str) -> JobSpec {
        let env = SessionEnv::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]).snapshot();
        let program =
            self.jobs
                .programs()
                .resolve(self.ground.ws.root(), "sh", None, env.get("PATH"));
        JobSpec {
            program: program.unwrap(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            folder: None,
            env,
            env_digest: String::new(),
            stdin: None,
            terminal: false,
            timeout: Some(Duration::from_secs(60)),
            background: false,
            undoable: true,
            network: false,
            masker: Masker::default(),
            origin: JobOrigin {
                turn_id: Some("turn_01J00000000000000000000001".to_owned()),
                ..JobOrigin::default()
            },
        }
    }

    fn run(&self, script: &str) -> ChangeSummary {
        let view = self
            .jobs
            .run(self.spec(script), &AtomicBool::new(false))
            .unwrap();
        assert_eq!(view.record.state, JobState::Exited { code: 0 }, "{view:?}");
        assert_eq!(view.record.notes, Vec::<String>::new());
        view.record.changes.unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "core.hooksPath=/dev/null",
            ])
            .args(arguments)
            .current_dir(&self.ground.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// A repository with all that is there committed, and an index that was written well after the files.
    fn commit_all(&self) {
        self.git(&["init", "-q"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "all"]);
        let index = self.ground.root.join(".git/index");
        let later = std::time::SystemTime::now() + Duration::from_secs(5);
        std::fs::File::options()
            .append(true)
            .open(index)
            .unwrap()
            .set_modified(later)
            .unwrap();
    }

    /// The tree without git's own.
    fn tree(&self) -> std::collections::BTreeMap<String, Node> {
        let mut tree = self.ground.tree();
        tree.retain(|path, _| path != ".git" && !path.starts_with(".git/"));
        tree
    }
}

const FILES: &[(&str, &str)] = &[
    (".gitignore", "target\n"),
    ("a.txt", "one\ntwo\nthree\n"),
    ("crlf.txt", "one\r\ntwo\r\n"),
    ("gone/deep/b.txt", "b\n"),
    ("run.sh", "#!/bin/sh\n"),
    ("same.txt", "same\n"),
];

const SCRIPT: &str = "
    sed -i 's/two/TWO/' a.txt; printf 'one\\r\\nTWO\\r\\n' > crlf.txt
    rm -r gone; chmod +x run.sh; touch same.txt
    mkdir -p new/deep target; echo n > new/deep/n.txt; head -c 300 /dev/urandom > new/n.bin
    echo built > target/out; ln -sf b link; rm bin; printf '\\000\\001' > bin";

fn all_comes_back(shell: &Shell) {
    std::fs::write(shell.ground.root.join("bin"), b"\0\xff\xfe").unwrap();
    shell.ground.link("link", "a.txt");
    let before = shell.tree();
    let changes = shell.run(SCRIPT);
    let after = shell.tree();
    assert_eq!(
        (changes.created, changes.changed, changes.deleted),
        (2, 5, 1),
        "{changes:?}"
    );
    assert_eq!(
        changes.paths,
        [
            "a.txt",
            "bin",
            "crlf.txt",
            "gone/deep/b.txt",
            "link",
            "new/deep/n.txt",
            "new/n.bin",
            "run.sh"
        ]
    );
    assert_eq!((changes.observed, changes.gap_count), (0, 0), "{changes:?}");
    let turn = changes.checkpoint_id.as_deref().unwrap();
    assert_eq!(turn, "turn_01J00000000000000000000001");

    shell.ground.undo(None, Direction::Undo).unwrap();
    let mut left = shell.tree();
    assert!(
        left.remove("target/out").is_some(),
        "build output is left alone"
    );
    left.remove("target");
    assert_eq!(left, before);
    shell.ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(shell.tree(), after);
    shell.ground.undo(Some(turn), Direction::Undo).unwrap();
    let mut left = shell.tree();
    left.retain(|path, _| !path.starts_with("target"));
    assert_eq!(left, before);
    assert!(shell.ground.ws.journal().verify().unwrap().is_sound());
}

#[test]
fn without_git_undo_brings_back_all_that_a_command_changed() {
    all_comes_back(&shell(FILES));
}

#[test]
fn with_git_it_brings_back_what_is_clean_modified_or_not_tracked() {
    let shell = shell(FILES);
    shell.commit_all();
    // Modified since, and not what git has.
    shell.ground.write("crlf.txt", "mine\r\ntwo\r\n");
    all_comes_back(&shell);
    assert_eq!(shell.ground.read("crlf.txt").unwrap(), "mine\r\ntwo\r\n");
    let status = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(&shell.ground.root)
        .output()
        .unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(
        !status.contains("a.txt") && !status.contains("gone"),
        "{status}"
    );
}

#[test]
fn a_workspace_inside_of_a_repository_and_what_is_tracked_though_ignored() {
    let outer = shell(&[
        ("top.txt", "t\n"),
        (".gitignore", "*.log\n"),
        ("sub/in.txt", "in\n"),
        ("sub/kept.log", "log\n"),
    ]);
    outer.git(&["init", "-q"]);
    outer.git(&["add", "-A"]);
    outer.git(&["add", "-f", "sub/kept.log"]);
    outer.git(&["commit", "-q", "-m", "all"]);
    let (inner, _) = Ground::at(&outer.ground.root.join("sub"), "B");
    let shell = shell_with(inner, ChangeLimits::default());
    let before = shell.tree();
    let changes = shell.run(
        "echo more >> in.txt; echo more >> kept.log; echo new > other.log; echo t > ../top.txt",
    );
    assert_eq!(changes.paths, ["in.txt", "kept.log"]);
    shell.ground.undo(None, Direction::Undo).unwrap();
    let mut left = shell.tree();
    left.remove("other.log");
    assert_eq!(left, before);
}

#[test]
fn what_looks_the_same_is_read_when_it_may_not_be() {
    let shell = shell(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let past = std::time::SystemTime::now() - Duration::from_secs(1000);
    for file in ["a.txt", "b.txt"] {
        let file = std::fs::File::options()
            .append(true)
            .open(shell.ground.root.join(file))
            .unwrap();
        file.set_modified(past).unwrap();
    }
    // Same size, same time of change, same inode.
    let changes = shell
        .run("cp -p a.txt ../keep; printf 'ONE\\n' > a.txt; touch -r ../keep a.txt; touch b.txt");
    assert_eq!(changes.paths, ["a.txt"]);
    let none = shell.run("cat a.txt; touch a.txt b.txt; mv b.txt x; mv x b.txt");
    assert!(none.is_empty() && none.checkpoint_id.is_none(), "{none:?}");
}

#[test]
fn one_undo_takes_back_accepted_edits_and_commands_of_a_turn() {
    let shell = shell(&[("a.txt", "one\ntwo\n"), ("b.txt", "b\n")]);
    let before = shell.tree();
    shell.run("echo three >> a.txt");
    shell.run("sed -i s/one/ONE/ a.txt; rm b.txt; echo c > c.txt");
    shell.run("echo more >> c.txt");
    let after = shell.tree();
    shell.ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(shell.tree(), before);
    shell.ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(shell.tree(), after);
    // What the user changed elsewhere in the file since stays.
    shell.ground.write("a.txt", "ONE\ntwo\nthree\nmine\n");
    match shell.ground.undo(None, Direction::Undo) {
        Ok(_) => assert_eq!(shell.ground.read("a.txt").unwrap(), "one\ntwo\nmine\n"),
        Err(Refused::Review(undo)) => assert_eq!(undo.refusals[0].path, "a.txt"),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn what_could_not_be_kept_is_named_and_the_rest_is_covered() {
    let limits = ChangeLimits {
        file_bytes: 1000,
        total_bytes: 1500,
        ..ChangeLimits::default()
    };
    let shell = shell_with(
        Ground::new(&[("a.txt", "a\n"), ("redline.toml", "")]),
        limits,
    );
    shell.ground.write("large.txt", &"x\n".repeat(600));
    shell.ground.write("z1.txt", &"y\n".repeat(450));
    shell.ground.write("z2.txt", &"z\n".repeat(450));
    let untouched = shell.run("cat large.txt > /dev/null; echo b > a.txt");
    assert_eq!(
        (untouched.paths.as_slice(), untouched.gap_count),
        (&["a.txt".to_owned()][..], 0),
        "{untouched:?}"
    );
    let changes = shell.run("echo mode = 1 > redline.toml; rm large.txt; echo more | tee -a z1.txt >> z2.txt; echo c > a.txt");
    assert_eq!(changes.paths, ["a.txt", "z1.txt"]);
    let gaps: Vec<String> = changes
        .gaps
        .iter()
        .map(|gap| format!("{}: {}", gap.path, gap.reason))
        .collect();
    assert_eq!(
        gaps,
        [
            "large.txt: had 1200 bytes before, more than the 1000 that are copied",
            "redline.toml: is protected: the project's settings (redline.toml)",
            "z2.txt: was beyond the 1500 bytes that are copied before a command",
        ]
    );
    shell.ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(shell.ground.read("a.txt").unwrap(), "a\n");
}

#[test]
fn what_git_stores_in_another_form_is_converted_or_named() {
    let shell = shell(&[
        (".gitattributes", "*.crlf text eol=crlf\n*.id ident\n"),
        ("a.crlf", "one\r\ntwo\r\n"),
    ]);
    shell.ground.write("x.id", "$Id$\n");
    shell.commit_all();
    // Checked out anew, so that the expansion is in the file.
    std::fs::remove_file(shell.ground.root.join("x.id")).unwrap();
    shell.git(&["checkout", "-q", "x.id"]);
    let index = shell.ground.root.join(".git/index");
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    std::fs::File::options()
        .append(true)
        .open(index)
        .unwrap()
        .set_modified(later)
        .unwrap();
    let changes = shell.run("echo x > a.crlf; echo x > x.id");
    assert_eq!(changes.paths, ["a.crlf"]);
    assert_eq!(changes.gaps[0].path, "x.id");
    shell.ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(shell.ground.read("a.crlf").unwrap(), "one\r\ntwo\r\n");
}

/// The undo waits for a person, who is told why, and does what they say.
fn is_shown_first(shell: &Shell, reason: &str) {
    let refused = shell.ground.undo(None, Direction::Undo).unwrap_err();
    let Refused::Review(undo) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        undo.refusals
            .iter()
            .any(|refusal| refusal.reason.contains(reason)),
        "{:?}",
        undo.refusals
    );
    let mut waiting = shell
        .ground
        .ws
        .transactions()
        .load(undo.transaction.id())
        .unwrap()
        .unwrap();
    shell.ground.accept(&mut waiting).unwrap();
}

#[test]
fn what_an_editor_saved_meanwhile_is_only_observed() {
    let shell = shell(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let before = shell.tree();
    shell.saves.0.lock().unwrap().push("b.txt".to_owned());
    let changes = shell.run("echo x > a.txt; echo y > b.txt");
    assert_eq!((changes.paths.len(), changes.observed), (2, 1));
    is_shown_first(&shell, "saved");
    assert_eq!(shell.tree(), before);
}

#[test]
fn what_changed_beside_another_job_or_in_the_background_is_only_observed() {
    let shell = shell(&[("a.txt", "a\n")]);
    let before = shell.tree();
    let mut server = shell.spec("echo server > s.txt; echo ready; exec sleep 300");
    server.timeout = None;
    server.background = true;
    server.origin.turn_id = Some("turn_01J00000000000000000000002".to_owned());
    let server = shell.jobs.start(server).unwrap().id;
    let end = Instant::now() + Duration::from_secs(20);
    while shell.jobs.output(&server).unwrap().stdout.total == 0 && Instant::now() < end {
        std::thread::yield_now();
    }
    let changes = shell.run("echo x > a.txt");
    assert_eq!(changes.observed, 1);
    is_shown_first(&shell, &server);
    let ended = shell.jobs.cancel(&server).unwrap();
    let changes = ended.changes.unwrap();
    assert_eq!(changes.paths, ["s.txt"], "a.txt is as it was");
    assert_eq!(changes.observed, 1);
    is_shown_first(&shell, "changed");
    assert_eq!(shell.tree(), before);
    assert!(Observed::Background.reason().contains("background"));
}

#[test]
fn what_a_proposal_changed_meanwhile_is_not_the_commands() {
    let shell = shell(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut transaction = shell
        .ground
        .propose(vec![Change::write("a.txt", "accepted\n")]);
    let job = shell
        .jobs
        .start(shell.spec("echo x > b.txt; until test -e go; do sleep 0.01; done; rm go"))
        .unwrap()
        .id;
    shell.ground.accept(&mut transaction).unwrap();
    shell.ground.write("go", "");
    assert!(
        shell
            .jobs
            .wait(&job, Duration::from_secs(20), &AtomicBool::new(false))
    );
    let changes = shell.jobs.status(&job).unwrap().changes.unwrap();
    assert_eq!(changes.paths, ["b.txt"], "{changes:?}");
    shell
        .ground
        .undo(changes.checkpoint_id.as_deref(), Direction::Undo)
        .unwrap();
    assert_eq!(
        (
            shell.ground.read("a.txt").unwrap().as_str(),
            shell.ground.read("b.txt").unwrap().as_str()
        ),
        ("accepted\n", "b\n")
    );
}

#[test]
fn copies_are_made_once_for_as_long_as_a_file_stays_the_same() {
    let shell = shell(&[]);
    for number in 0..50 {
        shell
            .ground
            .write(&format!("f{number}.txt"), &"line\n".repeat(2000));
    }
    // Long enough ago that the file system's clock has moved on.
    let past = std::time::SystemTime::now() - Duration::from_secs(1000);
    for number in 0..50 {
        let file = std::fs::File::options()
            .append(true)
            .open(shell.ground.root.join(format!("f{number}.txt")))
            .unwrap();
        file.set_modified(past).unwrap();
    }
    let changes = shell.run("true");
    assert!(changes.is_empty());
    let changes = shell.run("for f in f*.txt; do echo x > $f; done");
    assert_eq!(changes.changed, 50);
    shell.ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(shell.ground.read("f7.txt").unwrap(), "line\n".repeat(2000));
}
