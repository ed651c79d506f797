//! What is told of a job: recovery first, output last.

use redline_workspace::{JobRecord, JobState, JobStream, JobView, Kept, Removed, plain};
use serde_json::{Map, Value, json};

use super::operation::quoted;
use super::{NAME, read_on};
use crate::error::shortened;
use crate::{Envelope, ErrorCode, ToolError};

/// Longest command line that is told, in bytes.
const LONGEST_LINE: usize = 600;

/// How far a tail is searched for the start of a line.
const LONGEST_PART_LINE: usize = 1024;

/// A job with its output: one that has ended, or that runs and has said this so far.
pub(super) fn ended(view: &JobView, unsaved: &[String]) -> Envelope {
    let record = &view.record;
    let mut data = summary(record);
    if !unsaved.is_empty() {
        data.insert("unsaved_documents_not_seen".to_owned(), json!(unsaved));
    }
    let mut on = None;
    let mut streams = Vec::new();
    for (name, kept) in [("stdout", &view.stdout), ("stderr", &view.stderr)] {
        let shown = text(kept);
        if kept.dropped() > 0 {
            on.get_or_insert_with(|| read_on(&record.id, name, kept.head.len() as u64));
            data.insert(
                format!("{name}_truncated"),
                json!({"total_bytes": kept.total, "dropped_bytes": kept.dropped()}),
            );
        }
        if !shown.removed.is_empty() {
            data.insert(format!("{name}_removed"), json!(shown.removed));
        }
        streams.push((name, shown.text));
    }
    for (name, text) in streams {
        data.insert(name.to_owned(), json!(text));
    }
    let mut envelope = of(record, Value::Object(data))
        .omitting("/data/stdout")
        .omitting("/data/stderr");
    if let Some(on) = on {
        envelope = envelope.resuming(on);
    }
    envelope
}

/// A job that somebody asked to end.
pub(super) fn cancelled(view: &JobView) -> Envelope {
    let mut envelope = ended(view, &[]);
    // It is what was asked for, so it is no failure.
    envelope.status = crate::Status::Ok;
    envelope.recovery.error = None;
    envelope
}

/// A job without its output.
pub(super) fn status(record: &JobRecord) -> Envelope {
    let mut envelope = of(record, Value::Object(summary(record)));
    envelope.status = crate::Status::Ok;
    envelope.recovery.error = None;
    envelope
}

/// A part of one stream.
pub(super) fn part(
    record: &JobRecord,
    stream: JobStream,
    asked: u64,
    at: u64,
    bytes: &[u8],
) -> Envelope {
    let shown = plain(bytes);
    let next = at + bytes.len() as u64;
    let (name, total) = match stream {
        JobStream::Stdout => ("stdout", record.stdout.bytes),
        JobStream::Stderr => ("stderr", record.stderr.bytes),
    };
    let mut data = summary(record);
    data.insert("stream".to_owned(), json!(name));
    data.insert("offset".to_owned(), json!(at));
    data.insert("next_offset".to_owned(), json!(next));
    if at > asked {
        data.insert("dropped_bytes".to_owned(), json!(at - asked));
    }
    if !shown.removed.is_empty() {
        data.insert("removed".to_owned(), json!(shown.removed));
    }
    data.insert("text".to_owned(), json!(shown.text));
    let envelope = Envelope::ok(NAME, record.state.word(), Value::Object(data))
        .with_id("job", record.id.clone())
        .omitting("/data/text");
    if next < total || record.state == JobState::Running {
        envelope.resuming(read_on(&record.id, name, next))
    } else {
        envelope
    }
}

/// The newest jobs.
pub(super) fn list(jobs: &[JobRecord], damaged: &[String]) -> Envelope {
    let shown: Vec<Value> = jobs
        .iter()
        .map(|record| {
            let mut data = summary(record);
            data.insert("job_id".to_owned(), json!(record.id));
            data.insert("state".to_owned(), json!(record.state.word()));
            Value::Object(data)
        })
        .collect();
    let mut data = json!({"count": shown.len()});
    if !damaged.is_empty() {
        data["damaged"] = json!(damaged);
    }
    data["jobs"] = json!(shown);
    Envelope::ok(NAME, "read", data).omitting("/data/jobs")
}

