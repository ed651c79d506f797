//! What came with a project and may change what happens in it: its `redline.toml`, its `.env`, its `.agentic`.
//!
//! Owns: reading them through the boundary, and which of them the user trusts as they are.
//! Must not know: the hub, or what a setting means to whom.
//!
//! **Invariant:** of two readings the one that began later counts, so none that began before a decision undoes it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redline_workspace::{DotEnv, DotEnvState, Entry, StoreState, Trust, Workspace, read_dotenv};

use crate::config::{Config, PROJECT_FILE, ProjectConfig};
use crate::failure::Failure;

/// The name of the project's variables.
const ENV_FILE: &str = ".env";

/// The name of the durable store.
const STORE: &str = ".agentic";

/// Largest `redline.toml` that is read.
const MAX_SETTINGS_BYTES: usize = 256 << 10;

/// Mistakes of one file that are told of.
const MISTAKES_TOLD: usize = 5;

/// A project's own files, as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Project {
    settings: Settings,
    dot_env: DotEnv,
    store: StoreFound,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Settings {
    #[default]
    Absent,
    Read {
        config: Box<ProjectConfig>,
        revision: String,
        is_trusted: bool,
    },
    /// Nothing of it holds.
    Unusable { why: String },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum StoreFound {
    /// None, or one that the user made or trusted.
    #[default]
    Own,
    /// It came from elsewhere.
    Foreign,
    /// It cannot be a store.
    Unusable { why: String },
}

/// One file, or the store, that would widen what may happen here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asking {
    /// Its path in the project.
    pub(crate) path: &'static str,
    /// What it would do.
    pub(crate) widens: Vec<String>,
    /// Of its content.
    pub(crate) revision: String,
    /// It does.
    pub(crate) is_trusted: bool,
}

impl Project {
    /// What holds here for a user with the configuration `user`.
    pub(crate) fn under(&self, user: &Config) -> Config {
        let Settings::Read {
            config, is_trusted, ..
        } = &self.settings
        else {
            return user.clone();
        };
        let merged = config.under(user, *is_trusted);
        Config {
            permissions: merged.permissions,
            model: merged.model,
            providers: merged.providers,
            ..user.clone()
        }
    }

    /// The variables that commands get from the project; none of a file that is not trusted.
    pub(crate) fn dot_env(&self) -> &DotEnv {
        &self.dot_env
    }

    /// Whether anything of it waits for the user's trust.
    pub(crate) fn waits(&self, user: &Config) -> Vec<&'static str> {
        let files = self.asking(user);
        let mut waiting: Vec<&'static str> = files
            .iter()
            .filter(|file| !file.is_trusted)
            .map(|file| file.path)
            .collect();
        if self.store == StoreFound::Foreign {
            waiting.push(STORE);
        }
        waiting
    }

    /// The files that would widen what may happen, trusted or not.
    pub(crate) fn asking(&self, user: &Config) -> Vec<Asking> {
        let mut files = Vec::new();
        if let Settings::Read {
            config,
            revision,
            is_trusted,
        } = &self.settings
        {
            let waiting = config.under(user, false).waiting;
            let widens: Vec<String> = waiting
                .iter()
                .map(|one| format!("{} ({})", one.what, one.place))
                .collect();
            if *is_trusted || !widens.is_empty() {
                files.push(Asking {
                    path: PROJECT_FILE,
                    widens,
                    revision: revision.clone(),
                    is_trusted: *is_trusted,
                });
            }
        }
        let sets = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<&str> = names.map(String::as_str).collect();
            match names.is_empty() {
                true => "sets no variable".to_owned(),
                false => format!("sets for agents' commands: {}", names.join(", ")),
            }
        };
        let found = match &self.dot_env.state {
            DotEnvState::Read { revision } => {
                Some((revision, sets(&mut self.dot_env.variables.keys()), true))
            }
            DotEnvState::Untrusted { revision, names } if !names.is_empty() => {
                Some((revision, sets(&mut names.iter()), false))
            }
            DotEnvState::Untrusted { .. }
            | DotEnvState::Unreadable { .. }
            | DotEnvState::Absent => None,
        };
        if let Some((revision, widens, is_trusted)) = found {
            files.push(Asking {
                path: ENV_FILE,
                widens: vec![widens],
                revision: revision.clone(),
                is_trusted,
            });
        }
        files
    }

    /// What a person should know of it.
    pub(crate) fn notices(&self, user: &Config) -> Vec<String> {
        let mut notices = Vec::new();
        match &self.settings {
            Settings::Absent => {}
            Settings::Read { config, .. } => few(&mut notices, PROJECT_FILE, &config.warnings),
            Settings::Unusable { why } => {
                notices.push(format!("{why}; nothing of {PROJECT_FILE} holds until then"));
            }
        }
        match &self.dot_env.state {
            DotEnvState::Unreadable { reason } => {
                notices.push(format!("{ENV_FILE} is not read: {reason}"));
            }
            DotEnvState::Read { .. } => {
                let problems = self.dot_env.problems.iter();
                let lines = problems.map(|one| format!("{ENV_FILE}:{}: {}", one.line, one.reason));
                few(&mut notices, ENV_FILE, &lines.collect::<Vec<_>>());
            }
            DotEnvState::Untrusted { .. } | DotEnvState::Absent => {}
        }
        if let StoreFound::Unusable { why } = &self.store {
            notices.push(why.clone());
        }
        notices.extend(self.waiting_notice(user));
        notices
    }

    /// That something waits for the user's trust, and where to see what.
    pub(crate) fn waiting_notice(&self, user: &Config) -> Option<String> {
        let waiting = self.waits(user);
        let (last, others) = waiting.split_last()?;
        let (names, verb) = match others {
            [] => ((*last).to_owned(), "waits"),
            others => (format!("{} and {last}", others.join(", ")), "wait"),
        };
        Some(format!(
            "{names} of this project {verb} for your trust, and until then changes nothing that you \
             allow: `redline trust` shows what would change"
        ))
    }
}

