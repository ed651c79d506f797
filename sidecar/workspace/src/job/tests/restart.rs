//! What a sidecar that was killed leaves: found, ended, and said.

use super::*;
use crate::testing::child;

const CHILD: &str = "job::tests::restart::in_a_child";

#[test]
fn in_a_child() {
    let Some(scratch) = Scratch::of_parent() else {
        return;
    };
    let (jobs, _) = open(&scratch, JobLimits::default());
    let bench = Bench { scratch, jobs };
    let script =
        "trap '' HUP PIPE; setsid sleep 301 & echo some output; echo ready > ready; exec sleep 300";
    let mut spec = bench.shell(script);
    spec.timeout = None;
    bench.jobs.start(spec).unwrap();
    // Until it is killed.
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_job_whose_sidecar_was_killed_is_orphaned_and_ended() {
    let bench = Bench::new();
    let mut sidecar = child(CHILD, &bench.scratch);
    until("the job runs", || bench.scratch.on_disk("ready").exists());
    let (other, orphans) = open(&bench.scratch, JobLimits::default());
    assert_eq!(orphans, [], "its sidecar lives");
    let running = other.list(10).unwrap().0;
    assert_eq!((running.len(), running[0].state), (1, JobState::Running));
    let kept = bench
        .scratch
        .on_disk(&format!(".agentic/jobs/{}/stdout", running[0].id));
    until("its output is kept", || {
        std::fs::metadata(&kept).unwrap().len() > 0
    });
    sidecar.kill().unwrap();
    sidecar.wait().unwrap();
    assert_eq!(bench.alive().len(), 2, "nobody has ended it yet");
    let (again, orphans) = open(&bench.scratch, JobLimits::default());
    assert_eq!(bench.alive(), Vec::<String>::new());
    assert_eq!(orphans.len(), 1);
    let record = again.status(&running[0].id).unwrap();
    assert_eq!(
        (record.state, record.ended_processes),
        (JobState::Orphaned, 2)
    );
    assert_eq!(orphans[0], record);
    assert_eq!(
        text(&again.output(&record.id).unwrap().stdout),
        "some output\n"
    );
    assert_eq!(
        open(&bench.scratch, JobLimits::default()).1,
        [],
        "it is said once"
    );
}

#[test]
fn one_whose_sidecar_dies_later_is_found_when_it_is_asked_after() {
    let bench = Bench::new();
    let mut sidecar = child(CHILD, &bench.scratch);
    until("the job runs", || bench.scratch.on_disk("ready").exists());
    let id = bench.jobs.list(1).unwrap().0[0].id.clone();
    assert_eq!(bench.jobs.status(&id).unwrap().state, JobState::Running);
    sidecar.kill().unwrap();
    sidecar.wait().unwrap();
    assert_eq!(bench.jobs.status(&id).unwrap().state, JobState::Orphaned);
    assert_eq!(bench.alive(), Vec::<String>::new());
}

#[test]
fn a_job_of_another_sidecar_can_be_cancelled() {
    let bench = Bench::new();
    let mut sidecar = child(CHILD, &bench.scratch);
    until("the job runs", || bench.scratch.on_disk("ready").exists());
    let id = bench.jobs.list(1).unwrap().0[0].id.clone();
    bench.jobs.cancel(&id).unwrap();
    until("its sidecar has noticed", || {
        bench.jobs.status(&id).unwrap().state != JobState::Running
    });
    assert_eq!(
        bench.jobs.status(&id).unwrap().state,
        JobState::Signaled { signal: 15 }
    );
    assert_eq!(bench.alive(), Vec::<String>::new());
    sidecar.kill().unwrap();
    sidecar.wait().unwrap();
}

#[test]
fn a_damaged_record_is_set_aside_and_the_others_stay() {
    let bench = Bench::new();
    let first = bench.run(bench.spec("true", &[])).record.id;
    let second = bench.run(bench.spec("true", &[])).record.id;
    bench
        .scratch
        .write(&format!(".agentic/jobs/{first}/job.json"), "{");
    let (left, damaged) = bench.jobs.list(10).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, second);
    assert!(
        damaged[0].contains(&first) && damaged[0].contains(".corrupt"),
        "{damaged:?}"
    );
}