fn of(record: &JobRecord, data: Value) -> Envelope {
    let mut envelope = Envelope::ok(NAME, record.state.word(), data);
    if let Some(error) = failure(record) {
        let data = std::mem::take(&mut envelope.data);
        envelope = Envelope::error(NAME, error.with_details(data));
        record.state.word().clone_into(&mut envelope.recovery.state);
    }
    let envelope = envelope
        .with_id("job", record.id.clone())
        .with_fact("command", line(record));
    match record.state {
        JobState::Exited { code } => envelope.with_fact("exit_code", code),
        JobState::Running
        | JobState::Signaled { .. }
        | JobState::TimedOut
        | JobState::Cancelled
        | JobState::Orphaned => envelope,
    }
}

/// Why a job that did not come to its own end is a failure; a program's exit code is its own affair.
fn failure(record: &JobRecord) -> Option<ToolError> {
    let line = line(record);
    match record.state {
        JobState::Running | JobState::Exited { .. } | JobState::Signaled { .. } => None,
        JobState::TimedOut => {
            let limit = record.timeout_ms.unwrap_or(0);
            let error = ToolError::new(
                ErrorCode::Timeout,
                format!(
                    "`{line}` did not end within {limit} ms and was ended, with all that it had started"
                ),
            );
            Some(error.with_hint("Give it more `timeout_seconds`, or `start` it and look after it. Its output so far is in the data."))
        }
        JobState::Cancelled => Some(ToolError::new(
            ErrorCode::Cancelled,
            format!("`{line}` was ended before its end"),
        )),
        JobState::Orphaned => Some(
            ToolError::new(
                ErrorCode::Internal,
                format!("nobody saw how `{line}` ended"),
            )
            .with_hint("Run it again if its result is needed."),
        ),
    }
}

fn summary(record: &JobRecord) -> Map<String, Value> {
    let mut data = Map::new();
    let mut put = |name: &str, value: Value| drop(data.insert(name.to_owned(), value));
    put("command", json!(line(record)));
    if !record.folder.is_empty() {
        put("cwd", json!(record.folder));
    }
    match record.state {
        JobState::Exited { code } => put("exit_code", json!(code)),
        JobState::Signaled { signal } => put("signal", json!(signal)),
        JobState::Running | JobState::TimedOut | JobState::Cancelled | JobState::Orphaned => {}
    }
    if let Some(ended) = record.ended_at_ms {
        put(
            "duration_ms",
            json!(ended.saturating_sub(record.started_at_ms)),
        );
    }
    put("sandbox", json!(record.sandbox));
    if record.ended_processes > 0 {
        put("ended_processes", json!(record.ended_processes));
    }
    if let Some(changes) = record
        .changes
        .as_ref()
        .filter(|changes| !changes.is_empty())
    {
        put("changes", json!(changes));
    }
    if !record.notes.is_empty() {
        put("notes", json!(record.notes));
    }
    data
}

fn line(record: &JobRecord) -> String {
    let words = std::iter::once(&record.program.asked).chain(&record.arguments);
    let words: Vec<String> = words.map(|word| quoted(word)).collect();
    shortened(words.join(" "), LONGEST_LINE)
}

struct Shown {
    text: String,
    removed: Removed,
}

/// First and last bytes as one text, with a line between them that says how much is missing.
fn text(kept: &Kept) -> Shown {
    if kept.dropped() == 0 {
        let whole = plain(&[kept.head.as_slice(), &kept.tail].concat());
        return Shown {
            text: whole.text,
            removed: whole.removed,
        };
    }
    // A cut may go through a character, an escape sequence or a line: the parts begin and end with whole lines,
    // where they have any.
    let head_end = kept
        .head
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(kept.head.len(), |at| at + 1);
    let tail_start = kept
        .tail
        .iter()
        .take(LONGEST_PART_LINE)
        .position(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let (head, tail) = (
        plain(&kept.head[..head_end]),
        plain(&kept.tail[tail_start..]),
    );
    let dropped = kept.total - head_end as u64 - (kept.tail.len() - tail_start) as u64;
    let gap = if head.text.ends_with('\n') { "" } else { "\n" };
    Shown {
        text: format!(
            "{}{gap}[… {dropped} bytes dropped …]\n{}",
            head.text, tail.text
        ),
        removed: head.removed.and(tail.removed),
    }
}
