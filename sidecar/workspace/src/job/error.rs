//! Why a command could not be run, or a job not be found.

use std::io;
use std::sync::Arc;

use crate::boundary::PathError;
use crate::store::StoreError;

/// Why a command could not be run, or a job not be found.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// A command that no system could run.
    #[error("{reason}")]
    BadCommand {
        /// What is wrong, with the argument.
        reason: String,
    },
    /// No program of that name.
    #[error("there is no program `{program}` {place}")]
    NoProgram {
        /// As it was asked for.
        program: String,
        /// Where it was looked for, in words.
        place: String,
    },
    /// There is a file, but it cannot be run.
    #[error("{path} is {what}, not a program")]
    NotAProgram {
        /// Its path.
        path: String,
        /// `a folder`, `a file that is not executable`, …
        what: &'static str,
    },
    /// A bare name that `PATH` leads into the workspace.
    #[error("`{program}` would be {path}, a program of the workspace itself")]
    OfWorkspace {
        /// As it was asked for.
        program: String,
        /// Relative to the root.
        path: String,
    },
    /// The program is not the one that was looked at.
    #[error("{path} has changed since it was looked at")]
    ProgramChanged {
        /// Its path.
        path: String,
    },
    /// The folder to run in was refused.
    #[error("the folder to run in: {0}")]
    Folder(#[from] PathError),
    /// The folder to run in is not there.
    #[error("the folder to run in: {path} does not exist")]
    NoFolder {
        /// Its path.
        path: String,
    },
    /// More than is taken.
    #[error("{what} has {bytes} bytes; at most {limit} are taken")]
    TooLarge {
        /// `stdin`, `an argument`, …
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// As many jobs run as may.
    #[error("{running} jobs are running, which is the most at one time")]
    TooMany {
        /// How many.
        running: usize,
    },
    /// No job of that id.
    #[error("there is no job {id}")]
    Unknown {
        /// The id.
        id: String,
    },
    /// The system refused to start it.
    #[error("{program} could not be started: {source}")]
    Start {
        /// The program's path.
        program: String,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl JobError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadCommand { .. } | Self::NotAProgram { .. } | Self::OfWorkspace { .. } => {
                "INVALID_ARGUMENTS"
            }
            Self::NoProgram { .. } | Self::NoFolder { .. } => "NOT_FOUND",
            Self::ProgramChanged { .. } => "STALE_VERSION",
            Self::Folder(error) => error.code(),
            Self::TooLarge { .. } => "TOO_LARGE",
            Self::TooMany { .. } => "TOO_MANY_JOBS",
            Self::Unknown { .. } => "UNKNOWN_JOB",
            Self::Start { .. } => "IO",
            Self::Store(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::BadCommand { .. } => {
                "give the program and each argument as text of its own; there is no shell".to_owned()
            }
            Self::NoProgram { .. } => {
                "check the name, install it, or name a program of the workspace by its path, like ./tool"
                    .to_owned()
            }
            Self::NotAProgram { .. } => {
                "name an executable file; a script without the bit is run by its interpreter, like `sh script`"
                    .to_owned()
            }
            Self::OfWorkspace { path, .. } => {
                format!("name it by its path, `./{path}` from the root, so that it is seen what runs")
            }
            Self::ProgramChanged { .. } => {
                "ask for the command again; what was approved was another program".to_owned()
            }
            Self::Folder(error) => error.hint().to_owned(),
            Self::NoFolder { .. } => "list the folder above it".to_owned(),
            Self::TooLarge { .. } => "put it into a file of the workspace and name the file".to_owned(),
            Self::TooMany { .. } => "list the jobs and cancel one that is not needed".to_owned(),
            Self::Unknown { .. } => "list the jobs to see their ids".to_owned(),
            Self::Start { .. } => {
                "check the program and its interpreter (the first line of a script)".to_owned()
            }
            Self::Store(error) => error.hint().to_owned(),
        }
    }
}
