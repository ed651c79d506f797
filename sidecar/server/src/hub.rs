//! The hub of one workspace: the one owner of its documents, anchors and transactions.
//!
//! Owns: all that changes, on one thread, waiting on one closed list of events ([`event`]).
//! Must not know: sockets, terminals, how bytes reach the disk.
//!
//! **Invariant:** the hub never waits: not on a disk, a provider, a tool or a client's reply. What
//! takes time is a job ([`work`]) or a turn ([`turns`]) that reports back as an event.
//!
//! - [`documents`]: the open copies, with their anchors; [`copies`]: in step with the transactions
//! - [`propose`], [`decide`], [`change`], [`commit`], [`restore`]: what may happen to a transaction
//! - [`noticed`], [`offers`]: decisions that an editor made by its own change
//! - [`opening`], [`trust`]: what the hub finds here, and what of it the user trusts
//! - [`store`]: to the disk; [`refresh`]: closed files as they are there now; [`announce`]: what is
//!   unsaved here
//! - [`present`], [`answers`], [`show`], [`plain`], [`pages`]: what clients are shown
//! - [`sessions`], [`compose`], [`joining`], [`chosen`]: conversations; [`turns`], [`prompts`], [`comments`], [`steps`], [`updates`]:
//!   what runs in them
//! - [`view`], [`ground`], [`auto_commit`], [`env`](mod@env): what a turn's tools read, and what they run with
//! - [`approvals`], [`plans`], [`jobs`]: what waits for a person, and programs that run; [`saves`], [`requests`], [`present_agent`]

pub(crate) mod announce;
pub(crate) mod answers;
pub(crate) mod approvals;
pub(crate) mod auto_commit;
pub(crate) mod change;
pub(crate) mod chosen;
pub(crate) mod comments;
pub(crate) mod commit;
pub(crate) mod compose;
pub(crate) mod copies;
pub(crate) mod decide;
pub(crate) mod documents;
pub(crate) mod env;
pub(crate) mod event;
pub(crate) mod ground;
pub(crate) mod jobs;
pub(crate) mod joining;
pub(crate) mod noticed;
pub(crate) mod offers;
pub(crate) mod opening;
pub(crate) mod pages;
pub(crate) mod plain;
pub(crate) mod plans;
pub(crate) mod present;
pub(crate) mod present_agent;
pub(crate) mod prompts;
pub(crate) mod propose;
pub(crate) mod refresh;
pub(crate) mod requests;
pub(crate) mod restore;
pub(crate) mod saves;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod steps;
pub(crate) mod store;
pub(crate) mod trust;
pub(crate) mod turns;
pub(crate) mod updates;
pub(crate) mod view;
mod waited;
pub(crate) mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use redline_protocol::v1;
use redline_tools::gate::Mode;
use redline_workspace::{Announcement, Transaction, Workspace};
use tower_lsp::ls_types::MessageType;

use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::HubsOptions;
use crate::lsp::outbox::{Message, Outbox};
use crate::lsp::profile::ClientProfile;
use crate::project::{Current, ProjectFiles};
use documents::Documents;
use event::{ClientId, Event, HubHandle, Request};
use requests::AgentRequest;
use work::{Done, Worker};

/// What a hub is given.
pub(crate) struct HubOptions {
    pub(crate) root: PathBuf,
    pub(crate) process: HubsOptions,
    pub(crate) handle: HubHandle,
    /// Turns under way in this process.
    pub(crate) turns: Arc<AtomicUsize>,
    pub(crate) runtime: tokio::runtime::Handle,
}

/// Settled transactions that are remembered, for lists and for late questions.
const SETTLED_KEPT: usize = 64;

/// One attached client.
struct Client {
    profile: ClientProfile,
    outbox: Outbox,
    /// Of its process: sessions that it begins run in it.
    env: Arc<Env>,
    /// Transactions that came over this connection: whoever proposes does not decide.
    proposed: BTreeSet<String>,
}

