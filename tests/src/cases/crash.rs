//! Rows that kill the server: after each durable step in turn, and again while it recovers.
//!
//! Every run starts from a fresh workspace. After the kill a new server is started, and the workspace has to be wholly as
//! before or wholly as after, with no file of ours left beside; and the server has to say what it did.

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::fault::Faults;
use super::load::Row;
use super::play::Player;
use super::server::Control;
use super::step::{Act, Step};
use super::world::Snapshot;
use super::{Difference, Verdict};
use crate::client::lock;

/// More durable steps than any commit of a case takes.
const STEPS_MAX: usize = 400;

/// Plays the row with every kill that it asks for.
pub(super) fn play(row: &Row, faults: &Faults, expected: &Value) -> Result<Verdict> {
    let mut differences = Vec::new();
    let mut reported = 0;
    let (first, last) = match faults.crash_after {
        Some(only) => (only, only),
        None => (0, STEPS_MAX),
    };
    for after in first..=last {
        let run = Run::crashed(row, faults, after, None)?;
        differences.extend(run.differences(expected)?);
        reported += usize::from(!run.recovery.trim().is_empty());
        if !run.killed {
            break;
        }
        if after == STEPS_MAX {
            bail!("a commit of more than {STEPS_MAX} durable steps");
        }
        let recoveries = if faults.crash_in_recovery {
            run.recovery_steps
        } else {
            0
        };
        for again in 0..recoveries {
            let run = Run::crashed(row, faults, after, Some(again))?;
            differences.extend(run.differences(expected)?);
        }
        if differences.len() > 5 {
            break;
        }
    }
    // A kill before anything was prepared leaves nothing to report; most leave a commit to finish or to take back.
    if reported == 0 {
        differences.push(Difference::new(
            "recovery",
            "the status says what was done",
            "it never did",
        ));
    }
    Ok(if differences.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Failed(differences)
    })
}

struct Run<'a> {
    player: Player<'a>,
    before: Snapshot,
    name: String,
    killed: bool,
    /// Effects that the recovery had, when it was let alone.
    recovery_steps: usize,
    /// What the server said of it.
    recovery: String,
}

impl<'a> Run<'a> {
    /// Plays to the kill, and starts again; with `again`, kills the recovery too, and starts a third time.
    fn crashed(
        row: &'a Row,
        faults: &Faults,
        after: usize,
        again: Option<usize>,
    ) -> Result<Run<'a>> {
        let control = Arc::new(Mutex::new(Control::new(faults)));
        let mut player = Player::new(row, faults, Some(control.clone()))?;
        player.prepare()?;
        let proposal = row.get("proposal").clone();
        player.propose("", &proposal)?;
        for step in Step::parse_all(row.list("meanwhile")?)? {
            player.stage.by_others(&step)?;
        }
        player.barrier()?;
        let before = player.stage.world.snapshot()?;
        {
            let mut control = lock(&control);
            control.kill_after = Some(control.seen + after);
        }
        for step in Step::parse_all(row.list("action")?)? {
            let Act::Decide(decision) = &step.act else {
                bail!("only a decision can be killed, not {:?}", step.act);
            };
            // Killed in the middle, it has no answer.
            if player.decide(&step, decision).is_err() {
                break;
            }
        }
        let killed = lock(&control).killed;
        let mut killed_again = false;
        if killed {
            if let Some(again) = again {
                lock(&control).kill_after = Some(again);
                // The recovery runs when the workspace is opened, that is when a client connects.
                let outcome = player.restart();
                killed_again = lock(&control).killed;
                if !killed_again {
                    outcome?;
                }
                lock(&control).kill_after = None;
            }
            if again.is_none() || killed_again {
                lock(&control).kill_after = None;
                player.restart().context("start after the kill")?;
            }
        }
        let recovery_steps = if killed { lock(&control).seen } else { 0 };
        player.messages.clear();
        player.note_recovery()?;
        Ok(Run {
            before,
            name: match again {
                None => format!("killed after step {after}"),
                Some(again) => {
                    format!("killed after step {after}, and after step {again} of the recovery")
                }
            },
            killed,
            recovery_steps,
            recovery: player.messages.clone(),
            player,
        })
    }

    fn differences(&self, expected: &Value) -> Result<Vec<Difference>> {
        let world = &self.player.stage.world;
        let now = world.snapshot()?;
        let either = expected["one_of"].as_array().cloned().unwrap_or_default();
        let allows = |word: &str| either.is_empty() || either.iter().any(|one| one == word);
        let as_before = world.compare(
            &self.before,
            &Value::Object(Default::default()),
            &now.workspace,
        )?;
        let as_after = world.compare(&self.before, &expected["files_after"], &now.workspace)?;
        let mut all = Vec::new();
        let fits = (self.killed && allows("before") && as_before.is_empty())
            || (allows("after") && as_after.is_empty());
        if !fits {
            let nearest = if as_before.len() < as_after.len() {
                as_before
            } else {
                as_after
            };
            all.extend(nearest.into_iter().map(|difference| Difference {
                what: format!("{}: {}", self.name, difference.what),
                ..difference
            }));
        }
        Ok(all)
    }
}
