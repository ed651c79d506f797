//! Plays one row from its fresh workspace to its last step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Difference;
use super::fault::Faults;
use super::load::Row;
use super::observe::{Event, Observed, State, When};
use super::proposal::Proposed;
use super::server::{Control, Server};
use super::step::{Act, Step};
use super::world::{Snapshot, World};
use crate::client::{Answer, Client, RpcError};
use crate::editor::{Document, Editor, Profile, uri_of};

/// The name of the client that every step comes from unless it says otherwise.
const EDITOR: &str = "editor";

/// The workspace and the editors on it: what a hook may touch while a step is under way.
pub(super) struct Stage {
    pub world: World,
    editors: RwLock<BTreeMap<String, Arc<Editor>>>,
}

impl Stage {
    /// The world of a row, with what happened in it first and nobody there yet.
    pub(super) fn of(row: &Row) -> Result<Self> {
        let stage = Stage {
            world: World::make(row)?,
            editors: RwLock::default(),
        };
        for step in Step::parse_all(row.list("setup")?)? {
            stage.by_others(&step)?;
        }
        Ok(stage)
    }

    /// An editor by name.
    pub(super) fn editor(&self, name: Option<&str>) -> Result<Arc<Editor>> {
        let name = name.unwrap_or(EDITOR);
        self.editors
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
            .with_context(|| format!("no client is called {name}"))
    }

    fn seat(&self, name: &str, editor: Editor) {
        self.editors
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned(), Arc::new(editor));
    }

    /// A URI as a path of the workspace.
    pub(super) fn path_of(&self, uri: &str) -> String {
        let root = format!("{}/", uri_of(&self.world.project.root()));
        uri.strip_prefix(&root).unwrap_or(uri).to_owned()
    }

    /// Open documents of the editor by path.
    pub(super) fn documents(&self) -> BTreeMap<String, Document> {
        let Ok(editor) = self.editor(None) else {
            return BTreeMap::new();
        };
        let documents = editor.desk(|desk| desk.documents.clone());
        documents
            .into_iter()
            .map(|(uri, document)| (self.path_of(&uri), document))
            .collect()
    }

    /// Takes a step that somebody else takes: on the disk, or in an editor.
    pub(super) fn by_others(&self, step: &Step) -> Result<()> {
        let world = &self.world;
        let root = world.project.root();
        match &step.act {
            Act::Write { files, in_place } => {
                for (path, entry) in files {
                    match entry {
                        Some(entry) => world.write(path, entry, *in_place)?,
                        None => world.delete(path)?,
                    }
                }
            }
            Act::RewriteSame {
                path,
                new_inode,
                mtime_offset_s,
            } => world.rewrite_same(path, *new_inode, *mtime_offset_s)?,
            Act::Delete(paths) => {
                for path in paths {
                    world.delete(path)?;
                }
            }
            Act::Rename { from, to, out } => {
                let target = if *out {
                    world.project.outside().join(to)
                } else {
                    root.join(to)
                };
                if let Some(parent) = target.parent() {
                    std::fs::create_dir_all(parent)?;
                }
                std::fs::rename(root.join(from), target)?;
            }
            Act::Symlink { link, target } => {
                let link = root.join(link);
                if std::fs::symlink_metadata(&link).is_ok_and(|meta| !meta.is_dir()) {
                    std::fs::remove_file(&link)?;
                }
                std::os::unix::fs::symlink(target, link)?;
            }
            Act::Git(arguments) => world.git(arguments)?,
            Act::DidChange {
                path,
                version,
                changes,
            } => {
                let editor = self.editor(step.client.as_deref())?;
                editor.change(path, *version, changes)?;
            }
            Act::Open {
                path,
                text,
                version,
                dirty,
            } => {
                let text = match text {
                    Some(text) => text.clone(),
                    None => std::fs::read_to_string(root.join(path))?,
                };
                let document = Document {
                    text,
                    version: *version,
                    dirty: *dirty,
                };
                self.editor(step.client.as_deref())?
                    .open_with(path, document)?;
            }
            Act::Close(path) => self.editor(step.client.as_deref())?.close(path)?,
            Act::Save(path) => self.editor(step.client.as_deref())?.save(path)?,
            Act::WaitMs(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            other => bail!("{other:?} is no step of somebody else"),
        }
        Ok(())
    }
}

