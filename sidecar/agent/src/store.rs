//! Sessions as they are kept, and gone on with: the record of their events, read and written.
//!
//! The files are `redline_workspace`'s business; this module says what stands in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use redline_tools::{Envelope, ErrorCode, ToolError};
use redline_workspace::{Clock, SessionError, SessionLog, SessionSummary, Sessions};
use serde::{Deserialize, Serialize};

use crate::{EventLog, History, LogError, ToolStatus, TurnEnd, TurnEvent, TurnEventKind, export};

/// Longest title, in characters.
const TITLE_CHARS: usize = 80;

/// One record of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    /// Something happened in a turn.
    Event {
        /// Milliseconds since 1970.
        at: u64,
        /// What.
        event: Box<TurnEvent>,
    },
    /// What stands before this was copied from another session.
    Forked {
        /// Milliseconds since 1970.
        at: u64,
        /// `se_…`.
        from: String,
    },
}

/// The sessions of one agent in one workspace.
#[derive(Clone)]
pub struct SessionStore {
    sessions: Sessions,
    clock: Arc<dyn Clock>,
}

/// What is known of a session from its record.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// What lists say of it.
    pub summary: SessionSummary,
    /// All events of all turns, oldest first.
    pub events: Vec<TurnEvent>,
    /// The conversation as the model is told it.
    pub history: History,
    /// What had to be mended, for people.
    pub repaired: Option<String>,
}

impl SessionStore {
    /// Sessions in `sessions`, with the time by `clock`. Touches nothing.
    pub fn new(sessions: Sessions, clock: Arc<dyn Clock>) -> Self {
        Self { sessions, clock }
    }

    /// All sessions, or all that were put away; the one that was used last comes first.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn list(&self, archived: bool) -> Result<Vec<SessionSummary>, SessionError> {
        self.sessions.list(archived)
    }

    /// A new session; nothing is written before its first event.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn create(&self, id: &str, model: &str, mode: &str) -> Result<Recorder, SessionError> {
        let now = self.clock.now_ms() / 1000;
        let log = self.sessions.create(SessionSummary {
            id: id.to_owned(),
            title: None,
            model: model.to_owned(),
            mode: mode.to_owned(),
            created_at: now,
            updated_at: now,
            turns: 0,
        })?;
        Ok(self.recorder(log))
    }

    /// Reads a session; changes nothing.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn read(&self, id: &str) -> Result<Past, SessionError> {
        let loaded = self.sessions.read(id)?;
        Ok(past(loaded.summary, loaded.records, loaded.repaired))
    }

    /// Opens a session to go on with it. A turn that the process before did not end is ended now.
    ///
    /// # Errors
    ///
    /// [`SessionError`]; [`SessionError::Busy`] while another process has it open.
    pub fn open(&self, id: &str) -> Result<(Recorder, Past), SessionError> {
        let (log, loaded) = self.sessions.open(id)?;
        let mut past = past(loaded.summary, loaded.records, loaded.repaired);
        let recorder = self.recorder(log);
        let missing = interrupted(&past.events);
        if !missing.is_empty() {
            recorder.record(&missing, true)?;
            for event in missing {
                past.history.apply(&event.kind);
                past.events.push(event);
            }
        }
        past.summary = recorder.summary();
        Ok((recorder, past))
    }

    /// Whether some process, this one included, goes on with a session now.
    pub fn is_open(&self, id: &str) -> bool {
        self.sessions.is_open(id)
    }

    /// Puts a session away, or brings it back.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn archive(&self, id: &str, archived: bool) -> Result<SessionSummary, SessionError> {
        self.sessions.archive(id, archived)
    }

    /// Makes a session `new_id` with the past of `id`: all that ended, or as far as the turn `through`.
    ///
    /// # Errors
    ///
    /// [`SessionError`]; [`SessionError::NotFound`] with the turn's id when the session has no such turn.
    pub fn fork(
        &self,
        id: &str,
        through: Option<&str>,
        new_id: &str,
    ) -> Result<(Recorder, Past), SessionError> {
        let mut past = self.read(id)?;
        let end = match through {
            Some(turn) => {
                last_of(&past.events, |event| event.turn_id == turn).ok_or_else(|| {
                    SessionError::NotFound {
                        id: turn.to_owned(),
                    }
                })?
            }
            None => last_of(&past.events, is_end).unwrap_or(0),
        };
        past.events.truncate(end);
        let missing = interrupted(&past.events);
        past.events.extend(missing);
        past.history = fold(&past.events);
        let now = self.clock.now_ms();
        past.summary = SessionSummary {
            id: new_id.to_owned(),
            created_at: now / 1000,
            updated_at: now / 1000,
            turns: turns(&past.events),
            ..past.summary
        };
        past.repaired = None;
        let log = self.sessions.create(past.summary.clone())?;
        let copied = past.events.iter().map(|event| Record::Event {
            at: now,
            event: Box::new(event.clone()),
        });
        let mut records: Vec<Record> = copied.collect();
        let from = id.to_owned();
        records.push(Record::Forked { at: now, from });
        log.append(&records, true)?;
        Ok((self.recorder(log), past))
    }

    /// The turn `turn_id`, of whichever session, as a `replay` file.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`] with the turn's id when no session has it, or its model never answered.
    pub fn export(&self, turn_id: &str) -> Result<String, SessionError> {
        let began = began_at(turn_id);
        let mut all = self.list(false)?;
        all.extend(self.list(true)?);
        // The id tells when the turn began; only a copied turn lies in a session of another time.
        let spans = |summary: &SessionSummary| {
            began.is_some_and(|at| (summary.created_at..=summary.updated_at).contains(&at))
        };
        all.sort_by_key(|summary| !spans(summary));
        for summary in all {
            let past = self.read(&summary.id)?;
            if let Some(text) = export(&past.events, turn_id) {
                return Ok(text);
            }
        }
        Err(SessionError::NotFound {
            id: turn_id.to_owned(),
        })
    }

    fn recorder(&self, log: SessionLog) -> Recorder {
        Recorder {
            log,
            clock: Arc::clone(&self.clock),
        }
    }
}