/// The state of one workspace.
pub(crate) struct Hub {
    root: PathBuf,
    process: HubsOptions,
    handle: HubHandle,
    runtime: tokio::runtime::Handle,
    workspace: Workspace,
    /// Names this hub among those of other processes.
    hub_id: String,
    worker: Worker,
    clients: BTreeMap<ClientId, Client>,
    documents: Documents,
    /// Unsettled transactions, and those settled since this hub started, by id (so by age).
    transactions: BTreeMap<String, Transaction>,
    recovery: Vec<v1::Recovery>,
    /// What was noticed in this workspace.
    notices: Vec<String>,
    commits: commit::Commits,
    sessions: sessions::Sessions,
    /// Turns under way in this process.
    active_turns: Arc<AtomicUsize>,
    approvals: approvals::Approvals,
    /// Plans that wait, and those that let something through.
    plans: plans::Plans,
    /// Jobs that this hub listens to, and all of them.
    jobs: jobs::Jobs,
    kept_jobs: redline_workspace::Jobs,
    saves: Arc<saves::Saves>,
    /// The mode that the user chose for this workspace.
    chosen_mode: Option<Mode>,
    project_files: ProjectFiles,
    /// The project's own files, as they were read last.
    project: Current,
    /// What was set in the env for all sessions.
    env_patch: BTreeMap<String, Option<String>>,
    digest_key: [u8; 32],
    refresh: refresh::Refresh,
    offers: offers::Offers,
    announced: announce::Announced,
    stale: show::Stale,
    pages: pages::live::LivePages,
    comments: comments::Comments,
}

