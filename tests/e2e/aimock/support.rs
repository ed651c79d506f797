//! What these tests share: a project that speaks to a model, and turns of a client that draws conversations.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use redline_tests::aimock::Aimock;
use redline_tests::client::PATIENCE;
use redline_tests::editor::{Editor, Profile};
use redline_tests::processes::Process;
use redline_tests::project::Project;
use serde_json::{Value, json};

/// The file that most turns are about.
pub(super) const GREETING: &str = "hello\nworld\n";

/// A project of one greeting, whose model is `server`.
pub(super) fn greeting(server: &Aimock) -> Result<Project> {
    let project = Project::with_files(&[("greeting.txt", GREETING)])?;
    configure(&project, server, "")?;
    Ok(project)
}

/// Makes `server` the model of the project; `more` is the rest of the configuration.
pub(super) fn configure(project: &Project, server: &Aimock, more: &str) -> Result<()> {
    project.configure(&format!(
        "model = \"mock/gpt-4o\"\n\n[providers.mock]\napi = \"openai-chat\"\nbase_url = \"{}\"\n\n{more}",
        server.base_url()
    ))
}

/// An editor that draws conversations.
pub(super) fn editor(project: &Project) -> Result<Editor> {
    project.editor(&Profile::full().with_redline())
}

/// What a command prints under `--json`, with this exit code.
pub(super) fn json_of(project: &Project, arguments: &[&str], code: i32) -> Result<Value> {
    let all = [arguments, &["--json"]].concat();
    project.run(&all)?.expect_code(code)?.json()
}

/// A text at a path into a JSON value.
pub(super) fn text_at<'a>(value: &'a Value, pointer: &str) -> Result<&'a str> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.with_context(|| format!("no text at {pointer} in {value:#}"))
}

/// Waits for something that only looking shows.
pub(super) fn wait<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        ensure!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        // There is nothing to be woken by.
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a conversation does nothing, as the command line lists it.
pub(super) fn wait_idle(project: &Project, session: &str) -> Result<Value> {
    wait("the session is idle", || {
        let listed = json_of(project, &["sessions"], 0)?;
        let sessions = listed["sessions"].as_array().context("sessions")?;
        let found = sessions.iter().find(|each| each["session_id"] == session);
        Ok(found.filter(|each| each["state"] == "idle").cloned())
    })
}

/// One turn, as a client hears of it.
pub(super) struct Turn<'a> {
    editor: &'a Editor,
    pub(super) session: String,
    pub(super) id: String,
}

impl<'a> Turn<'a> {
    /// Prompts in a new conversation, or in `session`.
    pub(super) fn prompt(editor: &'a Editor, session: Option<&str>, text: &str) -> Result<Self> {
        let session = match session {
            Some(session) => session.to_owned(),
            None => {
                let new = editor.client.request("redline/session/new", json!({}))?;
                text_at(&new, "/sessionId")?.to_owned()
            }
        };
        let params = json!({"sessionId": session, "text": text});
        let prompted = editor.client.request("redline/session/prompt", params)?;
        Self::of(editor, &prompted)
    }

    /// The turn that an answer to a prompt tells of.
    pub(super) fn of(editor: &'a Editor, prompted: &Value) -> Result<Self> {
        Ok(Self {
            editor,
            session: text_at(prompted, "/sessionId")?.to_owned(),
            id: text_at(prompted, "/turnId")?.to_owned(),
        })
    }

    /// All that it was told so far; when the session was loaded, from there on: what a client that took part by itself
    /// had heard before is told again.
    pub(super) fn updates(&self) -> Vec<Value> {
        let all = self
            .editor
            .client
            .look(|arrived| updates_of(&arrived.notifications, &self.id));
        let begin = all
            .iter()
            .rposition(|update| update["sessionUpdate"] == "user_message");
        all[begin.unwrap_or(0)..].to_vec()
    }

    /// Waits until one of its updates gives something.
    pub(super) fn wait<T>(&self, what: &str, see: impl Fn(&Value) -> Option<T>) -> Result<T> {
        self.editor.client.wait_for(what, PATIENCE, |arrived| {
            let all = updates_of(&arrived.notifications, &self.id);
            all.iter().find_map(&see)
        })
    }