impl std::fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SessionStore").field(&self.sessions).finish()
    }
}

/// Writes one session. Other processes can read it, and wait with writing until this is dropped.
pub struct Recorder {
    log: SessionLog,
    clock: Arc<dyn Clock>,
}

impl Recorder {
    /// What lists say of the session now.
    pub fn summary(&self) -> SessionSummary {
        self.log.summary()
    }

    /// Keeps another model.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn set_model(&self, model: &str) -> Result<(), SessionError> {
        self.log
            .update(|summary| model.clone_into(&mut summary.model))
    }

    /// Keeps another permission mode.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn set_mode(&self, mode: &str) -> Result<(), SessionError> {
        self.log
            .update(|summary| mode.clone_into(&mut summary.mode))
    }

    /// Takes note that the session was put away, or brought back.
    pub fn moved(&self, archived: bool) {
        self.log.moved(archived);
    }

    fn record(&self, events: &[TurnEvent], durable: bool) -> Result<(), SessionError> {
        let at = self.clock.now_ms();
        let record = |event: &TurnEvent| Record::Event {
            at,
            event: Box::new(event.clone()),
        };
        let records: Vec<Record> = events.iter().map(record).collect();
        self.log.append(&records, durable)?;
        let prompts = events.iter().filter_map(|event| match &event.kind {
            TurnEventKind::Started { prompt } => Some(prompt.as_str()),
            _ => None,
        });
        let prompts: Vec<&str> = prompts.collect();
        if prompts.is_empty() && !events.iter().any(is_end) {
            return Ok(());
        }
        self.log.update(|summary| {
            summary.updated_at = at / 1000;
            summary.turns += u32::try_from(prompts.len()).unwrap_or(u32::MAX);
            if summary.title.is_none() {
                summary.title = prompts.first().and_then(|prompt| title(prompt));
            }
        })
    }
}

impl EventLog for Recorder {
    fn append(&self, events: &[TurnEvent], durable: bool) -> Result<(), LogError> {
        self.record(events, durable)
            .map_err(|error| LogError(error.to_string()))
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Recorder").field(&self.log).finish()
    }
}

fn past(summary: SessionSummary, records: Vec<Record>, repaired: Option<String>) -> Past {
    let events: Vec<TurnEvent> = records
        .into_iter()
        .filter_map(|record| match record {
            Record::Event { event, .. } => Some(*event),
            Record::Forked { .. } => None,
        })
        .collect();
    Past {
        summary,
        history: fold(&events),
        events,
        repaired,
    }
}