/// The first few of many mistakes: a file that came from anybody may hold any number.
fn few(notices: &mut Vec<String>, file: &str, mistakes: &[String]) {
    notices.extend(mistakes.iter().take(MISTAKES_TOLD).cloned());
    if let Some(more @ 1..) = mistakes.len().checked_sub(MISTAKES_TOLD) {
        notices.push(format!("{file}: {more} more of that kind"));
    }
}

/// A project as it was read, and when the reading began among others.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    number: u64,
    project: Project,
}

/// The reading that counts.
#[derive(Debug, Default)]
pub(crate) struct Current {
    number: u64,
    pub(crate) project: Project,
}

impl Current {
    /// Takes in a reading; true when it says something else than the one before.
    pub(crate) fn take(&mut self, reading: Reading) -> bool {
        if reading.number < self.number {
            return false;
        }
        self.number = reading.number;
        let is_new = self.project != reading.project;
        self.project = reading.project;
        is_new
    }
}

/// Reads a project's own files, and keeps what the user decides on them. Cloning shares it.
#[derive(Clone)]
pub(crate) struct ProjectFiles {
    workspace: Workspace,
    trust: Trust,
    readings: Arc<AtomicU64>,
}

impl ProjectFiles {
    pub(crate) fn new(workspace: Workspace, trust: Trust) -> Self {
        Self {
            workspace,
            trust,
            readings: Arc::default(),
        }
    }

    /// Reads them. Blocks on the disk, and writes nothing.
    pub(crate) fn read(&self) -> Reading {
        let number = self.readings.fetch_add(1, Ordering::SeqCst) + 1;
        let root = self.workspace.root();
        let project = Project {
            settings: self.settings(),
            dot_env: read_dotenv(root, |revision| self.trust.holds(root, ENV_FILE, revision)),
            store: match self.workspace.store().state() {
                Ok(StoreState::Absent | StoreState::Sealed) => StoreFound::Own,
                Ok(StoreState::Unsealed) => StoreFound::Foreign,
                Err(error) => StoreFound::Unusable {
                    why: format!("{error}: {}", error.hint()),
                },
            },
        };
        Reading { number, project }
    }

