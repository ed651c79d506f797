//! Every adapter against a third-party server that speaks all four APIs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use libtest_mimic::Trial;
use redline_providers::{
    Api, ApiOptions, Arguments, AssistantPart, ChatRequest, Connection, ErrorKind, Event, Message,
    Provider, ProviderError, StopReason, ToolCall, ToolSpec,
};
use redline_tests::aimock::Aimock;
use redline_tests::machine;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    let absent = machine::aimock().is_none();
    [
        test(
            "providers::calls_and_results_go_round",
            calls_and_results_go_round,
        ),
        test("providers::reasoning_is_told", reasoning_is_told),
        test(
            "providers::refusals_say_kind_and_wait",
            refusals_say_kind_and_wait,
        ),
        test(
            "providers::broken_answers_are_errors",
            broken_answers_are_errors,
        ),
        test(
            "providers::slow_answers_come_or_time_out",
            slow_answers_come_or_time_out,
        ),
        test(
            "providers::malformed_answers_are_errors",
            malformed_answers_are_errors,
        ),
        test(
            "providers::a_turn_over_each_api_is_reviewed",
            a_turn_over_each_api_is_reviewed,
        ),
    ]
    .into_iter()
    .map(|trial| trial.with_ignored_flag(absent))
    .collect()
}

/// A model whose name the server takes for one that reasons.
const MODEL: &str = "gpt-5-mock";

fn provider(server: &Aimock, api: Api) -> Result<std::sync::Arc<dyn Provider>> {
    provider_with(server, api, |_| {})
}

fn provider_with(
    server: &Aimock,
    api: Api,
    change: impl FnOnce(&mut Connection),
) -> Result<std::sync::Arc<dyn Provider>> {
    let mut connection = Connection {
        name: "mock".to_owned(),
        base_url: server.origin(),
        ..Connection::default()
    };
    change(&mut connection);
    Ok(api.open(connection, ApiOptions::default())?)
}

fn request(messages: Vec<Message>) -> ChatRequest {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    ChatRequest {
        model: MODEL.to_owned(),
        system: "Be brief.".to_owned(),
        messages,
        tools: vec![tool("read_file"), tool("now")],
        ..ChatRequest::default()
    }
}

fn user(text: &str) -> Message {
    Message::User {
        text: text.to_owned(),
    }
}

fn ask(provider: &dyn Provider, messages: Vec<Message>) -> Result<Vec<Event>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let events: Vec<Event> = runtime.block_on(provider.stream(request(messages)).collect());
    let ends = events
        .iter()
        .filter(|event| matches!(event, Event::Done { .. }))
        .count();
    ensure!(ends == 1, "{ends} ends: {events:?}");
    ensure!(
        matches!(events.last(), Some(Event::Done { .. })),
        "{events:?}"
    );
    Ok(events)
}

