//! Ending a job: its whole tree, within a bounded time, whatever it does against that.

use super::*;

/// A script that goes on for ever and does not care about TERM.
const STUBBORN: &str = "trap '' TERM HUP INT; echo ready; while :; do sleep 300; done";

#[test]
fn a_grandchild_that_holds_the_pipe_keeps_nobody_waiting() {
    let bench = Bench::new();
    let mut spec = bench.shell("trap '' TERM; (trap '' TERM; sleep 300) & echo started; wait");
    spec.timeout = Some(Duration::from_millis(200));
    let begun = Instant::now();
    let view = bench.run(spec);
    assert_eq!(view.record.state, JobState::TimedOut);
    assert_eq!(text(&view.stdout), "started\n");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "not only when the sleep ends"
    );
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let bench = Bench::new();
    let view = bench.run(bench.shell("sleep 300 & sleep 300 & echo done"));
    assert_eq!(view.record.state, JobState::Exited { code: 0 });
    assert_eq!(
        (text(&view.stdout), view.record.ended_processes),
        ("done\n".into(), 2)
    );
    assert_eq!(bench.alive(), Vec::<String>::new());
    // But what only finishes its writing may do so.
    let view = bench.run(bench.shell("(sleep 0.05; echo late) & echo early"));
    assert_eq!(
        (text(&view.stdout), view.record.ended_processes),
        ("early\nlate\n".into(), 0)
    );
}

#[test]
fn cancel_reaches_who_left_the_group_and_who_became_a_daemon() {
    let bench = Bench::new();
    let script = "
        setsid sh -c 'trap \"\" TERM; sleep 300' &
        (setsid sh -c '(trap \"\" TERM HUP; cd /; exec sleep 301) >/dev/null 2>&1 </dev/null & exit 0' &)
        set -m; sleep 302 &
        sleep 0.1; echo ready; wait; sleep 300";
    let id = bench.started(bench.shell(script));
    until("all of them run", || {
        let alive = bench.alive();
        [" 300", " 301", " 302"].iter().all(|word| {
            alive
                .iter()
                .any(|one| one.contains(&format!("sleep{word}")))
        })
    });
    let record = bench.jobs.cancel(&id).unwrap();
    assert_eq!(record.state, JobState::Cancelled);
    assert_eq!(bench.alive(), Vec::<String>::new());
}

#[test]
fn a_daemon_does_not_outlive_its_job() {
    let bench = Bench::new();
    // Twice forked, in a session of its own, all its files closed.
    let python = "
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir('/')
for fd in range(3): os.close(fd)
time.sleep(300)";
    let view = bench.run(bench.spec("python3", &["-c", python]));
    assert_eq!(view.record.state, JobState::Exited { code: 0 });
    assert_eq!(
        (bench.alive(), view.record.ended_processes),
        (Vec::new(), 1)
    );
}

#[test]
fn a_fork_in_flight_is_not_missed() {
    let bench = Bench::new();
    // Children that leave the group at once, have a child of their own and end: some are always on the way.
    let python = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for count in range(400):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    if count == 5: print('ready', flush=True)
    time.sleep(0.002)
time.sleep(300)";
    for _ in 0..3 {
        let id = bench.started(bench.spec("python3", &["-c", python]));
        assert!(!bench.alive().is_empty());
        bench.jobs.cancel(&id).unwrap();
        assert_eq!(bench.alive(), Vec::<String>::new());
    }
}

#[test]
fn a_child_that_ignores_term_is_killed_after_its_grace() {
    let bench = Bench::new();
    let id = bench.started(bench.shell(STUBBORN));
    let begun = Instant::now();
    let record = bench.jobs.cancel(&id).unwrap();
    assert_eq!(record.state, JobState::Cancelled);
    assert!(
        begun.elapsed() >= bench.jobs.limits().grace,
        "it had its grace time"
    );
    assert_eq!(
        bench.jobs.cancel(&id).unwrap(),
        record,
        "once more changes nothing"
    );
}

#[test]
fn one_that_cleans_up_on_term_is_let() {
    let bench = Bench::new();
    let script =
        "trap 'sleep 0.1; echo cleaned; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let id = bench.started(bench.shell(script));
    assert_eq!(bench.jobs.cancel(&id).unwrap().state, JobState::Cancelled);
    assert_eq!(
        text(&bench.jobs.output(&id).unwrap().stdout),
        "ready\ncleaned\n"
    );
}

#[test]
fn a_stopped_turn_ends_what_it_waits_for() {
    let bench = Bench::new();
    let cancel = AtomicBool::new(false);
    let listener = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| bench.jobs.run(bench.shell(STUBBORN), &cancel));
        until("it runs", || bench.jobs.running_count() == 1);
        let id = bench.jobs.list(1).unwrap().0[0].id.clone();
        let listener = bench.jobs.listen(&id, None).unwrap();
        cancel.store(true, Ordering::Relaxed);
        let view = waiting.join().unwrap().unwrap();
        assert_eq!(view.record.state, JobState::Cancelled);
        listener
    });
    assert_eq!(listener.take().ended, Some(JobState::Cancelled));
    assert_eq!(bench.alive(), Vec::<String>::new());
}

#[test]
fn without_a_clock_it_runs_until_it_is_cancelled_or_its_session_ends() {
    let bench = Bench::new();
    let mut spec = bench.shell("echo ready; exec sleep 300");
    spec.timeout = None;
    spec.origin.session_id = Some("session_1".to_owned());
    let mine = bench.started(spec.clone());
    spec.origin.session_id = Some("session_2".to_owned());
    let other = bench.started(spec);
    assert_eq!(bench.jobs.status(&mine).unwrap().timeout_ms, None);
    bench.jobs.end_session("session_1");
    assert_eq!(bench.jobs.status(&mine).unwrap().state, JobState::Cancelled);
    assert_eq!(bench.jobs.status(&other).unwrap().state, JobState::Running);
    let pid = bench.jobs.status(&other).unwrap().process.unwrap().pid;
    assert_eq!(
        job_of_process(pid.cast_unsigned()).as_deref(),
        Some(other.as_str())
    );
    assert_eq!(job_of_process(std::process::id()), None);
}

#[test]
fn all_ends_with_the_last_handle() {
    let bench = Bench::new();
    let (jobs, _) = open(&bench.scratch, JobLimits::default());
    let record = jobs.start(bench.shell("exec sleep 300")).unwrap();
    drop(jobs);
    assert_eq!(bench.alive(), Vec::<String>::new());
    assert_eq!(
        bench.jobs.status(&record.id).unwrap().state,
        JobState::Cancelled
    );
}
