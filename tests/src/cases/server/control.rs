//! What the runner answers when the child is about to touch the disk.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};

use crate::cases::fault::{Effect, ErrorFault, Faults, Hook};
use crate::cases::step::Step;
use crate::client::lock;
use crate::processes;

/// Plays the steps of a hook.
pub(in crate::cases) type PlayHook = Arc<dyn Fn(&[Step]) + Send + Sync>;

/// The failures that are still to come, and what was seen.
pub(in crate::cases) struct Control {
    errors: Vec<ErrorFault>,
    hooks: Vec<Hook>,
    counts: HashMap<(&'static str, String), u64>,
    /// Effects seen so far, in this process.
    pub seen: usize,
    /// Kills the process instead of letting the effect after this many happen.
    pub kill_after: Option<usize>,
    /// It was killed so.
    pub killed: bool,
    /// An effect was refused with an errno.
    pub refused: usize,
    play_hook: Option<PlayHook>,
    pid: u32,
}

impl Control {
    /// With the failures of a row.
    pub(in crate::cases) fn new(faults: &Faults) -> Control {
        Control {
            errors: faults.errors.clone(),
            hooks: faults.hooks.clone(),
            counts: HashMap::new(),
            seen: 0,
            kill_after: None,
            killed: false,
            refused: 0,
            play_hook: None,
            pid: 0,
        }
    }

    /// Who plays the steps of a hook.
    pub(in crate::cases) fn set_hook_player(&mut self, play: PlayHook) {
        self.play_hook = Some(play);
    }

    /// The process that asks from now on.
    pub(super) fn attach(&mut self, pid: u32) {
        self.pid = pid;
        self.seen = 0;
        self.killed = false;
    }

    /// Decides; steps to play first come out too.
    fn decide(&mut self, effect: &'static str, path: &str) -> (Answer, Vec<Step>) {
        if self.kill_after.is_some_and(|after| self.seen >= after) {
            self.killed = true;
            self.kill_after = None;
            processes::kill(self.pid);
            return (Answer::Nothing, Vec::new());
        }
        self.seen += 1;
        let fits = |wanted: Effect, at: &Option<String>| {
            wanted.name() == effect && at.as_ref().is_none_or(|at| at == path)
        };
        let mut steps = Vec::new();
        self.hooks.retain(|hook| {
            let fires = fits(hook.before, &hook.path);
            if fires {
                steps.extend(hook.steps.clone());
            }
            !fires
        });
        let count = self.counts.entry((effect, path.to_owned())).or_default();
        *count += 1;
        let nth = *count;
        let failing = self
            .errors
            .iter()
            .position(|error| fits(error.effect, &error.path) && error.nth == nth);
        match failing {
            Some(at) => {
                self.refused += 1;
                (Answer::Errno(self.errors.remove(at).errno), steps)
            }
            None => (Answer::Go, steps),
        }
    }
}

enum Answer {
    Go,
    Errno(i32),
    Nothing,
}

/// Answers one child until it ends.
pub(super) fn answer(listener: &UnixListener, control: &Arc<Mutex<Control>>) {
    let Ok((stream, _)) = listener.accept() else {
        return;
    };
    let Ok(mut writer) = stream.try_clone() else {
        return;
    };
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else {
            return;
        };
        let Some((effect, path)) = line.split_once('\t') else {
            return;
        };
        let effect = Effect::named(effect).map_or("", Effect::name);
        let path: String = serde_json::from_str(path).unwrap_or_default();
        let (answer, steps, play) = {
            let mut control = lock(control);
            let (answer, steps) = control.decide(effect, &path);
            (answer, steps, control.play_hook.clone())
        };
        if let (false, Some(play)) = (steps.is_empty(), play) {
            play(&steps);
        }
        let said = match answer {
            Answer::Go => writeln!(writer, "go"),
            Answer::Errno(errno) => writeln!(writer, "errno {errno}"),
            // It is dead: the line ends by itself.
            Answer::Nothing => continue,
        };
        if said.is_err() {
            return;
        }
    }
}
