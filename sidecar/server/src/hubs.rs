//! The hubs of this process, one for each workspace.
//!
//! Owns: starting a hub for a project folder, starting it again after a panic, and knowing whether
//! anything here is still in use.
//! Must not know: what a hub does.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use futures_util::future::BoxFuture;
use redline_agent::{ModelFacts, StepModel};
use redline_protocol::v1;
use redline_providers::Provider;
use redline_workspace::{Faults, PathRules, PrivateStore, job_of_process, uri_to_path};

use crate::config::Config;
use crate::env::Env;
use crate::failure::Failure;
use crate::hub::event::{ClientId, Event, HubHandle};
use crate::hub::{Hub, HubOptions, pages};

const RULES: PathRules = if cfg!(windows) {
    PathRules::Windows
} else {
    PathRules::Posix
};

/// A model that can be asked.
#[derive(Clone)]
pub struct Model {
    /// Its adapter.
    pub provider: Arc<dyn Provider>,
    /// The vendor's name of it.
    pub name: String,
    /// What is known of it now.
    pub facts: Arc<dyn Fn() -> ModelFacts + Send + Sync>,
}

impl Model {
    /// A model of which nothing is known.
    pub fn new(provider: Arc<dyn Provider>, name: impl Into<String>) -> Self {
        Self {
            provider,
            name: name.into(),
            facts: Arc::new(ModelFacts::default),
        }
    }

    /// `PROVIDER/MODEL`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider.name(), self.name)
    }

    /// The same, as a turn's step takes it.
    pub(crate) fn step(&self) -> StepModel {
        StepModel {
            provider: Arc::clone(&self.provider),
            name: self.name.clone(),
            facts: Arc::clone(&self.facts),
        }
    }
}

/// Where a client comes from: what its connection says of it before it speaks.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Its environment: its sessions read keys from it, and their commands run in what of it programs need.
    pub env: Env,
    /// The job of ours that it descends from. Such a client may propose and decides nothing.
    pub job: Option<String>,
}

impl Origin {
    /// A client in this very process.
    pub fn of_process() -> Self {
        Self {
            env: Env::of_process(),
            job: job_of_process(std::process::id()),
        }
    }
}

/// Where hubs get their models from.
pub trait Models: Send + Sync {
    /// Opens the model named `wanted` (`PROVIDER/MODEL`), else that of `config`, with its key from `env`.
    ///
    /// # Errors
    ///
    /// A failure that names the setting which leads to no model.
    fn open(&self, config: &Config, wanted: Option<&str>, env: &Env) -> Result<Model, Failure>;

    /// What can be named, the configured one first: endpoints and local servers are asked.
    fn list(&self, config: Arc<Config>, env: &Env) -> BoxFuture<'static, v1::ListModelsResult>;

    /// Finds out what is not known of a model, where its endpoint may say it; none when there is nothing to ask.
    fn learn(&self, model: &Model) -> Option<BoxFuture<'static, ()>> {
        let _ = model;
        None
    }

    /// Keys that are known, by the names of their variables: they are masked wherever text is kept or shown.
    fn secrets(&self, config: &Config, env: &Env) -> BTreeMap<String, String>;
}

/// What every hub of this process is given.
#[derive(Clone)]
pub struct HubsOptions {
    /// The private store of this user.
    pub private: Arc<PrivateStore>,
    /// The models.
    pub models: Arc<dyn Models>,
    /// These hubs live in their client's own process, not in the user's sidecar.
    pub in_process: bool,
    /// What a person should know: a setting that nobody knows, a crash.
    pub notices: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// What the user has configured, as it is now.
    pub config: Arc<dyn Fn() -> Arc<Config> + Send + Sync>,
    /// Makes the disk fail, in tests.
    pub faults: Option<Arc<dyn Faults>>,
}

/// The hubs of this process.
pub struct Hubs {
    options: HubsOptions,
    running: Mutex<HashMap<PathBuf, Running>>,
    next_client: AtomicU64,
    clients: AtomicUsize,
    /// Turns that are under way; they keep the process alive without a client.
    turns: Arc<AtomicUsize>,
}