    /// Waits until the answer so far holds `words`.
    pub(super) fn wait_words(&self, words: &str) -> Result<()> {
        self.editor.client.wait_for(words, PATIENCE, |arrived| {
            let said = words_of(&updates_of(&arrived.notifications, &self.id));
            said.contains(words).then_some(())
        })
    }

    /// Waits until it waits for a decision; what it waits for.
    pub(super) fn wait_staged(&self) -> Result<String> {
        self.wait("a call waits for the user", |update| {
            update["_approvalId"].as_str().map(str::to_owned)
        })
    }

    /// Waits for its end, and gives why it ended.
    pub(super) fn wait_end(&self) -> Result<String> {
        self.wait("the turn ends", |update| {
            let ended = update["sessionUpdate"] == "state_update" && update["state"] == "idle";
            let reason = update["stopReason"].as_str().unwrap_or_default();
            ended.then(|| reason.to_owned())
        })
    }

    /// What the model has said so far.
    pub(super) fn words(&self) -> String {
        words_of(&self.updates())
    }

    /// Fails unless the turn has ended exactly once, as the last that was said of it, and so has each call.
    pub(super) fn ensure_one_end(&self) -> Result<()> {
        let updates = self.updates();
        let is_end = |update: &&Value| {
            update["sessionUpdate"] == "state_update" && !update["stopReason"].is_null()
        };
        let ends = updates.iter().filter(is_end).count();
        ensure!(ends == 1, "{ends} ends in {updates:#?}");
        let last = updates.last().context("nothing was said")?;
        ensure!(is_end(&last), "something was said after the end: {last}");
        let mut calls = std::collections::BTreeMap::new();
        for update in &updates {
            if let (Some(call), Some(status)) =
                (update["toolCallId"].as_str(), update["status"].as_str())
            {
                calls.insert(call, status);
            }
        }
        for (call, status) in calls {
            ensure!(
                matches!(status, "completed" | "failed" | "cancelled"),
                "{call} is left {status}"
            );
        }
        Ok(())
    }
}

fn updates_of(notifications: &[(String, Value)], turn: &str) -> Vec<Value> {
    let of_turn = notifications
        .iter()
        .filter(|(method, params)| method == "redline/session/update" && params["turnId"] == turn);
    let updates = of_turn.filter_map(|(_, params)| params["updates"].as_array());
    updates.flatten().cloned().collect()
}

fn words_of(updates: &[Value]) -> String {
    let said = updates
        .iter()
        .filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    said.filter_map(|update| update["content"]["text"].as_str())
        .collect()
}

/// Connections with the server at `port` that some process of this machine still holds: its side or the other.
///
/// # Errors
///
/// Where there is no `/proc/net/tcp`.
pub(super) fn connections(port: u16) -> Result<usize> {
    const ESTABLISHED: &str = "01";
    const CLOSE_WAIT: &str = "08";
    let table = std::fs::read_to_string("/proc/net/tcp").context("/proc/net/tcp")?;
    let suffix = format!(":{port:04X}");
    let mut open = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, state, ..] = fields.as_slice() else {
            bail!("a line of /proc/net/tcp reads {line:?}");
        };
        let is_ours = local.ends_with(&suffix) || remote.ends_with(&suffix);
        open += usize::from(is_ours && matches!(*state, ESTABLISHED | CLOSE_WAIT));
    }
    Ok(open)
}

/// Waits until nothing that a turn began is left: no program that it started, no connection with its model.
pub(super) fn wait_nothing_left(project: &Project, server: &Aimock) -> Result<()> {
    let redline = redline_tests::program::redline()?.display().to_string();
    let is_ours = |process: &Process| process.command.starts_with(&redline);
    wait("no program and no connection is left", || {
        let started = project.processes();
        let left = started.iter().any(|process| !is_ours(process));
        Ok((!left && connections(server.port())? == 0).then_some(()))
    })
}
