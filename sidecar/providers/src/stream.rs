//! From the bytes of one answer to events: framing, then the vendor's assembler. Pure: no socket, no clock.

pub(crate) mod lines;
pub(crate) mod sse;

use serde_json::Value;

use crate::lenient;
use crate::{ErrorKind, Event, ProviderError};

/// Largest event, in bytes. Real ones exceed 1 MiB.
pub(crate) const MAX_EVENT_BYTES: usize = 64 << 20;

/// An event is larger than [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {} MiB", MAX_EVENT_BYTES >> 20)]
pub(crate) struct TooLarge;

/// How a vendor cuts its stream into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON text on each line.
    Lines,
}

/// How the bytes of an answer ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The connection was closed, or broke.
    Closed,
    /// The server or a time limit said so.
    Failed(ProviderError),
}

/// Whether there is more to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More may come.
    More,
    /// The vendor's last event, or an error: there is nothing left to read.
    Last,
}

/// Makes events of one vendor's JSON.
pub(crate) trait Assemble: Send {
    /// Takes in one event of the stream: its SSE name (perhaps empty) and its JSON object.
    ///
    /// # Errors
    ///
    /// The text is not JSON.
    fn event(
        &mut self,
        name: &str,
        json: &str,
        out: &mut Vec<Event>,
    ) -> Result<Progress, serde_json::Error>;

    /// Takes in `[DONE]`, which some proxies send on every API.
    fn done(&mut self);

    /// Takes in an answer that came as one JSON text.
    fn whole(&mut self, answer: Value, out: &mut Vec<Event>);

    /// Takes in a failure of the framing; it ends the answer.
    fn failed(&mut self, error: ProviderError);

    /// Ends the answer. The last event is always [`Event::Done`].
    fn finish(self, end: End, out: &mut Vec<Event>);
}

/// Frames and assembles one answer. Cost: linear in the bytes, however they are cut.
#[derive(Debug)]
pub(crate) struct Decoder<A> {
    frames: Frames,
    assembler: A,
    ended: bool,
}

#[derive(Debug)]
enum Frames {
    Sse(sse::Decoder),
    Lines(lines::Decoder),
}

impl<A: Assemble> Decoder<A> {
    pub(crate) fn new(framing: Framing, assembler: A) -> Self {
        let frames = match framing {
            Framing::Sse => Frames::Sse(sse::Decoder::default()),
            Framing::Lines => Frames::Lines(lines::Decoder::default()),
        };
        Self {
            frames,
            assembler,
            ended: false,
        }
    }

    /// Takes in one read and appends the events that it completes.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Progress {
        let (assembler, ended) = (&mut self.assembler, &mut self.ended);
        let mut see = |name: &str, data: &str| {
            if !*ended {
                *ended = take(assembler, name, data, out) == Progress::Last;
            }
        };
        let framed = match &mut self.frames {
            Frames::Sse(decoder) => decoder.push(bytes, &mut see),
            Frames::Lines(decoder) => decoder.push(bytes, |line| see("", line)),
        };
        if let Err(error) = framed {
            let error = ProviderError::new(ErrorKind::Protocol, error.to_string());
            self.assembler.failed(error);
            self.ended = true;
        }
        if self.ended {
            Progress::Last
        } else {
            Progress::More
        }
    }

    /// Takes in an answer that came as one JSON text.
    pub(crate) fn whole(&mut self, answer: Value, out: &mut Vec<Event>) {
        self.ended = true;
        self.assembler.whole(answer, out);
    }

    /// Ends the answer. An event that was not closed counts when its JSON is whole.
    pub(crate) fn finish(mut self, end: End, out: &mut Vec<Event>) {
        if !self.ended {
            let rest = match &mut self.frames {
                Frames::Sse(decoder) => decoder.end(),
                Frames::Lines(decoder) => decoder.end().map(|line| (String::new(), line)),
            };
            if let Some((name, data)) = rest
                && is_whole(data.trim())
            {
                take(&mut self.assembler, &name, &data, out);
            }
        }
        self.assembler.finish(end, out);
    }
}

fn is_whole(data: &str) -> bool {
    data == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok()
}

fn take(assembler: &mut impl Assemble, name: &str, data: &str, out: &mut Vec<Event>) -> Progress {
    let data = data.trim();
    // Gateways wrap comments and pings as data.
    if data.is_empty() || data.starts_with(':') {
        return Progress::More;
    }
    if data == "[DONE]" {
        assembler.done();
        return Progress::Last;
    }
    // JSON of another shape says nothing.
    if !data.starts_with('{') && is_whole(data) {
        return Progress::More;
    }
    let taken = match assembler.event(name, data, out) {
        // Half a surrogate pair is the one thing that servers write and a JSON parser refuses.
        Err(_) if data.contains("\\u") || data.contains("\\U") => {
            assembler.event(name, &lenient::mend_surrogates(data), out)
        }
        taken => taken,
    };
    taken.unwrap_or_else(|error| {
        let message = format!("an event of the stream is not JSON: {error}");
        assembler.failed(ProviderError::new(ErrorKind::Protocol, message));
        Progress::Last
    })
}
