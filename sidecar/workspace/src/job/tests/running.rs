//! Running a command: what it gets, and what is told of it.

use super::*;

#[test]
fn a_command_runs_without_a_shell_and_its_record_stays() {
    let bench = Bench::new();
    let mut spec = bench.spec("printf", &["%s|", "a b", "$HOME", "`id`", "*", ""]);
    spec.origin.turn_id = Some("turn_1".to_owned());
    let view = bench.run(spec);
    assert_eq!(text(&view.stdout), "a b|$HOME|`id`|*||");
    assert_eq!(view.record.state, JobState::Exited { code: 0 });
    assert_eq!(view.record.sandbox, "none");
    assert_eq!(view.record.program.path, "/usr/bin/printf");
    assert_eq!(view.record.origin.turn_id.as_deref(), Some("turn_1"));
    let id = view.record.id.clone();
    assert_eq!(bench.jobs.status(&id).unwrap(), view.record);
    assert_eq!(bench.jobs.output(&id).unwrap(), view);
    let (again, orphans) = open(&bench.scratch, JobLimits::default());
    assert_eq!(
        (again.status(&id).unwrap(), orphans.len()),
        (view.record, 0)
    );
}

#[test]
fn streams_exit_codes_and_signals_are_told_apart() {
    let bench = Bench::new();
    let view = bench.run(bench.shell("echo out; echo err >&2; exit 7"));
    assert_eq!(
        (text(&view.stdout), text(&view.stderr)),
        ("out\n".into(), "err\n".into())
    );
    assert_eq!(view.record.state, JobState::Exited { code: 7 });
    let view = bench.run(bench.shell("kill -9 $$"));
    assert_eq!(view.record.state, JobState::Signaled { signal: 9 });
}

#[test]
fn it_gets_the_env_of_its_session_and_nothing_of_ours() {
    let bench = Bench::new();
    let view = bench.run(bench.spec("env", &[]));
    let env = text(&view.stdout);
    let mut names: Vec<&str> = env
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "PATH",
            "PWD",
            "REDLINE_JOB",
            "TERM",
            "TEST_MARK"
        ]
    );
    assert!(env.contains(&format!("REDLINE_JOB={}\n", view.record.id)));
    let files = bench.run(bench.shell("ls /proc/self/fd | wc -l; ps -o sid= -p $$; echo $$; cat"));
    let lines: Vec<String> = text(&files.stdout)
        .lines()
        .map(|line| line.trim().to_owned())
        .collect();
    assert_eq!(lines[0], "4", "stdio, and the folder that ls reads");
    assert_eq!(lines[1], lines[2], "it leads a session");
    assert_eq!(lines.len(), 3, "its input is empty");
}

#[test]
fn it_runs_in_a_folder_of_the_workspace_and_in_no_other() {
    let bench = Bench::new();
    let mut spec = bench.shell("pwd; ls");
    spec.folder = bench.scratch.root.admit_folder("sub").unwrap();
    let view = bench.run(spec);
    let sub = bench.scratch.on_disk("sub");
    assert_eq!(text(&view.stdout), format!("{}\nfile.txt\n", sub.display()));
    assert_eq!(view.record.folder, "sub");
    std::os::unix::fs::symlink("/", bench.scratch.on_disk("out")).unwrap();
    for (folder, code) in [
        ("gone", "NOT_FOUND"),
        ("sub/file.txt", "NOT_FOUND"),
        ("out", ""),
        ("out/tmp", ""),
    ] {
        let mut spec = bench.shell("pwd");
        spec.folder = bench.scratch.root.admit_folder(folder).unwrap();
        let error = bench.jobs.start(spec).unwrap_err();
        assert!(error.code().contains(code), "{folder}: {error}");
    }
    assert_eq!(
        bench.jobs.list(10).unwrap().0.len(),
        1,
        "what was refused leaves no job"
    );
}

#[test]
fn input_is_given_once_and_then_ends() {
    let bench = Bench::new();
    let mut spec = bench.spec("wc", &["-c"]);
    spec.stdin = Some(vec![b'x'; MAX_STDIN_BYTES]);
    assert_eq!(
        text(&bench.run(spec).stdout).trim(),
        MAX_STDIN_BYTES.to_string()
    );
    let mut spec = bench.spec("true", &[]);
    spec.stdin = Some(vec![b'x'; MAX_STDIN_BYTES]);
    assert_eq!(
        bench.run(spec).record.state,
        JobState::Exited { code: 0 },
        "it need not read it"
    );
    let mut spec = bench.spec("true", &[]);
    spec.stdin = Some(vec![b'x'; MAX_STDIN_BYTES + 1]);
    assert_eq!(bench.jobs.start(spec).unwrap_err().code(), "TOO_LARGE");
}