fn fold(events: &[TurnEvent]) -> History {
    let mut history = History::default();
    for event in events {
        history.apply(&event.kind);
    }
    history
}

fn is_end(event: &TurnEvent) -> bool {
    matches!(event.kind, TurnEventKind::Ended { .. })
}

/// One past the last event that `wanted` accepts.
fn last_of(events: &[TurnEvent], wanted: impl Fn(&TurnEvent) -> bool) -> Option<usize> {
    events.iter().rposition(wanted).map(|at| at + 1)
}

fn turns(events: &[TurnEvent]) -> u32 {
    let started = |event: &&TurnEvent| matches!(event.kind, TurnEventKind::Started { .. });
    u32::try_from(events.iter().filter(started).count()).unwrap_or(u32::MAX)
}

/// When a turn began, in Unix seconds, by its id.
fn began_at(turn_id: &str) -> Option<u64> {
    let id = ulid::Ulid::from_string(turn_id.strip_prefix("turn_")?).ok()?;
    Some(id.timestamp_ms() / 1000)
}

/// The first line of a prompt that says something.
fn title(prompt: &str) -> Option<String> {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    let clean = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    Some(clean.take(TITLE_CHARS).collect())
}

/// The events that end a turn whose process died: one for each call that was begun, then the turn's own.
fn interrupted(events: &[TurnEvent]) -> Vec<TurnEvent> {
    let Some(last) = events.last().filter(|last| !is_end(last)) else {
        return Vec::new();
    };
    let begin = events
        .iter()
        .rposition(|event| event.turn_id != last.turn_id);
    let turn = &events[begin.map_or(0, |at| at + 1)..];
    let mut seq = last.seq;
    let mut missing = |kind| {
        seq += 1;
        TurnEvent {
            turn_id: last.turn_id.clone(),
            seq,
            kind,
        }
    };
    let mut ends: Vec<TurnEvent> = open_calls(turn).into_values().map(&mut missing).collect();
    ends.push(missing(TurnEventKind::Ended {
        end: TurnEnd::Interrupted,
    }));
    ends
}

/// How each call of a turn that has not ended is ended now. One that waits for the user keeps what stands in
/// for its result: the model reads there which call goes on.
fn open_calls(turn: &[TurnEvent]) -> BTreeMap<String, TurnEventKind> {
    let mut open = BTreeMap::new();
    for event in turn {
        match &event.kind {
            TurnEventKind::ToolStarted { call_id, tool } => {
                let text = "the process ended before this call arrived whole";
                open.insert(call_id.clone(), broken_off(call_id, tool, text));
            }
            TurnEventKind::ToolRunning { call_id, tool, .. } => {
                let text = "the process ended while this call ran";
                open.insert(call_id.clone(), broken_off(call_id, tool, text));
            }
            TurnEventKind::ToolCalled { call, .. } => {
                let text = "the process ended before this call ran";
                open.insert(call.id.clone(), broken_off(&call.id, &call.name, text));
            }
            TurnEventKind::ToolStaged {
                call_id,
                tool,
                title,
                envelope,
                ..
            } => {
                let waits = TurnEventKind::ToolFinished {
                    call_id: call_id.clone(),
                    tool: tool.clone(),
                    title: title.clone(),
                    status: ToolStatus::PendingApproval,
                    envelope: envelope.clone(),
                };
                open.insert(call_id.clone(), waits);
            }
            TurnEventKind::ToolFinished { call_id, .. } => {
                open.remove(call_id);
            }
            _ => {}
        }
    }
    open
}

fn broken_off(call_id: &str, tool: &str, message: &str) -> TurnEventKind {
    let error = ToolError::new(ErrorCode::Interrupted, message)
        .with_hint("It may still have taken effect: look before you repeat it.");
    TurnEventKind::ToolFinished {
        call_id: call_id.to_owned(),
        tool: tool.to_owned(),
        title: tool.strip_prefix("workspace_").unwrap_or(tool).to_owned(),
        status: ToolStatus::Error,
        envelope: Box::new(Envelope::error(tool, error)),
    }
}