impl Hub {
    /// Runs a hub until it is stopped; a panic closes its clients' connections, and their bridges
    /// come back to a new hub with what is stored.
    pub(crate) fn run(options: HubOptions, events: mpsc::Receiver<Event>) {
        let root = options.root.clone();
        let handle = options.handle.clone();
        let mut hub = match Hub::open(options) {
            Ok(hub) => hub,
            Err(failure) => {
                tracing::error!(code = failure.code, root = %root.display(), "a workspace did not open");
                refuse_all(&failure, &events);
                handle.retire();
                return;
            }
        };
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| hub.serve(&events)));
        handle.retire();
        let mut left = Vec::new();
        if outcome.is_err() {
            tracing::error!(root = %root.display(), "a hub panicked; it will be rebuilt");
            left.extend(hub.clients.values().map(|client| client.outbox.clone()));
        }
        // What it had decided reaches the disk before anybody comes to the next one.
        drop(hub);
        for outbox in left {
            outbox.close();
        }
    }

    fn open(options: HubOptions) -> Result<Self, Failure> {
        let saves = saves::Saves::shared();
        let opened = opening::open_workspace(&options, saves.clone())?;
        let worker = Worker::start(options.handle.clone(), opened.workspace.clone())?;
        let hub_id = crate::clock::new_id("hub_");
        let announcement = Announcement::new(opened.workspace.store().clone(), hub_id.clone());
        let hub = Self {
            root: options.root,
            sessions: sessions::Sessions::default(),
            active_turns: options.turns,
            approvals: approvals::Approvals::new(opened.approvals),
            plans: plans::Plans::new(opened.plans),
            jobs: jobs::Jobs::default(),
            kept_jobs: opened.jobs,
            saves,
            chosen_mode: opened.mode,
            project_files: opened.project_files,
            project: opened.project,
            env_patch: BTreeMap::new(),
            digest_key: opened.digest_key,
            process: options.process,
            handle: options.handle,
            runtime: options.runtime,
            workspace: opened.workspace,
            hub_id,
            announced: announce::Announced::new(announcement),
            worker,
            clients: BTreeMap::new(),
            documents: Documents::default(),
            transactions: opened
                .kept
                .transactions
                .into_iter()
                .map(|transaction| (transaction.id().to_owned(), transaction))
                .collect(),
            recovery: opened.kept.recovery,
            notices: opened.kept.notices,
            commits: commit::Commits::default(),
            refresh: refresh::Refresh::default(),
            offers: offers::Offers::default(),
            stale: show::Stale::default(),
            pages: pages::live::LivePages::default(),
            comments: comments::Comments::default(),
        };
        hub.protect();
        Ok(hub)
    }

    fn serve(&mut self, events: &mpsc::Receiver<Event>) {
        loop {
            let due = [
                self.stale.due(),
                self.commits.due(),
                self.refresh.due(),
                self.approvals.due(),
                self.jobs.due(),
                self.comments.due(),
            ];
            let event = match due.into_iter().flatten().min() {
                None => events.recv().ok(),
                Some(due) => {
                    let patience = due.saturating_duration_since(Instant::now());
                    match events.recv_timeout(patience) {
                        Ok(event) => Some(event),
                        Err(mpsc::RecvTimeoutError::Timeout) => {
                            self.tick();
                            continue;
                        }
                        Err(mpsc::RecvTimeoutError::Disconnected) => None,
                    }
                }
            };
            // A handle to this hub is held by the hub itself, so the queue never disconnects.
            let Some(event) = event else { return };
            if matches!(event, Event::Stop) {
                return;
            }
            self.handle(event);
            // What has already arrived is taken in before anything is shown.
            while let Ok(event) = events.try_recv() {
                if matches!(event, Event::Stop) {
                    return;
                }
                self.handle(event);
            }
            self.tick();
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.commits_tick(now);
        self.refresh_tick(now);
        self.approvals_tick(now);
        self.jobs_tick(now);
        self.comments_tick(now);
        self.show(now);
        self.pages_tick();
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Attach {
                client,
                profile,
                outbox,
                env,
            } => self.attach(client, *profile, outbox, env),
            Event::Detach { client } => self.detach(client),
            Event::Open {
                client,
                uri,
                version,
                text,
            } => self.did_open(client, uri, version, &text),
            Event::Change {
                client,
                uri,
                version,
                changes,
            } => self.did_change(client, &uri, version, &changes),
            Event::Save { client, uri } => self.did_save(client, &uri),
            Event::Close { client, uri } => self.did_close(client, &uri),
            Event::Ask { client, request } => self.ask(client, request),
            Event::Delivered {
                delivery,
                client,
                applied,
            } => self.delivered(delivery, client, applied),
            Event::Work(done) => self.done(done),
            Event::Turn(note) => self.turn_note(note),
            Event::Stop => {}
            #[cfg(test)]
            Event::Panic => panic!("a test asked for it"),
        }
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Proposed(proposed) => self.proposed(*proposed),
            Done::Stored(stored) => self.stored(*stored),
            Done::Refreshed(refreshed) => self.refreshed(*refreshed),
            Done::Commit(stage) => self.commit_stage(*stage),
            Done::Restored(restored) => self.restored(*restored),
            Done::Others(transactions) => {
                for transaction in transactions {
                    self.adopt(transaction);
                }
            }
            Done::Approval(decided) => self.approval_decided(*decided),
            Done::Approvals(changed) => self.approvals_seen(changed),
            Done::Plan(decided) => self.plan_decided(*decided),
            Done::Review(reading) => self.reviewed(reading),
            Done::Directed(directed) => self.directed(*directed),
            Done::Project(looked) => self.looked_at_project(*looked),
            Done::Trust(decided) => self.trust_decided(*decided),
            Done::Failed { what } => self.commit_job_failed(what),
        }
    }

    fn ask(&mut self, client: ClientId, request: Request) {
        match request {
            Request::Status(_) | Request::List(..) | Request::Get(..) => {
                self.with_disk(client, request);
            }
            Request::Decide(..) | Request::Amend(..) | Request::Split(..) => {
                self.with_disk(client, request);
            }
            Request::Show(..) | Request::ProposeAgain(..) | Request::KeepMine(..) => {
                self.with_disk(client, request);
            }
            other => self.answer(client, other),
        }
    }

    /// Answers a request; the texts of closed files that it needs are as fresh as they will be.
    fn answer(&mut self, client: ClientId, request: Request) {
        if matches!(request, Request::Status(..) | Request::List(..)) {
            self.lead_unsettled(client);
        }
        match request {
            Request::Status(reply) => respond(reply, Ok(self.status())),
            Request::List(params, reply) => self.list(&params, reply),
            Request::Get(id, reply) => {
                self.lead(&id, Some(client));
                self.get(&id, reply);
            }
            Request::Propose(params, reply) => self.propose(client, params, reply),
            Request::Decide(verb, params, reply) => self.decide(client, verb, params, reply),
            Request::Amend(params, reply) => self.amend(client, params, reply),
            Request::Split(params, reply) => self.split(client, params, reply),
            Request::ProposeAgain(params, reply) => self.propose_again(client, params, reply),
            Request::KeepMine(params, reply) => self.keep_mine(client, params, reply),
            Request::Checkpoints(reply) => self.checkpoints(reply),
            Request::Restore(params, reply) => self.restore(client, params, reply),
            Request::CodeActions { uri, range, reply } => {
                let actions = self.code_actions(client, &uri, range);
                respond(reply, Ok(actions));
            }
            Request::CodeLenses { uri, reply } => {
                respond(reply, Ok(self.code_lenses(client, &uri)));
            }
            Request::InlayHints { uri, range, reply } => {
                respond(reply, Ok(self.inlay_hints(client, &uri, range)));
            }
            Request::Diagnostics {
                uri,
                previous,
                reply,
            } => {
                let report = self.pull_diagnostics(client, &uri, previous.as_deref());
                respond(reply, Ok(report));
            }
            Request::Resolve {
                action,
                data,
                reply,
            } => {
                let resolved = self.resolve(client, *action, &data);
                respond(reply, resolved);
            }
            Request::Show(page, reply) => self.show_page(client, page, reply),
            Request::AskComment(place, reply) => self.ask_comment(client, &place, reply),
            Request::Agent(request) => self.agent_request(client, request),
            Request::DocumentText(uri, reply) => respond(reply, self.document_text(client, &uri)),
        }
    }

    /// Answers what concerns the agent's side.
    fn agent_request(&mut self, client: ClientId, request: AgentRequest) {
        match request {
            AgentRequest::NewSession(params, reply) => self.new_session(client, params, reply),
            AgentRequest::LoadSession(params, reply) => self.load_session(client, params, reply),
            AgentRequest::ListSessions(params, reply) => self.list_sessions(params, reply),
            AgentRequest::ForkSession(params, reply) => self.fork_session(client, params, reply),
            AgentRequest::ArchiveSession(params, reply) => self.archive_session(params, reply),
            AgentRequest::Prompt(params, reply) => self.prompt(client, params, reply),
            AgentRequest::Cancel(params, reply) => self.cancel(client, &params, reply),
            AgentRequest::SetMode(params, reply) => self.set_mode(client, &params, reply),
            AgentRequest::SetModel(params, reply) => self.set_model(client, params, reply),
            AgentRequest::ExportTurn(params, reply) => self.export_turn(params, reply),
            AgentRequest::ListApprovals(params, reply) => self.list_approvals(params, reply),
            AgentRequest::DecideApproval(params, reply) => {
                self.decide_approval(client, params, reply);
            }
            AgentRequest::ListPlans(params, reply) => self.list_plans(params, reply),
            AgentRequest::DecidePlan(params, reply) => self.decide_plan(client, params, reply),
            AgentRequest::ListJobs(params, reply) => self.list_jobs(params, reply),
            AgentRequest::JobOutput(params, reply) => self.job_output(params, reply),
            AgentRequest::CancelJob(params, reply) => self.cancel_job(client, params, reply),
            AgentRequest::ListModels(_, reply) => self.list_models(client, reply),
            AgentRequest::ListEnv(_, reply) => self.list_env(client, reply),
            AgentRequest::PatchEnv(params, reply) => self.patch_env(client, params, reply),
            AgentRequest::ListTrust(_, reply) => self.list_trust(reply),
            AgentRequest::DecideTrust(params, reply) => self.decide_trust(client, params, reply),
        }
    }

    fn attach(&mut self, client: ClientId, profile: ClientProfile, outbox: Outbox, env: Arc<Env>) {
        // An editor that knows nothing of Redline asks for no status.
        if profile.diagnostics && !profile.review {
            let recovered = self.recovery.iter().map(|each| each.message.clone());
            for notice in self.all_notices().into_iter().chain(recovered) {
                outbox.push(Message::Show {
                    level: MessageType::WARNING,
                    text: format!("Redline: {notice}"),
                });
            }
        }
        self.clients.insert(
            client,
            Client {
                profile,
                outbox,
                env,
                proposed: BTreeSet::new(),
            },
        );
        self.sessions.adopt(client);
        self.protect();
        self.look_at_project();
    }

    fn detach(&mut self, client: ClientId) {
        for path in self.documents.paths_of(client) {
            self.close_copy(&path, client);
        }
        self.clients.remove(&client);
        self.sessions.leave(client);
        self.commit_client_gone(client);
        self.offers.forget_client(client);
        self.stale.forget_client(client);
        self.pages.forget_client(client);
        self.comments.forget_client(client);
    }

    /// Forgets settled transactions beyond the newest ones; those that lie over open documents stay,
    /// since the editor's own undo can reopen them.
    fn forget_old(&mut self) {
        let settled: Vec<String> = self
            .transactions
            .values()
            .filter(|transaction| transaction.is_settled() && !transaction.has_unsaved())
            .filter(|transaction| {
                !self
                    .documents
                    .paths()
                    .any(|path| transaction.file(path).is_some())
            })
            .map(|transaction| transaction.id().to_owned())
            .collect();
        let surplus = settled.len().saturating_sub(SETTLED_KEPT);
        for id in settled.into_iter().take(surplus) {
            self.transactions.remove(&id);
        }
    }

    /// The path of a document below this workspace's root.
    fn path_of(&self, uri: &str) -> Option<String> {
        let path = self.workspace.root().admit_uri(uri).ok()?;
        Some(path.as_str().to_owned())
    }

    fn new_id(&self, prefix: &str) -> String {
        crate::clock::new_id(prefix)
    }

    /// A source of hunk ids.
    fn hunk_ids(&self) -> impl FnMut() -> redline_edits::HunkId + Send + use<> {
        || redline_edits::HunkId::new(crate::clock::new_id("h_"))
    }

    /// Unix seconds.
    fn now(&self) -> u64 {
        crate::clock::now_ms() / 1000
    }

    /// The environment of a client's process.
    fn env_of(&self, client: ClientId) -> Arc<Env> {
        let client = self.clients.get(&client);
        client.map_or_else(Arc::default, |each| Arc::clone(&each.env))
    }

    /// A client's name, for receipts.
    fn name_of(&self, client: ClientId) -> String {
        self.clients
            .get(&client)
            .map_or_else(|| "unknown".to_owned(), |each| each.profile.name.clone())
    }
}

/// A file's hunks, anchored to another text.
fn derive(file: &redline_workspace::FileReview, text: &ropey::Rope) -> redline_edits::HunkSet {
    let mut set = file.hunks.clone();
    if file.text != *text {
        set.rebase(&file.text, text);
    }
    set
}

/// Answers; whoever asked may be gone.
fn respond<T>(reply: event::Reply<T>, answer: Result<T, Failure>) {
    let _ = reply.send(answer);
}

/// A workspace that cannot be opened says why to everybody who asks.
fn refuse_all(failure: &Failure, events: &mpsc::Receiver<Event>) {
    let idle = std::time::Duration::from_secs(5);
    while let Ok(event) = events.recv_timeout(idle) {
        match event {
            Event::Ask { request, .. } => request.refuse(failure),
            Event::Stop => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