/// One run of a row.
pub(super) struct Player<'a> {
    pub row: &'a Row,
    pub stage: Arc<Stage>,
    pub control: Option<Arc<Mutex<Control>>>,
    server: Option<Server>,
    agent: Option<Client>,
    pub proposed: Vec<Proposed>,
    pub events: Vec<Event>,
    pub flags: BTreeSet<String>,
    pub messages: String,
    pub preview_bytes: u64,
    pub(super) checkpoints: BTreeMap<String, Vec<String>>,
    cached: Vec<Value>,
    /// The path that a URI was mapped to, for rows that only map one.
    pub(super) path: Option<String>,
    checkpoint: Duration,
    resident_growth_bytes: u64,
}

/// Plays a row that does not crash.
pub(super) fn play(row: &Row, faults: &Faults) -> Result<Observed> {
    let wants_control = !faults.errors.is_empty()
        || !faults.hooks.is_empty()
        || row
            .list("action")?
            .iter()
            .any(|step| step.get("kill_during").is_some());
    let control = wants_control.then(|| Arc::new(Mutex::new(Control::new(faults))));
    let mut player = Player::new(row, faults, control)?;
    player.prepare()?;
    player.act()
}

impl<'a> Player<'a> {
    /// Makes the world, starts the server, and connects the editor and the agent.
    pub(super) fn new(
        row: &'a Row,
        faults: &Faults,
        control: Option<Arc<Mutex<Control>>>,
    ) -> Result<Player<'a>> {
        let stage = Arc::new(Stage::of(row)?);
        if let Some(control) = &control {
            let hooked = Arc::downgrade(&stage);
            crate::client::lock(control).set_hook_player(Arc::new(move |steps| {
                if let Some(stage) = hooked.upgrade() {
                    for step in steps {
                        // A hook that cannot be played shows in what the row expects.
                        let _ = stage.by_others(step);
                    }
                }
            }));
        }
        let mut player = Player {
            row,
            stage,
            control,
            server: None,
            agent: None,
            proposed: Vec::new(),
            events: Vec::new(),
            flags: BTreeSet::new(),
            messages: String::new(),
            preview_bytes: 0,
            checkpoints: BTreeMap::new(),
            cached: Vec::new(),
            path: None,
            checkpoint: Duration::ZERO,
            resident_growth_bytes: 0,
        };
        player.start_server()?;
        let editor = player.connect(&profile(row)?)?;
        player.stage.seat(EDITOR, editor);
        player.connect_agent()?;
        let editor = player.stage.editor(None)?;
        for fault in &faults.editor {
            let script = fault.script(|path| editor.uri(path));
            editor.desk(|desk| desk.scripts.push_back(script));
        }
        Ok(player)
    }

    /// Opens the documents, proposes, and lets the others do their steps.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let editor = self.stage.editor(None)?;
        for buffer in self.row.list("buffers")? {
            let path = buffer["path"].as_str().context("a buffer has a path")?;
            let text = match buffer["text"].as_str() {
                Some(text) => text.to_owned(),
                None => std::fs::read_to_string(self.stage.world.project.root().join(path))?,
            };
            editor.open_with(
                path,
                Document {
                    text,
                    version: i32::try_from(buffer["version"].as_i64().unwrap_or(1))?,
                    dirty: buffer["dirty"].as_bool().unwrap_or(false),
                },
            )?;
        }
        Ok(())
    }

    /// From the proposal to the end.
    pub(super) fn act(mut self) -> Result<Observed> {
        let action = Step::parse_all(self.row.list("action")?)?;
        let meanwhile = Step::parse_all(self.row.list("meanwhile")?)?;
        let from_the_start = action.iter().any(Step::writes);
        let mut before = self.stage.world.snapshot()?;
        let mut documents_before = self.stage.documents();
        let state_before = self.stage.world.state_bytes();
        let watch = super::world::Watch::start(&self.stage.world, &self.row.expected()["watch"])?;
        let begun = Instant::now();

        if !self.row.get("proposal").is_null() {
            let proposal = self.row.get("proposal").clone();
            self.propose("", &proposal)?;
        }
        for step in &meanwhile {
            self.take(step)?;
        }
        if !meanwhile.is_empty() {
            if !from_the_start {
                before = self.stage.world.snapshot()?;
            }
            documents_before = self.stage.documents();
        }
        let mut states = Vec::new();
        let wanted: BTreeSet<u64> = self.row.expected()["states"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|state| state["after_action"].as_u64())
            .collect();
        for (at, step) in action.iter().enumerate() {
            self.take(step)?;
            if wanted.contains(&(at as u64)) {
                states.push(State {
                    after_action: at,
                    snapshot: self.stage.world.snapshot()?,
                    documents: self.stage.documents(),
                });
            }
        }
        self.look_at_transactions()?;
        let wall = begun.elapsed();
        let mut always = self.mirrors()?;
        always.extend(watch.differences());
        self.measure();
        let git_again = action.iter().any(|step| matches!(step.act, Act::Git(_)));
        self.finish(
            before,
            documents_before,
            states,
            wall,
            state_before,
            always,
            git_again,
        )
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "it only gathers what was measured"
    )]
    fn finish(
        self,
        before: Snapshot,
        documents_before: BTreeMap<String, Document>,
        states: Vec<State>,
        wall: Duration,
        state_before: u64,
        always: Vec<Difference>,
        git_again: bool,
    ) -> Result<Observed> {
        let editor = self.stage.editor(None)?;
        let mut client_requests: BTreeMap<String, usize> = BTreeMap::new();
        editor.client.look(|arrived| {
            for (method, _) in &arrived.requests {
                *client_requests.entry(method.clone()).or_default() += 1;
            }
        });
        Ok(Observed {
            events: self.events,
            after: self.stage.world.snapshot()?,
            documents_after: self.stage.documents(),
            before,
            documents_before,
            states,
            flags: self.flags,
            messages: self.messages,
            wall,
            checkpoint: self.checkpoint,
            client_requests,
            emitted: editor.desk(|desk| desk.edits.clone()),
            path: self.path,
            state_growth_bytes: self.stage.world.state_bytes().saturating_sub(state_before),
            resident_growth_bytes: self.resident_growth_bytes,
            preview_bytes: self.preview_bytes,
            always,
            compare_git: !git_again,
            stage: self.stage,
        })
    }

    /// Takes one step of the row.
    fn take(&mut self, step: &Step) -> Result<()> {
        match &step.act {
            Act::Propose(which) => {
                let (name, proposal) = self.named(which)?;
                self.propose(&name, &proposal)
            }
            Act::Decide(decision) => self.decide(step, decision),
            Act::Restore { redo, id } => self.restore(step, *redo, id.as_deref()),
            Act::Checkpoint(name) => {
                let begun = Instant::now();
                let ids = self.checkpoint_ids()?;
                self.checkpoint = self.checkpoint.max(begun.elapsed());
                self.checkpoints.insert(name.clone(), ids);
                Ok(())
            }
            Act::RestoreCheckpoint(name) => self.restore_checkpoint(name),
            Act::Restart => self.restart(),
            Act::KillDuring(inner) => self.kill_during(inner),
            Act::Render(path) => self.render(path.as_deref()),
            Act::DumpBuffer(path) => {
                self.barrier()?;
                let wrong = self.mirror(path)?;
                let outcome = if wrong.is_none() { "synced" } else { "error" };
                self.events.push(Event::ok(When::Run, &[outcome]));
                Ok(())
            }
            Act::ListActions(place) => self.list_actions(place),
            Act::InvokeCached(which) => self.invoke_cached(which),
            Act::Approve(_) => bail!("nothing waits for an approval"),
            Act::Command(name) => bail!("commands are not covered yet: {name}"),
            _ => {
                self.stage.by_others(step)?;
                self.barrier()
            }
        }
    }

    pub(super) fn start_server(&mut self) -> Result<()> {
        self.server = Some(Server::start(&self.stage.world, self.control.as_ref())?);
        Ok(())
    }

    pub(super) fn server(&self) -> Result<&Server> {
        self.server.as_ref().context("no server runs")
    }

    fn connect(&self, profile: &Profile) -> Result<Editor> {
        let server = self.server()?;
        Editor::start(&self.stage.world.project.root(), profile, |answer| {
            server.connect(answer)
        })
    }

    fn connect_agent(&mut self) -> Result<()> {
        let profile = Profile {
            name: "agent",
            ..Profile::full()
        };
        let editor = self.connect(&profile)?;
        self.agent = Some(editor.client);
        Ok(())
    }

    /// The connection that proposes.
    pub(super) fn agent(&self) -> Result<&Client> {
        self.agent.as_ref().context("the agent is not connected")
    }

    /// The connection that a step comes over.
    pub(super) fn ask(
        &self,
        step: Option<&Step>,
        method: &str,
        params: Value,
    ) -> Result<std::result::Result<Value, RpcError>> {
        let reply = if step.is_some_and(|step| step.by_agent) {
            self.agent()?.ask(method, params)
        } else {
            let editor = self
                .stage
                .editor(step.and_then(|step| step.client.as_deref()))?;
            editor.client.ask(method, params)
        };
        if let Err(error) = &reply
            && self.server().is_ok_and(Server::has_ended)
        {
            let log = std::fs::read_to_string(self.stage.world.project.folder().join("serve.err"));
            bail!("{error:#}; the server ended: {}", log.unwrap_or_default());
        }
        reply
    }

    /// Waits until the server has seen everything that the editor sent.
    pub(super) fn barrier(&self) -> Result<()> {
        self.ask(None, "redline/status", json!({})).map(drop)
    }

    /// A new server in the place of the last; the editor opens there what it has open.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.measure();
        self.agent = None;
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.reconnect()
    }

    /// Starts a server and connects everybody again.
    pub(super) fn reconnect(&mut self) -> Result<()> {
        self.start_server()?;
        let names: Vec<String> = self
            .stage
            .editors
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .keys()
            .cloned()
            .collect();
        for name in names {
            let editor = self.stage.editor(Some(&name))?;
            let server = self.server()?;
            let again = editor.reconnected(|answer: Box<dyn Answer>| server.connect(answer))?;
            self.stage.seat(&name, again);
        }
        self.connect_agent()?;
        self.barrier()
    }

    /// Kills the server while the step inside is under way, and starts it again.
    fn kill_during(&mut self, inner: &Step) -> Result<()> {
        let control = self.control.clone().context("the row has no control")?;
        {
            let mut control = crate::client::lock(&control);
            // In the middle: some effects have happened, others have not.
            control.kill_after = Some(control.seen + 6);
        }
        let outcome = self.take(inner);
        let killed = {
            let mut control = crate::client::lock(&control);
            control.kill_after = None;
            std::mem::take(&mut control.killed)
        };
        if !killed {
            outcome?;
        }
        self.restart()?;
        self.events.push(Event::ok(When::Run, &["recovered"]));
        self.note_recovery()
    }

    /// Keeps what the server says about its recovery.
    pub(super) fn note_recovery(&mut self) -> Result<()> {
        if let Ok(status) = self.ask(None, "redline/status", json!({}))? {
            for recovery in status["recovery"].as_array().into_iter().flatten() {
                self.say(&recovery.to_string());
            }
        }
        Ok(())
    }

    /// Keeps something that was said to the user.
    pub(super) fn say(&mut self, message: &str) {
        self.messages.push_str(message);
        self.messages.push('\n');
    }

    fn measure(&mut self) {
        if let Some(server) = &self.server {
            self.resident_growth_bytes = self
                .resident_growth_bytes
                .max(server.resident_growth_bytes());
        }
    }

    /// Compares the server's text of every open document with the editor's.
    fn mirrors(&self) -> Result<Vec<Difference>> {
        if self.server.as_ref().is_none_or(Server::has_ended) {
            return Ok(vec![Difference::new("server", "it runs", "it ended")]);
        }
        let mut all = Vec::new();
        for path in self.stage.documents().keys() {
            all.extend(self.mirror(path)?);
        }
        Ok(all)
    }

    fn mirror(&self, path: &str) -> Result<Option<Difference>> {
        let editor = self.stage.editor(None)?;
        let uri = editor.uri(path);
        let reply = self.ask(None, "redline/document/text", json!({"uri": uri}))?;
        let label = format!("server's text of {path}");
        let held = match reply {
            Ok(Value::String(text)) => Some(text),
            Ok(value) => value["text"].as_str().map(str::to_owned),
            Err(error) => return Ok(Some(Difference::new(&label, "the editor's", error))),
        };
        let text = editor.text(path)?;
        Ok((held.as_deref() != Some(&text))
            .then(|| Difference::new(&label, format!("{text:?}"), format!("{held:?}"))))
    }

    fn list_actions(&mut self, place: &Value) -> Result<()> {
        self.barrier()?;
        let editor = self.stage.editor(None)?;
        let path = match place.as_str().or_else(|| place["path"].as_str()) {
            Some(path) => path.to_owned(),
            None => self
                .stage
                .documents()
                .into_keys()
                .next()
                .context("nothing is open")?,
        };
        let lines = u32::try_from(editor.text(&path)?.lines().count())?;
        let (first, last) = match place["line"].as_u64() {
            Some(line) => (u32::try_from(line)?, u32::try_from(line)?),
            None => (0, lines),
        };
        self.cached = editor.actions(&path, first, last)?;
        Ok(())
    }

    fn invoke_cached(&mut self, which: &Value) -> Result<()> {
        let editor = self.stage.editor(None)?;
        let title = which
            .as_str()
            .or_else(|| which["title"].as_str())
            .map(str::to_lowercase);
        let index = which.as_u64().or_else(|| which["index"].as_u64());
        let action = match (title, index) {
            (Some(title), _) => self.cached.iter().find(|action| {
                let shown = action["title"].as_str().unwrap_or_default().to_lowercase();
                shown.starts_with(&title) || shown.contains(&title)
            }),
            (None, index) => self.cached.get(usize::try_from(index.unwrap_or(0))?),
        };
        let action = action
            .with_context(|| format!("no cached action {which}"))?
            .clone();
        match editor.invoke(&action)? {
            Ok(_) => self.events.push(Event::ok(When::Accept, &["applied"])),
            Err(error) => self.refused(When::Accept, &error),
        }
        self.barrier()
    }

    /// Keeps an error: as an event, and what it says.
    pub(super) fn refused(&mut self, when: When, error: &RpcError) {
        let mut event = Event::error(when, error);
        if event.code.is_empty() {
            // The editor's own refusal of a stale edit.
            event.code = "STALE_VERSION".to_owned();
        }
        self.events.push(event);
        self.say(&error.message);
        self.say(&error.data.to_string());
    }
}

