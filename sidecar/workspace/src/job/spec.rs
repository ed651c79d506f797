//! What is to be run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::error::JobError;
use super::limits::{MAX_ARGUMENT_BYTES, MAX_COMMAND_BYTES, MAX_STDIN_BYTES};
use super::program::Program;
use super::record::JobOrigin;
use crate::boundary::WorkspacePath;
use crate::env::{EnvSnapshot, Masker};

/// A command that is to be run. There is no shell: the arguments reach the program as they are.
#[derive(Debug, Clone)]
pub struct JobSpec {
    /// The program, resolved (see [`Programs`](super::Programs)).
    pub program: Program,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// The folder to run in; None is the root.
    pub folder: Option<WorkspacePath>,
    /// All of its env.
    pub env: Arc<EnvSnapshot>,
    /// A digest of the env that tells nothing of it, for the record.
    pub env_digest: String,
    /// What it reads; without, its input is empty.
    pub stdin: Option<Vec<u8>>,
    /// It gets a pseudo-terminal: output and error output are one, and it may behave as it does for a person.
    pub terminal: bool,
    /// How long it may run; None is without a clock.
    pub timeout: Option<Duration>,
    /// It goes on while others work, so what changes meanwhile is not certainly its work.
    pub background: bool,
    /// What it changes in the workspace goes into its turn's checkpoint.
    pub undoable: bool,
    /// It may use the network (for the sandbox).
    pub network: bool,
    /// Takes secrets out of all that is kept or shown.
    pub masker: Masker,
    /// For whom it runs, and who let it.
    pub origin: JobOrigin,
}

/// Set where a job has a terminal, unless its env says otherwise: nobody is there to page or to answer.
const OF_TERMINALS: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
];

/// Set for every job, unless its env says otherwise.
const OF_ALL: &[(&str, &str)] = &[("TERM", "dumb"), ("GIT_TERMINAL_PROMPT", "0")];

impl JobSpec {
    /// Refuses what no system would take.
    pub(super) fn check(&self) -> Result<(), JobError> {
        if let Some(argument) = self.arguments.iter().find(|one| one.contains('\0')) {
            return Err(JobError::BadCommand {
                reason: format!(
                    "the argument {argument:?} holds NUL, which no program can be given"
                ),
            });
        }
        let limits = [
            (
                "an argument",
                self.arguments.iter().map(String::len).max().unwrap_or(0),
                MAX_ARGUMENT_BYTES,
            ),
            (
                "the command with its env",
                self.arguments
                    .iter()
                    .map(|one| one.len() + 9)
                    .sum::<usize>()
                    + self
                        .env
                        .iter()
                        .map(|(name, value, _)| name.len() + value.len() + 10)
                        .sum::<usize>(),
                MAX_COMMAND_BYTES,
            ),
            (
                "stdin",
                self.stdin.as_ref().map_or(0, Vec::len),
                MAX_STDIN_BYTES,
            ),
        ];
        match limits.into_iter().find(|(_, bytes, limit)| bytes > limit) {
            None => Ok(()),
            Some((what, bytes, limit)) => Err(JobError::TooLarge { what, bytes, limit }),
        }
    }

    /// The whole env of its process.
    pub(super) fn process_env(&self, own: &[(&str, &str)]) -> BTreeMap<String, String> {
        let defaults = if self.terminal { OF_TERMINALS } else { &[] };
        let mut env: BTreeMap<String, String> = BTreeMap::new();
        let of_env = self.env.iter().map(|(name, value, _)| (name, value));
        let layers = OF_ALL
            .iter()
            .chain(defaults)
            .copied()
            .chain(of_env)
            .chain(own.iter().copied());
        for (name, value) in layers {
            env.insert(name.to_owned(), value.to_owned());
        }
        env
    }
}
