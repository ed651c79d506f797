//! The `replay` provider: a recorded turn's provider events, from a file. Tool calls really run.
//!
//! # The file
//!
//! JSON lines, UTF-8. Blank lines, and lines that begin with `//`, are passed over. The first line is the header,
//! each further one an event; `done` ends a step, so a file holds as many steps as `done` lines.
//!
//! ```text
//! {"replay": "redline/v1", "title": "Make it iterative", "piece_chars": 12, "piece_delay_ms": 15}
//! {"event": "reasoning", "text": "…"}
//! {"event": "text", "text": "I will read the file first.", "delay_ms": 200}
//! {"event": "tool_call", "name": "workspace_read", "arguments": {"path": "src/lib.rs"}}
//! {"event": "usage", "input": 900, "output": 41}
//! {"event": "done", "reason": "tool_calls"}
//! {"event": "text", "text": "…"}
//! {"event": "done", "reason": "end"}
//! {"event": "prompt", "text": "And now the tests"}
//! …
//! ```
//!
//! | line | fields |
//! |---|---|
//! | header | `replay` (`redline/v1`); optional `title`, `piece_chars` (text and arguments come in pieces of so many characters; 0 or absent: whole), `piece_delay_ms` (before each piece) |
//! | `text` | `text` |
//! | `reasoning` | `text`; optional `kind` (`raw`, `summary`, `redacted`), `replay` (opaque) |
//! | `tool_call` | `name`; `arguments` (an object), `arguments_raw` (text as a model wrote it, perhaps broken) or `input` (of a free-form tool); optional `id` |
//! | `plan` | `steps` (`[{"step", "status"}]`); optional `id` |
//! | `edit` | `path`; `old` and `new`, or `op` (`create_file`, `update_file`, `delete_file`) and its `diff`; optional `id` |
//! | `opaque` | `api`, `block`: what only that API understands |
//! | `warning` | `kind`, `message` |
//! | `usage` | `input`, `output`; optional `input_cached`, `input_cache_write`, `output_reasoning` |
//! | `error` | `kind`, `message`; optional `retryable`, `retry_after_ms`, `status`. The `done` after it has the reason `error` or `refusal` |
//! | `done` | `reason` |
//! | `prompt` | begins the next turn; optional `text`, for readers only |
//!
//! Any event may have `delay_ms`, a wait before it. An unknown field or event is an error that names
//! the line: a recording with a typing mistake must not play as something else.
//!
//! # Which step is played
//!
//! The conversation decides, so the provider has no state: the number of prompts chooses the turn,
//! the number of answers after the last prompt chooses the step. An edit or plan is played as the
//! event, with the call behind it.

mod format;
mod write;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::provider::{Emitter, EventStream};
use crate::{ChatRequest, ErrorKind, Event, Message, Provider, ProviderError, StopReason};

pub use format::RecordingError;
use format::{Line, Step};
pub use write::{RecordedStep, write};

/// A validated recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    title: Option<String>,
    piece_chars: usize,
    piece_delay: Duration,
    turns: Vec<Vec<Step>>,
}

impl Recording {
    /// Reads and validates a recording. `origin` names it in errors: a path, or `built in`.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] with the file, the line (from 1) and what is wrong there.
    pub fn parse(origin: &str, text: &str) -> Result<Self, RecordingError> {
        format::parse(origin, text)
    }

    /// What the recording is about.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Number of recorded turns.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// How many steps one turn has; 0 when there is no such turn.
    pub fn steps(&self, turn: usize) -> usize {
        self.turns.get(turn).map_or(0, Vec::len)
    }
}

/// Plays a [`Recording`].
#[derive(Debug, Clone)]
pub struct ReplayProvider {
    name: String,
    recording: Arc<Recording>,
}

impl ReplayProvider {
    /// Makes a provider; `name` is the one under which the user configured it.
    pub fn new(name: impl Into<String>, recording: Recording) -> Self {
        Self {
            name: name.into(),
            recording: Arc::new(recording),
        }
    }