/// The fake editor that the row asks for.
fn profile(row: &Row) -> Result<Profile> {
    let mut profile = Profile::full();
    for (name, value) in row.get("client").as_object().into_iter().flatten() {
        let yes = value.as_bool().unwrap_or(!value.is_null());
        match name.as_str() {
            "changeAnnotationSupport" => profile.annotations = yes,
            "documentChanges" => profile.document_changes = yes,
            "codeActionLiteralSupport" | "literals" => profile.literals = yes,
            "resolveSupport" | "resolve" => profile.resolve = yes,
            "dataSupport" | "data" => profile.data = yes,
            "showDocument" | "workDoneProgress" => profile.window = yes,
            "encoding" | "positionEncoding" | "positionEncodings" | "encodings" => {
                let names: Vec<&str> = match value {
                    Value::String(one) => vec![one.as_str()],
                    list => list
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .collect(),
                };
                profile.encodings = names
                    .into_iter()
                    .map(|name| {
                        crate::editor::Encoding::named(name)
                            .map(crate::editor::Encoding::name)
                            .with_context(|| format!("encoding {name}"))
                    })
                    .collect::<Result<_>>()?;
            }
            "stale_applied" | "pretends_applied" | "answers_applied_true" => {
                profile.pretends_applied = yes;
            }
            "change_after_reply" | "reply_first" => profile.change_after_reply = yes,
            // What only other kinds of cases use, or nothing here depends on.
            _ => {}
        }
    }
    Ok(profile)
}