struct Running {
    handle: HubHandle,
    thread: JoinHandle<()>,
}

impl Hubs {
    /// No hub yet; each starts when the first client needs it.
    pub fn new(options: HubsOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            running: Mutex::default(),
            next_client: AtomicU64::new(1),
            clients: AtomicUsize::new(0),
            turns: Arc::default(),
        })
    }

    /// Whether no client is connected and no turn is under way.
    pub fn is_idle(&self) -> bool {
        self.clients.load(Ordering::SeqCst) == 0 && self.turns.load(Ordering::SeqCst) == 0
    }

    /// Ends every hub after it has written what it holds.
    pub fn stop(&self) {
        let running: Vec<Running> = self.running().drain().map(|(_, hub)| hub).collect();
        for hub in &running {
            hub.handle.send(Event::Stop);
        }
        for hub in running {
            // A panic was reported where it happened.
            let _ = hub.thread.join();
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<PathBuf, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_client(&self) -> ClientId {
        self.clients.fetch_add(1, Ordering::SeqCst);
        ClientId(self.next_client.fetch_add(1, Ordering::SeqCst))
    }

    pub(crate) fn released(&self) {
        self.clients.fetch_sub(1, Ordering::SeqCst);
    }

    /// The path that a `file:` URI names.
    pub(crate) fn path_of(&self, uri: &str) -> Result<PathBuf, Failure> {
        uri_to_path(uri, RULES).map(PathBuf::from).map_err(|error| {
            Failure::new(
                "UNSUPPORTED",
                format!("{uri}: {error}"),
                "Redline reviews local files; remote ones through the editor's own remote",
            )
        })
    }

    /// The workspace that a page of ours belongs to.
    pub(crate) fn root_of_page(&self, file: &Path) -> Option<PathBuf> {
        pages::root_of_page(&self.options.private, file)
    }

    /// The project that a file lies in: the nearest folder above it that says so, else its folder.
    pub(crate) fn project_of(&self, file: &Path) -> PathBuf {
        let folder = file.parent().unwrap_or(file);
        let markers = [".git", ".agentic", "redline.toml"];
        folder
            .ancestors()
            .find(|folder| markers.iter().any(|marker| exists(&folder.join(marker))))
            .unwrap_or(folder)
            .to_owned()
    }

    /// The hub of the workspace at `root`, started when there is none or the last one panicked.
    pub(crate) fn hub(&self, root: &Path) -> Result<HubHandle, Failure> {
        let root = canonical(root)?;
        let mut running = self.running();
        if let Some(hub) = running.get(&root)
            && hub.handle.is_alive()
        {
            return Ok(hub.handle.clone());
        }
        let (inbox, events) = mpsc::channel();
        let handle = HubHandle::new(inbox);
        let options = HubOptions {
            root: root.clone(),
            process: self.options.clone(),
            handle: handle.clone(),
            turns: Arc::clone(&self.turns),
            runtime: tokio::runtime::Handle::try_current()
                .map_err(|error| Failure::internal(error.to_string()))?,
        };
        let thread = std::thread::Builder::new()
            .name("hub".to_owned())
            .spawn(move || Hub::run(options, events))
            .map_err(|error| Failure::internal(error.to_string()))?;
        running.insert(
            root,
            Running {
                handle: handle.clone(),
                thread,
            },
        );
        Ok(handle)
    }
}

/// Finding a project looks at names only; what is read of it goes through its workspace.
#[expect(clippy::disallowed_methods, reason = "outside any workspace yet")]
fn exists(path: &Path) -> bool {
    path.exists()
}

#[expect(clippy::disallowed_methods, reason = "outside any workspace yet")]
fn canonical(root: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(root).map_err(|error| {
        Failure::new(
            "NOT_FOUND",
            format!("{}: {error}", root.display()),
            "open an existing folder",
        )
    })
}