    fn settings(&self) -> Settings {
        let root = self.workspace.root();
        let unusable = |why: String| Settings::Unusable {
            why: format!("{PROJECT_FILE} is not read: {why}"),
        };
        let entry = match root.admit(PROJECT_FILE) {
            Ok(path) => root.read(&path),
            Err(error) => return unusable(error.to_string()),
        };
        let file = match entry {
            Ok(Entry::Missing) => return Settings::Absent,
            Ok(Entry::File(file)) if file.bytes.len() <= MAX_SETTINGS_BYTES => file,
            Ok(Entry::File(_) | Entry::TooLarge { .. }) => {
                return unusable("it is larger than 256 KiB".to_owned());
            }
            Ok(Entry::Directory | Entry::Symlink { .. } | Entry::Special { .. }) => {
                return unusable("it is not a file".to_owned());
            }
            Err(error) => return unusable(error.to_string()),
        };
        let Ok(text) = std::str::from_utf8(&file.bytes) else {
            return unusable("it is not UTF-8".to_owned());
        };
        let revision = file.revision();
        match ProjectConfig::parse(text, Path::new(PROJECT_FILE)) {
            Ok(config) => Settings::Read {
                config: Box::new(config),
                is_trusted: self.trust.holds(root, PROJECT_FILE, &revision),
                revision,
            },
            Err(failure) => Settings::Unusable {
                why: failure.message,
            },
        }
    }

    /// What would widen something, the store too. Blocks, longer the more a store of somebody else's holds.
    pub(crate) fn asking(&self, project: &Project, user: &Config) -> Vec<Asking> {
        let mut files = project.asking(user);
        if project.store == StoreFound::Foreign {
            let (revision, widens) = match self.workspace.store().revision() {
                Ok(revision) => (
                    revision.unwrap_or_default(),
                    "its pending transactions, notes and memory would be used, and an interrupted commit finished",
                ),
                // It cannot be trusted, so it has no revision.
                Err(_) => (String::new(), "it cannot be looked through; move it away"),
            };
            files.push(Asking {
                path: STORE,
                widens: vec![widens.to_owned()],
                revision,
                is_trusted: false,
            });
        }
        files
    }

    /// Trusts what is named, with the revisions that the user was shown; all that waits when nothing is named.
    ///
    /// # Errors
    ///
    /// `STALE_VERSION` for another revision than the present one, and then nothing is trusted; `NOT_FOUND` for a path that does not ask.
    pub(crate) fn grant(
        &self,
        named: &[(String, Option<String>)],
        user: &Config,
        now_ms: u64,
    ) -> Result<(), Failure> {
        let asking = self.asking(&self.read().project, user);
        let chosen: Vec<&Asking> = match named {
            [] => asking.iter().filter(|file| !file.is_trusted).collect(),
            named => {
                let mut chosen = Vec::new();
                for (path, revision) in named {
                    chosen.push(find(&asking, path, revision.as_deref())?);
                }
                chosen
            }
        };
        if chosen.iter().any(|file| file.revision.is_empty()) {
            return Err(Failure::new(
                "STORE_UNSEALED",
                format!("{STORE} cannot be looked through, so it cannot be trusted"),
                "move it away: mv .agentic .agentic.unsealed",
            ));
        }
        let files: Vec<(&str, &str)> = chosen
            .iter()
            .filter(|file| file.path != STORE)
            .map(|file| (file.path, file.revision.as_str()))
            .collect();
        if !files.is_empty() {
            self.trust
                .add(self.workspace.root(), &files, now_ms)
                .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
        }
        if chosen.iter().any(|file| file.path == STORE) {
            self.workspace
                .store()
                .trust()
                .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
        }
        Ok(())
    }

    /// Takes back all trust in the project's files. A store that is in use stays.
    pub(crate) fn revoke(&self) -> Result<(), Failure> {
        self.trust
            .revoke(self.workspace.root())
            .map(drop)
            .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))
    }
}

impl Reading {
    pub(crate) fn project(&self) -> &Project {
        &self.project
    }
}

fn find<'a>(
    asking: &'a [Asking],
    path: &str,
    revision: Option<&str>,
) -> Result<&'a Asking, Failure> {
    let found = asking.iter().find(|file| file.path == path);
    let file = found.ok_or_else(|| {
        Failure::new(
            "NOT_FOUND",
            format!("{path:?} asks for nothing here"),
            "`redline trust` lists what does",
        )
    })?;
    match revision {
        Some(shown) if shown != file.revision => Err(Failure::new(
            "STALE_VERSION",
            format!("{path} is no longer what was shown"),
            "look at it again with `redline trust`, then decide",
        )),
        _ => Ok(file),
    }
}

#[cfg(test)]
mod tests;