#[test]
fn what_cannot_be_run_leaves_nothing() {
    let bench = Bench::new();
    let mut spec = bench.spec("true", &["a\0b"]);
    assert_eq!(
        bench.jobs.start(spec.clone()).unwrap_err().code(),
        "INVALID_ARGUMENTS"
    );
    spec.arguments = vec!["x".repeat(200_000)];
    assert_eq!(
        bench.jobs.start(spec.clone()).unwrap_err().code(),
        "TOO_LARGE"
    );
    spec.arguments.clear();
    spec.timeout = None;
    let error = bench.jobs.run(spec, &AtomicBool::new(false)).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENTS", "{error}");
    bench.scratch.write("bad", "#!/no/such/interpreter\n");
    let file = bench.scratch.on_disk("bad");
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = bench.jobs.start(bench.spec("./bad", &[])).unwrap_err();
    assert_eq!(error.code(), "IO", "{error}");
    let spec = bench.spec("./bad", &[]);
    bench.scratch.write("bad", "#!/bin/sh\n");
    assert_eq!(bench.jobs.start(spec).unwrap_err().code(), "STALE_VERSION");
    assert_eq!(bench.jobs.list(10).unwrap().0, []);
    for id in ["job_none", "../../etc", "", "a\0"] {
        assert_eq!(bench.jobs.status(id).unwrap_err().code(), "UNKNOWN_JOB");
    }
}

#[test]
fn a_terminal_is_one_where_it_is_asked_for() {
    let bench = Bench::new();
    let mut spec = bench.shell(
        "test -t 0 && test -t 1 && test -t 2 && tty >/dev/tty && stty size; cat; echo err >&2",
    );
    spec.terminal = true;
    spec.stdin = Some(b"typed\n".to_vec());
    let view = bench.run(spec);
    let shown = plain(text(&view.stdout).as_bytes()).text;
    let mut lines = shown.lines();
    assert!(lines.any(|line| line.starts_with("/dev/pts/")), "{shown}");
    assert!(
        shown.contains("40 120\n") && shown.contains("typed\n") && shown.ends_with("err\n"),
        "{shown}"
    );
    assert_eq!(text(&view.stderr), "");
    assert_eq!(view.record.state, JobState::Exited { code: 0 });
    let mut spec = bench.spec("cat", &[]);
    spec.terminal = true;
    spec.stdin = Some(b"no line end".to_vec());
    assert_eq!(
        bench.run(spec).record.state,
        JobState::Exited { code: 0 },
        "its input ends"
    );
    let view = bench.run(
        bench.shell("test -t 1 || echo none; (: </dev/tty) 2>/dev/null || echo no terminal at all"),
    );
    assert!(text(&view.stdout).contains("none\n"));
    assert!(
        text(&view.stdout).contains("no terminal at all\n"),
        "not even that of whoever started us"
    );
}

#[test]
fn only_so_many_run_at_one_time_and_only_so_many_stay() {
    let bench = Bench::with(JobLimits {
        running: 2,
        finished: 3,
        ..JobLimits::default()
    });
    let ids = [0, 1].map(|_| bench.started(bench.shell("echo ready; exec sleep 300")));
    let error = bench.jobs.start(bench.spec("true", &[])).unwrap_err();
    assert_eq!(error.code(), "TOO_MANY_JOBS");
    drop(bench.jobs.cancel(&ids[1]).unwrap());
    for _ in 0..5 {
        bench.run(bench.spec("true", &[]));
    }
    let (left, damaged) = bench.jobs.list(10).unwrap();
    assert!(
        left.iter().any(|record| record.id == ids[0]),
        "what runs stays"
    );
    assert_eq!((left.len(), damaged), (4, vec![]));
}

#[test]
fn secrets_reach_neither_record_nor_output() {
    let bench = Bench::new();
    let secret = "canary-7f3a9c";
    let mut spec = bench.shell("printf canary-; sleep 0.05; printf '7f3a9c %s\\n' \"$1\" >&1; env");
    spec.arguments.extend(["sh".to_owned(), secret.to_owned()]);
    let own = [("MY_TOKEN".to_owned(), secret.to_owned())].into();
    spec.env = Arc::new(spec.env.with(&own).unwrap());
    spec.masker = Masker::new(&spec.env, []);
    let view = bench.run(spec);
    let shown = text(&view.stdout);
    assert!(
        shown.starts_with("[masked MY_TOKEN] [masked MY_TOKEN]\n"),
        "{shown}"
    );
    for (path, content) in everything(&bench.scratch.on_disk(".agentic")) {
        assert!(
            !content
                .windows(secret.len())
                .any(|part| part == secret.as_bytes()),
            "{path}"
        );
    }
}

fn everything(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(everything(&path));
        } else {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    all
}
