//! `redline sessions`, `redline turn export`, `redline jobs`: what agents did and do here.
//!
//! Owns: how sessions and jobs read in a list. Must not know: how they are kept.

use redline_protocol::v1::{
    ArchiveSessionParams, CancelJobParams, ExportTurnParams, ExportTurnResult, ForkSessionParams,
    Job, JobOutputParams, JobOutputResult, JobState, ListJobsParams, ListJobsResult,
    ListSessionsParams, ListSessionsResult, NewSessionResult, SessionInfo, SessionState, method,
};
use serde_json::json;

use super::{
    Context,
    args::{JobAction, Jobs, SessionAction, Sessions, Turn},
    client::Client,
    shapes::snake,
    terminal::{Style, clean, clean_lines, fit},
};
use crate::failure::{Failure, exit};

/// Lists sessions, or does one thing to one.
pub(crate) fn sessions(context: &mut Context<'_>, what: Sessions) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let done = act(context, &mut client, what);
    client.close();
    done
}

fn act(context: &mut Context<'_>, client: &mut Client, what: Sessions) -> Result<i32, Failure> {
    let info: SessionInfo = match what.action {
        None => return list(context, client, what.archived),
        Some(SessionAction::Fork { id, turn }) => {
            let params = ForkSessionParams {
                session_id: id,
                turn_id: turn,
            };
            let forked: NewSessionResult = client.request(method::SESSION_FORK, &params)?;
            if context.terminal.json {
                let object = json!({ "session": forked.session_id });
                context.terminal.object(&object);
            } else {
                context.terminal.say(&format!("{}\n", forked.session_id));
            }
            return Ok(exit::DONE);
        }
        Some(SessionAction::Archive { id, back }) => {
            let params = ArchiveSessionParams {
                session_id: id,
                archived: Some(!back),
            };
            client.request(method::SESSION_ARCHIVE, &params)?
        }
    };
    if context.terminal.json {
        let object = snake(&info)?;
        context.terminal.object(&object);
    } else {
        let word = match info.archived {
            true => "put away",
            false => "brought back",
        };
        context
            .terminal
            .say(&format!("{word}: {}\n", info.session_id));
    }
    Ok(exit::DONE)
}

fn list(context: &mut Context<'_>, client: &mut Client, archived: bool) -> Result<i32, Failure> {
    let mut sessions: Vec<SessionInfo> = Vec::new();
    let mut cursor = None;
    loop {
        let params = ListSessionsParams {
            archived,
            cursor,
            ..ListSessionsParams::default()
        };
        let page: ListSessionsResult = client.request(method::SESSION_LIST, &params)?;
        sessions.extend(page.sessions);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if context.terminal.json {
        let object = json!({ "sessions": snake(&sessions)? });
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    if sessions.is_empty() {
        context.terminal.say("there is no session\n");
    }
    for session in &sessions {
        let title = session
            .title
            .as_deref()
            .unwrap_or("(nothing was asked yet)");
        let title = fit(title, context.terminal.width);
        let mut text = context.terminal.paint.text(Style::Title, &title);
        let state = match session.state {
            SessionState::Running => "running",
            SessionState::Idle => "idle",
            SessionState::RequiresAction => "waits for you",
        };
        text.push_str(&format!(
            "\n{state} · {} · {} · {}\n",
            super::render::count(session.turns as usize, "turn"),
            mode_word(session.mode),
            clean(&session.model)
        ));
        let id = context.terminal.paint.text(Style::Dim, &session.session_id);
        context.terminal.say(&format!("{text}{id}\n"));
    }
    Ok(exit::DONE)
}

/// Writes a turn as a file that the provider `replay` plays.
pub(crate) fn turn(context: &mut Context<'_>, what: Turn) -> Result<i32, Failure> {
    let Turn::Export { id, output } = what;
    let mut client = context.client()?;
    let params = ExportTurnParams {
        turn_id: id.clone(),
    };
    let exported = client.request::<ExportTurnResult>(method::TURN_EXPORT, &params);
    client.close();
    let content = exported?.content;
    if let Some(path) = &output {
        std::fs::write(path, &content)
            .map_err(|error| Failure::io(format!("cannot write {}", path.display()), &error))?;
    }
    match (context.terminal.json, &output) {
        (true, None) => context
            .terminal
            .object(&json!({ "turn": id, "content": content })),
        (true, Some(path)) => context
            .terminal
            .object(&json!({ "turn": id, "file": path })),
        (false, None) => context.terminal.say(&content),
        (false, Some(path)) => context
            .terminal
            .say(&format!("{id} is in {}\n", path.display())),
    }
    Ok(exit::DONE)
}

/// Lists the programs that run, or shows or stops one.
pub(crate) fn jobs(context: &mut Context<'_>, what: Jobs) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let done = look_after(context, &mut client, what);
    client.close();
    done
}

fn look_after(context: &mut Context<'_>, client: &mut Client, what: Jobs) -> Result<i32, Failure> {
    match what.action {
        None => {
            let params = ListJobsParams { ended: what.ended };
            let listed: ListJobsResult = client.request(method::JOB_LIST, &params)?;
            if context.terminal.json {
                let object = json!({ "jobs": snake(&listed.jobs)? });
                context.terminal.object(&object);
            } else if listed.jobs.is_empty() {
                context.terminal.say("no program runs\n");
            } else {
                for job in &listed.jobs {
                    let text = job_text(job, context.terminal.width);
                    context.terminal.say(&text);
                }
            }
        }
        Some(JobAction::Output { id }) => {
            let params = JobOutputParams {
                job_id: id,
                offset: None,
                limit: None,
            };
            let output: JobOutputResult = client.request(method::JOB_OUTPUT, &params)?;
            if context.terminal.json {
                let object = snake(&output)?;
                context.terminal.object(&object);
            } else {
                context.terminal.say(&clean_lines(&output.text));
                let errors = clean_lines(&output.errors);
                if !errors.is_empty() {
                    context.terminal.aside(errors.trim_end_matches('\n'));
                }
            }
        }
        Some(JobAction::Cancel { id }) => {
            let params = CancelJobParams { job_id: id };
            let job: Job = client.request(method::JOB_CANCEL, &params)?;
            if context.terminal.json {
                let object = snake(&job)?;
                context.terminal.object(&object);
            } else {
                let text = job_text(&job, context.terminal.width);
                context.terminal.say(&text);
            }
        }
    }
    Ok(exit::DONE)
}

fn job_text(job: &Job, width: usize) -> String {
    let state = match (job.state, job.exit_code, job.signal) {
        (JobState::Running, ..) => "runs".to_owned(),
        (JobState::Exited, Some(code), _) => format!("ended with {code}"),
        (JobState::Exited, None, Some(signal)) => format!("ended by signal {signal}"),
        (JobState::Exited, None, None) => "ended".to_owned(),
        (JobState::Cancelled, ..) => "stopped".to_owned(),
        (JobState::TimedOut, ..) => "stopped: its time was over".to_owned(),
        (JobState::Orphaned, ..) => "left behind by a sidecar that ended".to_owned(),
    };
    let line = fit(&job.command.join(" "), width);
    format!(
        "{line}\n{state} · sandbox {}\n{}\n",
        clean(&job.sandbox),
        job.id
    )
}

/// A mode as it is written everywhere.
pub(crate) fn mode_word(mode: redline_protocol::v1::Mode) -> &'static str {
    match mode {
        redline_protocol::v1::Mode::Manual => "manual",
        redline_protocol::v1::Mode::Plan => "plan",
        redline_protocol::v1::Mode::Auto => "auto",
    }
}