    /// Reads the recording from a file's text, which the caller has loaded from `path`.
    ///
    /// # Errors
    ///
    /// As [`Recording::parse`].
    pub fn from_text(
        name: impl Into<String>,
        path: &Path,
        text: &str,
    ) -> Result<Self, RecordingError> {
        Ok(Self::new(
            name,
            Recording::parse(&path.display().to_string(), text)?,
        ))
    }
}

impl Provider for ReplayProvider {
    fn name(&self) -> &str {
        &self.name
    }

    /// Nobody reads it.
    fn estimate(&self, _: &ChatRequest) -> Option<u64> {
        None
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let recording = Arc::clone(&self.recording);
        EventStream::new(|emitter| async move { recording.play(&request.messages, &emitter).await })
    }
}

impl Recording {
    async fn play(&self, messages: &[Message], emitter: &Emitter) {
        let prompts = messages
            .iter()
            .filter(|message| matches!(message, Message::User { .. }))
            .count();
        let turn = prompts.saturating_sub(1);
        let step = messages
            .iter()
            .rev()
            .take_while(|message| !matches!(message, Message::User { .. }))
            .filter(|message| matches!(message, Message::Assistant { .. }))
            .count();
        let Some(found) = self.turns.get(turn).and_then(|steps| steps.get(step)) else {
            emitter.emit(Event::Error(self.over(turn))).await;
            emitter
                .emit(Event::Done {
                    reason: StopReason::Error,
                })
                .await;
            return;
        };
        // Ids that were not recorded are made of the place, so they are unique in the conversation.
        let mut calls = 0;
        for line in &found.lines {
            pause(line.delay).await;
            self.play_line(
                line,
                &mut || {
                    calls += 1;
                    format!("call_{}_{}_{calls}", turn + 1, step + 1)
                },
                emitter,
            )
            .await;
        }
        emitter
            .emit(Event::Done {
                reason: found.reason,
            })
            .await;
    }

    fn over(&self, turn: usize) -> ProviderError {
        let message = match self.turns.get(turn) {
            Some(steps) => {
                format!(
                    "the recording is over: turn {} has {} steps",
                    turn + 1,
                    steps.len()
                )
            }
            None => format!(
                "the recording is over: it holds {} turn(s); a new session plays it again",
                self.turns.len()
            ),
        };
        ProviderError::new(ErrorKind::InvalidRequest, message)
    }

    async fn play_line(
        &self,
        line: &Line,
        new_id: &mut (dyn FnMut() -> String + Send),
        emitter: &Emitter,
    ) {
        match line.event(new_id) {
            Event::Text { text } => {
                for piece in self.pieces(&text) {
                    pause(self.piece_delay).await;
                    emitter.emit(Event::Text { text: piece }).await;
                }
            }
            Event::Reasoning { kind, text, replay } => {
                for piece in self.pieces(&text) {
                    pause(self.piece_delay).await;
                    emitter
                        .emit(Event::Reasoning {
                            kind,
                            text: piece,
                            replay: None,
                        })
                        .await;
                }
                if replay.is_some() {
                    emitter
                        .emit(Event::Reasoning {
                            kind,
                            text: String::new(),
                            replay,
                        })
                        .await;
                }
            }
            Event::ToolCallReady(call) => {
                let id = call.id.clone();
                let name = call.name.clone();
                emitter
                    .emit(Event::ToolCallStarted {
                        id: id.clone(),
                        name,
                    })
                    .await;
                for fragment in self.pieces(&line.arguments_text()) {
                    pause(self.piece_delay).await;
                    emitter
                        .emit(Event::ToolCallDelta {
                            id: id.clone(),
                            fragment,
                        })
                        .await;
                }
                emitter.emit(Event::ToolCallReady(call)).await;
            }
            event => emitter.emit(event).await,
        }
    }

    fn pieces(&self, text: &str) -> Vec<String> {
        if self.piece_chars == 0 || text.is_empty() {
            return if text.is_empty() {
                Vec::new()
            } else {
                vec![text.to_owned()]
            };
        }
        let chars: Vec<char> = text.chars().collect();
        chars
            .chunks(self.piece_chars)
            .map(|piece| piece.iter().collect())
            .collect()
    }
}

async fn pause(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests;
