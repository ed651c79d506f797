//! Jobs as clients see them: what runs, its output as it comes, stopping it.
//!
//! Owns: listening to running jobs and telling clients, at most once a frame for each.
//! Must not know: how programs run; `redline_workspace` does that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redline_protocol::v1;
use redline_workspace::{
    JobError, JobListener, JobRecord, JobStarted, JobStream, Jobs as Kept, plain,
};

use super::event::{ClientId, Event, HubHandle, Reply};
use super::present_agent::{job as wire, job_state};
use super::turns::TurnNote;
use super::{Hub, respond};
use crate::failure::Failure;
use crate::lsp::outbox::Message;

/// Frames of one job are at least so far apart.
const FRAME: Duration = Duration::from_millis(16);

/// Most jobs in a list.
const MOST_LISTED: usize = 100;

/// Bytes of output in one answer, unless it is asked for otherwise.
const OUTPUT_BYTES: u64 = 64 << 10;

/// The jobs that this hub listens to.
#[derive(Default)]
pub(crate) struct Jobs {
    listening: BTreeMap<String, Listening>,
}

struct Listening {
    job: v1::Job,
    listener: JobListener,
    /// It has said something, which is told then.
    due: Option<Instant>,
    told: Instant,
}

/// A job that has started, with an ear at it.
pub(crate) struct Began {
    record: JobRecord,
    listener: JobListener,
}

impl Jobs {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.listening.values().filter_map(|each| each.due).min()
    }
}

impl Listening {
    /// What the job has said since the last frame.
    fn hear(&mut self, now: Instant) -> Option<v1::JobChangedNotification> {
        self.due = None;
        self.told = now;
        let heard = self.listener.take();
        let offset = self.job.output_bytes + heard.dropped_bytes;
        let pieces = heard.output.into_iter().flat_map(|(_, bytes)| bytes);
        let bytes: Vec<u8> = pieces.collect();
        self.job.output_bytes = offset + bytes.len() as u64;
        if let Some(state) = heard.ended {
            (self.job.state, self.job.exit_code, self.job.signal) = job_state(state);
            self.job.ended_at = Some(crate::clock::now_ms() / 1000);
        } else if bytes.is_empty() {
            return None;
        }
        let output = (!bytes.is_empty()).then(|| plain(&bytes).text);
        Some(v1::JobChangedNotification {
            job: self.job.clone(),
            offset: output.is_some().then_some(offset),
            output,
        })
    }
}

/// Tells the hub of each job that starts.
pub(super) fn announcer(hub: HubHandle) -> JobStarted {
    Arc::new(move |jobs: &Kept, record: &JobRecord| {
        let id = record.id.clone();
        let woken = hub.clone();
        let wake = Arc::new(move || {
            woken.send(Event::Turn(TurnNote::Job(id.clone())));
        });
        if let Ok(listener) = jobs.listen(&record.id, Some(wake)) {
            let record = record.clone();
            hub.send(Event::Turn(TurnNote::JobBegan(Box::new(Began {
                record,
                listener,
            }))));
        }
    })
}

impl Hub {
    /// Takes in a job that has started, and tells of it.
    pub(super) fn job_began(&mut self, began: Began) {
        let now = Instant::now();
        let job = wire(&began.record);
        let listening = Listening {
            job: job.clone(),
            listener: began.listener,
            // What it said before this is told with the next frame.
            due: Some(now + FRAME),
            told: now,
        };
        self.jobs.listening.insert(job.id.clone(), listening);
        self.tell_job(v1::JobChangedNotification {
            job,
            output: None,
            offset: None,
        });
    }

    /// A job has said something; it is told when the frame is over.
    pub(super) fn job_said(&mut self, id: &str) {
        if let Some(listening) = self.jobs.listening.get_mut(id) {
            let next = listening.told + FRAME;
            listening.due.get_or_insert(next);
        }
    }

    pub(super) fn jobs_tick(&mut self, now: Instant) {
        let due = |each: &Listening| each.due.is_some_and(|due| due <= now);
        let told: Vec<v1::JobChangedNotification> = self
            .jobs
            .listening
            .values_mut()
            .filter(|each| due(each))
            .filter_map(|each| each.hear(now))
            .collect();
        for change in told {
            if change.job.state != v1::JobState::Running {
                self.jobs.listening.remove(&change.job.id);
            }
            self.tell_job(change);
        }
    }

    fn tell_job(&self, change: v1::JobChangedNotification) {
        for client in self.clients.values().filter(|each| each.profile.session) {
            client.outbox.push(Message::Job(change.clone()));
        }
    }

    /// Answers from the jobs, off the hub's thread.
    fn answer_from_jobs<T: Send + 'static>(
        &self,
        reply: Reply<T>,
        read: impl FnOnce(&Kept) -> Result<T, JobError> + Send + 'static,
    ) {
        let jobs = self.kept_jobs.clone();
        self.runtime
            .spawn_blocking(move || respond(reply, read(&jobs).map_err(failure)));
    }

    pub(super) fn list_jobs(&self, params: v1::ListJobsParams, reply: Reply<v1::ListJobsResult>) {
        self.answer_from_jobs(reply, move |jobs| {
            let (mut records, _) = jobs.list(MOST_LISTED)?;
            records.retain(|record| params.ended || record.ended_at_ms.is_none());
            records.sort_by_key(|record| record.started_at_ms);
            Ok(v1::ListJobsResult {
                jobs: records.iter().map(wire).collect(),
            })
        });
    }

    pub(super) fn job_output(
        &self,
        params: v1::JobOutputParams,
        reply: Reply<v1::JobOutputResult>,
    ) {
        self.answer_from_jobs(reply, move |jobs| {
            let record = jobs.status(&params.job_id)?;
            let limit = params.limit.unwrap_or(OUTPUT_BYTES).min(OUTPUT_BYTES);
            let total = record.stdout.bytes;
            let from = params.offset.unwrap_or(total.saturating_sub(limit));
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            let (offset, bytes) = jobs.read(&params.job_id, JobStream::Stdout, from, most)?;
            let (_, errors) = jobs.read(&params.job_id, JobStream::Stderr, 0, most)?;
            Ok(v1::JobOutputResult {
                job: wire(&record),
                text: plain(&bytes).text,
                errors: plain(&errors).text,
                offset,
                next_offset: offset + bytes.len() as u64,
            })
        });
    }

    pub(super) fn cancel_job(
        &self,
        client: ClientId,
        params: v1::CancelJobParams,
        reply: Reply<v1::Job>,
    ) {
        if let Err(failure) = self.may_answer(client) {
            return respond(reply, Err(failure));
        }
        self.answer_from_jobs(reply, move |jobs| {
            jobs.cancel(&params.job_id).map(|record| wire(&record))
        });
    }
}

fn failure(error: JobError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}