fn text(events: &[Event]) -> String {
    let pieces = events.iter().filter_map(|event| match event {
        Event::Text { text } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

fn calls(events: &[Event]) -> Vec<ToolCall> {
    let calls = events.iter().filter_map(|event| match event {
        Event::ToolCallReady(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

fn error(events: &[Event]) -> Result<&ProviderError> {
    let found = events.iter().find_map(|event| match event {
        Event::Error(error) => Some(error),
        _ => None,
    });
    found.with_context(|| format!("no error in {events:?}"))
}

fn reason(events: &[Event]) -> Option<StopReason> {
    match events.last() {
        Some(Event::Done { reason }) => Some(*reason),
        _ => None,
    }
}

fn calls_and_results_go_round() -> Result<()> {
    let server = Aimock::start("apis.json")?;
    for api in Api::ALL {
        let provider = provider(&server, api)?;
        let events = ask(provider.as_ref(), vec![user("two tools")])?;
        ensure!(text(&events) == "Let me look 👋.", "{api}: {events:?}");
        ensure!(
            reason(&events) == Some(StopReason::ToolCalls),
            "{api}: {events:?}"
        );
        let calls = calls(&events);
        let read = json!({"path": "src/main.rs"});
        ensure!(calls.len() == 2, "{api}: {calls:?}");
        ensure!(calls[0].name == "read_file", "{api}: {calls:?}");
        ensure!(
            matches!(&calls[0].arguments, Arguments::Json(map) if Value::Object(map.clone()) == read),
            "{api}: {calls:?}"
        );
        ensure!(
            matches!(&calls[1].arguments, Arguments::Json(map) if map.is_empty()),
            "{api}: {calls:?}"
        );

        let mut parts = vec![AssistantPart::Text(text(&events))];
        parts.extend(calls.iter().cloned().map(AssistantPart::ToolCall));
        let mut messages = vec![user("two tools"), Message::Assistant { parts }];
        messages.extend(calls.iter().map(|call| Message::ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: "fn main() {}".to_owned(),
            is_error: false,
        }));
        let events = ask(provider.as_ref(), messages)?;
        ensure!(text(&events) == "Done.", "{api}: {events:?}");
        ensure!(
            reason(&events) == Some(StopReason::End),
            "{api}: {events:?}"
        );
    }
    Ok(())
}

fn reasoning_is_told() -> Result<()> {
    let server = Aimock::start("apis.json")?;
    for api in Api::ALL {
        let events = ask(provider(&server, api)?.as_ref(), vec![user("think")])?;
        let mut reasoning = String::new();
        let mut blocks = Vec::new();
        for event in &events {
            if let Event::Reasoning { text, replay, .. } = event {
                reasoning.push_str(text);
                blocks.extend(replay.clone());
            }
        }
        ensure!(reasoning == "I compute.", "{api}: {events:?}");
        ensure!(text(&events) == "42", "{api}: {events:?}");
        if api == Api::Anthropic {
            let signed = json!({"type": "thinking", "thinking": "I compute.", "signature": "c2ln"});
            ensure!(blocks.contains(&signed), "{blocks:?}");
            ensure!(
                blocks.contains(&json!({"type": "redacted_thinking", "data": "eA=="})),
                "{blocks:?}"
            );
        }
    }
    Ok(())
}

fn refusals_say_kind_and_wait() -> Result<()> {
    let server = Aimock::start("apis.json")?;
    for api in Api::ALL {
        let provider = provider(&server, api)?;
        let events = ask(provider.as_ref(), vec![user("limited")])?;
        let limited = error(&events)?;
        ensure!(
            (limited.kind, limited.retryable, limited.partial)
                == (ErrorKind::RateLimit, true, false),
            "{api}: {limited:?}"
        );
        ensure!(
            limited.retry_after == Some(Duration::from_secs(2)),
            "{api}: {limited:?}"
        );
        let events = ask(provider.as_ref(), vec![user("overloaded")])?;
        let overloaded = error(&events)?;
        ensure!(
            (overloaded.kind, overloaded.retryable) == (ErrorKind::Overloaded, true),
            "{api}: {overloaded:?}"
        );
        ensure!(overloaded.message == "Overloaded", "{api}: {overloaded:?}");
        // Over the other two this server says that an answer is complete even at the limit.
        if matches!(api, Api::Anthropic | Api::OpenAiChat) {
            let events = ask(provider.as_ref(), vec![user("too long")])?;
            ensure!(
                reason(&events) == Some(StopReason::Length),
                "{api}: {events:?}"
            );
        }
    }
    Ok(())
}

fn broken_answers_are_errors() -> Result<()> {
    let server = Aimock::start("apis.json")?;
    for api in Api::ALL {
        let provider = provider(&server, api)?;
        let events = ask(provider.as_ref(), vec![user("cut")])?;
        let cut = error(&events)?;
        ensure!(
            (cut.kind, cut.partial) == (ErrorKind::StreamInterrupted, true),
            "{api}: {cut:?}"
        );
        ensure!(
            text(&events).starts_with("This will be"),
            "{api}: {events:?}"
        );
        ensure!(
            reason(&events) == Some(StopReason::Error),
            "{api}: {events:?}"
        );
        let events = ask(provider.as_ref(), vec![user("drop")])?;
        let dropped = error(&events)?;
        ensure!(dropped.retryable && !dropped.partial, "{api}: {dropped:?}");
        ensure!(text(&events).is_empty(), "{api}: {events:?}");
    }
    Ok(())
}

fn slow_answers_come_or_time_out() -> Result<()> {
    let server = Aimock::start("apis.json")?;
    for api in Api::ALL {
        let patient = provider(&server, api)?;
        let events = ask(patient.as_ref(), vec![user("slow")])?;
        ensure!(text(&events) == "slow and steady", "{api}: {events:?}");
        let hasty = provider_with(&server, api, |connection| {
            connection.http.timeouts.first_byte = Duration::from_millis(100);
            connection.http.timeouts.idle = Duration::from_millis(100);
        })?;
        let events = ask(hasty.as_ref(), vec![user("slow")])?;
        let late = error(&events)?;
        ensure!(
            (late.kind, late.retryable) == (ErrorKind::Timeout, true),
            "{api}: {late:?}"
        );
    }
    Ok(())
}

fn malformed_answers_are_errors() -> Result<()> {
    let server = Aimock::start("apis.json")?;
    server.chaos(&json!({"malformedRate": 1.0}))?;
    for api in Api::ALL {
        let events = ask(provider(&server, api)?.as_ref(), vec![user("plain")])?;
        let error = error(&events)?;
        ensure!(
            !error.message.is_empty() && !error.partial,
            "{api}: {error:?}"
        );
        ensure!(
            reason(&events) == Some(StopReason::Error),
            "{api}: {events:?}"
        );
    }
    Ok(())
}

fn a_turn_over_each_api_is_reviewed() -> Result<()> {
    for api in Api::ALL {
        let server = Aimock::start("each_api.json")?;
        let project = Project::with_files(&[("README.md", "# Greeter\n\nIt says hello.\n")])?;
        project.configure(&format!(
            "model = \"mock/{MODEL}\"\n\n[providers.mock]\napi = \"{api}\"\nbase_url = \"{}\"\n",
            server.origin()
        ))?;
        let answer = project.run(&["ask", "--json", "Greet politely"])?;
        let answer = answer.expect_code(0)?.json()?;
        ensure!(answer["end"] == "done", "{api}: {answer}");
        let id = answer["transaction"]["id"].as_str();
        let id = id
            .or(answer["transaction"]["transaction"].as_str())
            .context("id")?;
        ensure!(
            project.read("README.md")? == "# Greeter\n\nIt says hello.\n",
            "{api}"
        );
        project.run(&["accept", id, "--all"])?.expect_code(0)?;
        ensure!(
            project.read("README.md")? == "# Greeter\n\nIt says good day.\n",
            "{api}"
        );
    }
    Ok(())
}
