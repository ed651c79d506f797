//! Output: bounded, kept, and told while it comes.

use super::*;

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        << 10
}

#[test]
fn a_gibibyte_of_output_costs_a_bounded_memory_and_disk() {
    let bench = Bench::with(JobLimits {
        disk_bytes: 1 << 20,
        ..JobLimits::default()
    });
    // Warm: what starting costs is not what output costs.
    bench.run(bench.shell("echo"));
    let before = resident();
    // A listener that never takes is there all along.
    let id = bench
        .jobs
        .start(bench.shell("sleep 0.05; head -c 1G /dev/zero | tr '\\0' 'x'; echo; echo the end"))
        .unwrap()
        .id;
    let listener = bench.jobs.listen(&id, None).unwrap();
    until("it has ended", || {
        bench.jobs.status(&id).unwrap().state != JobState::Running
    });
    let view = bench.jobs.output(&id).unwrap();
    assert_eq!(view.record.state, JobState::Exited { code: 0 });
    assert_eq!(view.stdout.total, (1 << 30) + 9);
    let limits = bench.jobs.limits();
    assert_eq!(view.stdout.head.len(), limits.head_bytes);
    assert_eq!(view.stdout.tail.len(), limits.tail_bytes);
    assert!(view.stdout.tail.ends_with(b"xx\nthe end\n"));
    assert_eq!(view.record.stdout.bytes_on_disk, 1 << 20);
    let heard = listener.take();
    let waiting: usize = heard.output.iter().map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(waiting as u64 + heard.dropped_bytes, view.stdout.total);
    assert!(waiting <= limits.listener_bytes);
    let grown = resident() - before;
    assert!(grown < 16 << 20, "{grown} bytes more");
}

#[test]
fn a_flood_does_not_keep_the_clock_from_being_looked_at() {
    let bench = Bench::with(JobLimits {
        disk_bytes: 1 << 20,
        ..JobLimits::default()
    });
    let mut spec = bench.spec("yes", &["0123456789abcdef"]);
    spec.timeout = Some(Duration::from_millis(300));
    let view = bench.run(spec);
    assert_eq!(view.record.state, JobState::TimedOut);
    assert!(view.stdout.dropped() > 0);
}

#[test]
fn any_part_that_is_kept_can_be_read_later() {
    let bench = Bench::with(JobLimits {
        head_bytes: 10,
        tail_bytes: 20,
        disk_bytes: 100,
        ..JobLimits::default()
    });
    let view = bench.run(bench.shell("seq -w 1 99; echo oops >&2"));
    let whole: Vec<u8> = (1..=99)
        .flat_map(|n| format!("{n:02}\n").into_bytes())
        .collect();
    let id = view.record.id;
    let read = |offset, most| {
        bench
            .jobs
            .read(&id, JobStream::Stdout, offset, most)
            .unwrap()
    };
    assert_eq!(read(0, 9), (0, whole[..9].to_vec()));
    assert_eq!(
        read(90, 100),
        (90, whole[90..100].to_vec()),
        "to the end of what is on disk"
    );
    assert_eq!(
        read(100, 100),
        (277, whole[277..].to_vec()),
        "what lies between is gone"
    );
    assert_eq!(read(290, 4), (290, whole[290..294].to_vec()));
    assert_eq!(read(9999, 4), (297, Vec::new()));
    assert_eq!(
        bench.jobs.read(&id, JobStream::Stderr, 1, 3).unwrap(),
        (1, b"ops".to_vec())
    );
    let (again, _) = open(&bench.scratch, bench.jobs.limits().clone());
    let kept = again.output(&id).unwrap().stdout;
    assert_eq!(
        (kept.head, kept.tail),
        (whole[..10].to_vec(), whole[277..].to_vec())
    );
}

#[test]
fn binary_and_coloured_output_is_kept_raw_and_shown_plain() {
    let bench = Bench::new();
    let view = bench.run(bench.shell("head -c 2000 /bin/ls; printf '\\033[31mred\\033[0m\\n' >&2"));
    assert_eq!(view.stdout.head, std::fs::read("/bin/ls").unwrap()[..2000]);
    assert!(
        plain(&view.stdout.head)
            .text
            .starts_with("[binary output, 2000 bytes, beginning 7f 45 4c 46")
    );
    let shown = plain(&view.stderr.head);
    assert_eq!((shown.text.as_str(), shown.removed.escapes), ("red\n", 2));
    assert!(text(&view.stderr).starts_with("\u{1b}[31m"));
}

#[test]
fn output_is_told_while_it_comes_and_who_goes_away_is_not_missed() {
    let bench = Bench::new();
    let mut spec = bench.shell("while read line; do echo \"got $line\"; done; sleep 0.1; echo bye");
    spec.stdin = Some(b"one\ntwo\n".to_vec());
    let id = bench.jobs.start(spec).unwrap().id;
    let (arrived, wait) = std::sync::mpsc::channel();
    let wake: Wake = Arc::new(move || {
        let _ = arrived.send(());
    });
    let listener = bench.jobs.listen(&id, Some(wake)).unwrap();
    let gone = bench.jobs.listen(&id, None).unwrap();
    drop(gone);
    let mut seen = Vec::new();
    let ended = loop {
        wait.recv_timeout(Duration::from_secs(20)).unwrap();
        let heard = listener.take();
        seen.extend(heard.output.into_iter().flat_map(|(_, bytes)| bytes));
        if let Some(ended) = heard.ended {
            break ended;
        }
    };
    assert!(String::from_utf8(seen).unwrap().ends_with("bye\n"));
    assert_eq!(ended, JobState::Exited { code: 0 });
    assert_eq!(
        bench.jobs.listen(&id, None).unwrap_err().code(),
        "UNKNOWN_JOB",
        "it has ended"
    );
}

#[test]
fn an_editor_that_goes_away_ends_no_job() {
    let bench = Bench::new();
    let id = bench.started(bench.shell("echo ready; sleep 0.2; echo done"));
    let listener = bench.jobs.listen(&id, None).unwrap();
    drop(listener);
    until("it has ended", || {
        bench.jobs.status(&id).unwrap().state != JobState::Running
    });
    assert_eq!(
        text(&bench.jobs.output(&id).unwrap().stdout),
        "ready\ndone\n"
    );
}
