//! The parsers of answers: the first byte says how the rest, an answer's body, is cut into reads.

use std::collections::{HashMap, HashSet};

use redline_providers::{Api, Arguments, ChatRequest, Event, StopReason};

/// Anthropic Messages.
pub fn anthropic(data: &[u8]) {
    answer(Api::Anthropic, data);
}

/// OpenAI Responses.
pub fn responses(data: &[u8]) {
    answer(Api::OpenAiResponses, data);
}

/// OpenAI Chat Completions.
pub fn chat(data: &[u8]) {
    answer(Api::OpenAiChat, data);
}

/// Ollama's own API.
pub fn ollama(data: &[u8]) {
    answer(Api::Ollama, data);
}

fn answer(api: Api, data: &[u8]) {
    let Some((seed, body)) = data.split_first() else {
        return;
    };
    let whole = decode(api, std::iter::once(body));
    well_formed(api, &whole);
    let step = 1 + usize::from(*seed);
    let cut = decode(api, body.chunks(step));
    assert_eq!(joined(cut), joined(whole), "cut at each {step}");
}

fn decode<'a>(api: Api, reads: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = api.decoder(&ChatRequest::default());
    let mut events = Vec::new();
    for read in reads {
        if !decoder.push(read, &mut events) {
            break;
        }
    }
    decoder.finish(&mut events);
    events
}

/// Adjacent pieces of text and of reasoning as one.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (Some(Event::Text { text }), Event::Text { text: more }) => text.push_str(&more),
            (
                Some(Event::Reasoning {
                    kind,
                    text,
                    replay: None,
                }),
                Event::Reasoning {
                    kind: same,
                    text: more,
                    replay: None,
                },
            ) if *kind == same => text.push_str(&more),
            (_, event) => out.push(event),
        }
    }
    out
}

/// One end, the last event, which says failed when something did; calls have begun before they are
/// ready, once; what is handed out as arguments is what was sent.
fn well_formed(api: Api, events: &[Event]) {
    let (last, rest) = events.split_last().expect("at least the end");
    let Event::Done { reason } = last else {
        panic!("the last event is {last:?}");
    };
    let mut failed = false;
    let mut usages = 0;
    let mut sent: HashMap<&str, String> = HashMap::new();
    let mut ready = HashSet::new();
    for event in rest {
        match event {
            Event::Done { .. } => panic!("two ends"),
            Event::Text { text } => assert!(!text.is_empty()),
            Event::Reasoning { text, replay, .. } => {
                assert!(!text.is_empty() || replay.is_some());
            }
            Event::ToolCallStarted { id, .. } => {
                assert!(
                    sent.insert(id, String::new()).is_none(),
                    "{id} begins twice"
                );
            }
            Event::ToolCallDelta { id, fragment } => {
                let so_far = sent.get_mut(id.as_str()).expect("a call that has begun");
                so_far.push_str(fragment);
            }
            Event::ToolCallReady(call) | Event::Edit { call, .. } | Event::Plan { call, .. } => {
                let sent = sent.get(call.id.as_str()).expect("a call that has begun");
                assert!(ready.insert(&call.id), "{} is ready twice", call.id);
                // A Responses item's last word may differ from its pieces.
                if api != Api::OpenAiResponses {
                    let cut = Arguments::parse_cut(sent);
                    assert!(call.arguments == Arguments::parse(sent) || call.arguments == cut);
                }
            }
            Event::Usage(_) => usages += 1,
            Event::Error(error) => {
                assert!(!error.message.is_empty());
                failed = true;
            }
            Event::Warning(_) | Event::Opaque(_) => {}
        }
    }
    assert!(usages <= 1);
    let says_failed = matches!(reason, StopReason::Error | StopReason::Refusal);
    assert_eq!(failed, says_failed);
}
