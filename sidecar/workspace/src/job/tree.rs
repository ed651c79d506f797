//! The processes of one job: its program, and all that descends from it.
//!
//! A process belongs to a job when one of these holds:
//!
//! - its process group or its session is the job's (the program leads both);
//! - its parent belongs, or belonged when it was seen before;
//! - its env has the job's mark, [`MARK`] (Linux).
//!
//! So a grandchild that changed its group is found by its parent, and a daemon that left its session and its
//! parents behind by the mark that it inherited. **Best effort:** a process that did all of it, left the
//! session, lost its parents and cleared its env, is nobody's; where there is no `/proc`, one that left the
//! session and lost its parents is.
//!
//! One signal to a group can miss a fork in flight, and a process list is old when it is read. So the tree is
//! stopped first, again and again until a look at it shows nobody new, and only then killed.

#[cfg_attr(target_os = "linux", path = "tree/proc.rs")]
#[cfg_attr(not(target_os = "linux"), path = "tree/ps.rs")]
mod list;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

pub(super) use list::start_of;

/// The env variable that marks the processes of a job; its value is the job's id.
pub const MARK: &str = "REDLINE_JOB";

/// How often the tree is looked at before new processes are no longer waited for.
const MOST_LOOKS: usize = 32;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// One process, as the system lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it started, in ticks of the system's clock: with the pid, its identity.
    pub(super) started: u64,
    /// It has ended, and only waits to be noticed.
    pub(super) dead: bool,
}

/// What came of killing a tree.
#[derive(Debug)]
pub(super) struct Killed {
    /// How many members there were besides the leader.
    pub(super) others: usize,
    /// Those that are still there: they hang in the kernel.
    pub(super) left: Vec<Process>,
}

/// The tree of one job.
#[derive(Debug)]
pub(super) struct Tree {
    job: String,
    leader: i32,
    started: u64,
    /// Members that were seen, by pid, with their start.
    known: BTreeMap<i32, u64>,
}

impl Tree {
    /// The tree of `job`, whose program is the process `leader`, in a session of its own.
    pub(super) fn new(job: &str, leader: i32) -> Self {
        let started = start_of(leader).unwrap_or(0);
        Self {
            job: job.to_owned(),
            leader,
            started,
            known: BTreeMap::from([(leader, started)]),
        }
    }

    /// What another process left of a job. Without `leader`, its process and when that started, only the mark tells.
    pub(super) fn left_behind(job: &str, leader: Option<(i32, u64)>) -> Self {
        let (leader, started) = leader.unwrap_or((0, 0));
        Self {
            job: job.to_owned(),
            leader,
            started,
            known: BTreeMap::new(),
        }
    }

    /// The living members but for the leader.
    pub(super) fn others(&mut self) -> Vec<Process> {
        let leader = self.leader;
        let mut look = || {
            let mut members = self.members();
            members.retain(|member| member.pid != leader);
            members
        };
        let others = look();
        if others.is_empty() {
            // One that forked and ended while the list was read is not in it, and nor is its child: look again.
            return look();
        }
        others
    }

    /// The living members.
    pub(super) fn members(&mut self) -> Vec<Process> {
        let mut all = list::processes();
        // Whatever the list says, we and those that we come from are of no job of ours.
        let ours = ancestors(&all);
        all.retain(|one| !ours.contains(&one.pid));
        let leader = all.iter().find(|one| one.pid == self.leader);
        // Without its leader a group keeps its number as long as it has members.
        let owns_group = self.leader > 1 && leader.is_none_or(|one| one.started == self.started);
        let mut members: BTreeMap<i32, Process> = BTreeMap::new();
        for one in &all {
            // What was there before the job cannot be of it.
            let is_old = one.started < self.started;
            let known = self.known.get(&one.pid) == Some(&one.started);
            let grouped = owns_group && (one.group == self.leader || one.session == self.leader);
            if !is_old && (known || grouped || list::has_mark(one, &self.job)) {
                members.insert(one.pid, *one);
            }
        }
        // Children of members, and theirs.
        loop {
            let before = members.len();
            for one in &all {
                if one.started >= self.started && members.contains_key(&one.parent) {
                    members.entry(one.pid).or_insert(*one);
                }
            }
            if members.len() == before {
                break;
            }
        }
        self.known
            .retain(|pid, started| members.get(pid).is_some_and(|one| one.started == *started));
        self.known
            .extend(members.values().map(|one| (one.pid, one.started)));
        members.into_values().filter(|one| !one.dead).collect()
    }

    /// Sends `signal` to every member.
    pub(super) fn signal(&mut self, signal: Signal) {
        let members = self.members();
        self.signal_group(signal);
        for member in members {
            if member.group != self.leader {
                list::signal(&member, signal);
            }
        }
    }

    /// Kills every member. Blocks until they are gone, at most for `patience`.
    pub(super) fn kill(&mut self, patience: Duration) -> Killed {
        let end = Instant::now() + patience;
        let mut stopped: BTreeMap<i32, u64> = BTreeMap::new();
        for _ in 0..MOST_LOOKS {
            let members = self.members();
            let fresh: Vec<&Process> = members
                .iter()
                .filter(|one| stopped.get(&one.pid) != Some(&one.started))
                .collect();
            if fresh.is_empty() {
                break;
            }
            self.signal_group(Signal::STOP);
            for one in fresh {
                list::signal(one, Signal::STOP);
                stopped.insert(one.pid, one.started);
            }
        }
        let left = loop {
            let members = self.members();
            if members.is_empty() {
                break members;
            }
            stopped.extend(members.iter().map(|one| (one.pid, one.started)));
            self.signal_group(Signal::KILL);
            for one in &members {
                list::signal(one, Signal::KILL);
            }
            if Instant::now() >= end {
                break self.members();
            }
            std::thread::sleep(PAUSE);
        };
        stopped.remove(&self.leader);
        Killed {
            others: stopped.len(),
            left,
        }
    }

    /// A signal to the whole group at once, which a fork in it cannot slip through.
    fn signal_group(&self, signal: Signal) {
        // The leader is not reaped before the job is over, so its number is not another's.
        if self.leader > 1
            && start_of(self.leader) == Some(self.started)
            && let Some(group) = Pid::from_raw(self.leader)
        {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

/// This process, its parent, and so on up to the first.
fn ancestors(all: &[Process]) -> Vec<i32> {
    let mut chain = vec![std::process::id().cast_signed(), 1, 0];
    let mut at = chain[0];
    while let Some(one) = all.iter().find(|one| one.pid == at)
        && !chain.contains(&one.parent)
    {
        chain.push(one.parent);
        at = one.parent;
    }
    chain
}

/// The job that the process `pid` belongs to, by the mark in its env or in those of its ancestors.
///
/// None when it belongs to no job, or when that cannot be told: without `/proc`, or for a process that
/// cleared its env and lost its parents.
pub fn job_of_process(pid: u32) -> Option<String> {
    list::job_of(i32::try_from(pid).ok()?)
}
