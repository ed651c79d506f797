//! What a server or a model refuses by name is left out from then on, and the request goes through.

use futures_util::StreamExt;
use redline_providers::{Api, AssistantPart, Event, Message, StopReason};
use serde_json::{Value, json};

use crate::server::{Answer, Close, Server};
use crate::support::{answer, connection, ends, json_answer, provider, request, user};

fn messages_answer() -> Answer {
    json_answer(
        200,
        &json!({"type": "message", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}),
    )
}

fn responses_answer() -> Answer {
    let item =
        json!({"type": "message", "id": "m", "content": [{"type": "output_text", "text": "ok"}]});
    json_answer(200, &json!({"status": "completed", "output": [item]}))
}

fn ollama_answer() -> Answer {
    json_answer(
        200,
        &json!({"message": {"content": "ok"}, "done": true, "done_reason": "stop"}),
    )
}

fn refusal(message: &str, param: &str) -> Answer {
    json_answer(
        400,
        &json!({"error": {"type": "invalid_request_error", "message": message, "param": param}}),
    )
}

async fn bodies(server: &Server) -> Vec<Value> {
    let requests = server.requests().await;
    requests.into_iter().map(|request| request.body).collect()
}

#[tokio::test]
async fn anthropic_is_asked_in_its_way() {
    let server = Server::start(vec![messages_answer()]).await;
    let mut asked = request(vec![user("go")]);
    asked.system = "Be brief.".to_owned();
    asked.reasoning_effort = Some("high".to_owned());
    assert_eq!(
        ends(provider(&server, Api::Anthropic).as_ref(), asked).await,
        StopReason::End
    );
    let sent = &server.requests().await[0];
    assert!(
        sent.head.starts_with("POST /v1/messages HTTP/1.1"),
        "{}",
        sent.head
    );
    assert!(
        sent.head.contains("anthropic-version: 2023-06-01"),
        "{}",
        sent.head
    );
    assert!(sent.head.contains("x-api-key: sk-canary"), "{}", sent.head);
    assert!(!sent.head.contains("authorization"), "{}", sent.head);
    let expected = json!({
        "model": "m",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}],
        "system": "Be brief.",
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
        "cache_control": {"type": "ephemeral"},
        "max_tokens": 32000,
        "stream": true,
    });
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn the_version_of_the_api_is_the_configured_one() {
    let server = Server::start(vec![messages_answer()]).await;
    let options = redline_providers::ApiOptions {
        version: Some("2026-10-21".to_owned()),
        ..redline_providers::ApiOptions::default()
    };
    let provider = Api::Anthropic.open(connection(&server), options).unwrap();
    ends(provider.as_ref(), request(vec![user("go")])).await;
    assert!(
        server.requests().await[0]
            .head
            .contains("anthropic-version: 2026-10-21")
    );
}

#[tokio::test]
async fn what_a_claude_model_refuses_is_left_out_for_that_model() {
    let server = Server::start(vec![
        refusal("adaptive thinking is not supported on this model", ""),
        refusal(
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m",
            "",
        ),
        refusal("cache_control: Extra inputs are not permitted", ""),
        messages_answer(),
    ])
    .await;
    let provider = provider(&server, Api::Anthropic);
    for model in ["m", "m", "other"] {
        let mut asked = request(vec![user("go")]);
        asked.model = model.to_owned();
        assert_eq!(ends(provider.as_ref(), asked).await, StopReason::End);
    }
    let bodies = bodies(&server).await;
    let told = |body: &Value| {
        (
            body.get("thinking").is_some(),
            body["max_tokens"].as_u64(),
            body.get("cache_control").is_some(),
        )
    };
    let seen: Vec<_> = bodies.iter().map(told).collect();
    let (most, limit) = (Some(32_000), Some(8192));
    assert_eq!(
        seen,
        [
            (true, most, true),
            (false, most, true),
            (false, limit, true),
            (false, limit, false),
            (false, limit, false),
            (true, most, true),
        ]
    );
}

#[tokio::test]
async fn responses_are_asked_for_without_storing_anything() {
    let server = Server::start(vec![responses_answer()]).await;
    let mut asked = request(vec![user("go")]);
    asked.system = "Be brief.".to_owned();
    asked.max_output_tokens = Some(100);
    asked.reasoning_effort = Some("low".to_owned());
    assert_eq!(
        ends(provider(&server, Api::OpenAiResponses).as_ref(), asked).await,
        StopReason::End
    );
    let expected = json!({
        "model": "m",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}],
        "instructions": "Be brief.",
        "reasoning": {"effort": "low", "summary": "auto"},
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 100,
    });
    assert_eq!(bodies(&server).await[0], expected);
}

#[tokio::test]
async fn reasoning_that_cannot_be_decrypted_is_left_out_and_stays_out() {
    let server = Server::start(vec![
        json_answer(400, &json!({"error": {"code": "invalid_encrypted_content", "message": "The encrypted content could not be verified."}})),
        responses_answer(),
    ])
    .await;
    let provider = provider(&server, Api::OpenAiResponses);
    let reasoning = |id: &str| AssistantPart::Reasoning {
        text: String::new(),
        replay: Some(
            json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "E"}),
        ),
    };
    let said = || AssistantPart::Text("a".to_owned());
    let mut messages = vec![
        user("go"),
        Message::Assistant {
            parts: vec![reasoning("rs_1"), said()],
        },
        user("on"),
    ];
    assert_eq!(
        ends(provider.as_ref(), request(messages.clone())).await,
        StopReason::End
    );
    messages.push(Message::Assistant {
        parts: vec![reasoning("rs_2"), said()],
    });
    messages.push(user("more"));
    assert_eq!(
        ends(provider.as_ref(), request(messages)).await,
        StopReason::End
    );
    let kept: Vec<Vec<String>> = bodies(&server)
        .await
        .iter()
        .map(|body| {
            let items = body["input"].as_array().unwrap().iter();
            items
                .filter_map(|item| item["id"].as_str().map(str::to_owned))
                .collect()
        })
        .collect();
    assert_eq!(
        kept,
        [vec!["rs_1".to_owned()], vec![], vec!["rs_2".to_owned()]]
    );
}

#[tokio::test]
async fn a_model_that_does_not_reason_is_not_asked_to() {
    let server = Server::start(vec![
        refusal(
            "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
            "reasoning.summary",
        ),
        refusal(
            "Encrypted content is not supported with this model.",
            "include",
        ),
        responses_answer(),
    ])
    .await;
    let provider = provider(&server, Api::OpenAiResponses);
    assert_eq!(
        ends(provider.as_ref(), request(vec![user("go")])).await,
        StopReason::End
    );
    let last = bodies(&server).await.pop().unwrap();
    assert!(
        last.get("reasoning").is_none() && last.get("include").is_none(),
        "{last}"
    );
}

#[tokio::test]
async fn ollama_is_asked_for_a_context_that_holds_the_conversation() {
    let show = json!({
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
        "capabilities": ["completion", "tools"],
    });
    let refused = json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 20_000, "n_ctx": 16_384}});
    let refused = json_answer(400, &json!({"error": refused.to_string()}));
    let server = Server::routes(vec![
        ("/api/show", vec![json_answer(200, &show)]),
        ("/api/chat", vec![refused, ollama_answer()]),
    ])
    .await;
    let provider = provider(&server, Api::Ollama);
    for _ in 0..2 {
        let mut asked = request(vec![user("go")]);
        asked.reasoning_effort = Some("high".to_owned());
        assert_eq!(ends(provider.as_ref(), asked).await, StopReason::End);
    }
    let bodies = bodies(&server).await;
    assert_eq!(bodies[0], json!({"model": "m"}));
    let contexts: Vec<_> = bodies[1..]
        .iter()
        .map(|body| body["options"]["num_ctx"].as_u64().unwrap())
        .collect();
    // Raised once the server had counted, up to the window; not lowered, and the model is asked about once.
    assert_eq!(contexts, [16_384, 32_768, 32_768]);
    assert_eq!(bodies[1]["truncate"], json!(false));
    // The model cannot think, so it is not asked to.
    assert!(bodies[1].get("think").is_none());
}

#[tokio::test]
async fn a_refusal_that_names_nothing_known_is_handed_on() {
    for api in Api::ALL {
        let server =
            Server::start(vec![refusal("messages: roles must alternate", "messages")]).await;
        assert_eq!(
            ends(provider(&server, api).as_ref(), request(vec![user("go")])).await,
            StopReason::Error
        );
        let asked = server.requests().await.len();
        // Ollama was asked about the model too.
        assert_eq!(asked, if api == Api::Ollama { 2 } else { 1 }, "{api}");
    }
}

#[tokio::test]
async fn what_gateways_want_back_goes_back_where_it_stood() {
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!({"index": 0, "id": "call_1", "extra_content": signature,
        "function": {"name": "read", "arguments": "{}"}});
    let deltas = [
        json!({"reasoning": "I ", "reasoning_details": [{"type": "reasoning.text", "text": "I ", "index": 0}]}),
        json!({"reasoning": "look", "reasoning_details": [{"type": "reasoning.text", "text": "look", "index": 0}]}),
        json!({"reasoning_details": [{"type": "reasoning.text", "signature": "sig", "index": 0}]}),
        json!({"content": "Wait."}),
        json!({"tool_calls": [call]}),
    ];
    let mut body: String = deltas
        .iter()
        .map(|delta| {
            format!(
                "data: {}\n\n",
                json!({"choices": [{"index": 0, "delta": delta}]})
            )
        })
        .collect();
    body.push_str("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
    let last = json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]});
    let server = Server::start(vec![
        answer(200, "text/event-stream", &body, Close::Eof),
        json_answer(200, &last),
    ])
    .await;
    let provider = provider(&server, Api::OpenAiChat);
    let events: Vec<Event> = provider.stream(request(vec![user("go")])).collect().await;
    let parts: Vec<AssistantPart> = events
        .iter()
        .filter_map(|event| match event {
            Event::Text { text } => Some(AssistantPart::Text(text.clone())),
            Event::Opaque(block) => Some(AssistantPart::Opaque(block.clone())),
            Event::ToolCallReady(call) => Some(AssistantPart::ToolCall(call.clone())),
            _ => None,
        })
        .collect();
    let next = request(vec![user("go"), Message::Assistant { parts }]);
    let _: Vec<Event> = provider.stream(next).collect().await;
    let sent = server.requests().await[1].body["messages"][1].clone();
    assert_eq!(
        sent,
        json!({
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [{"id": "call_1", "type": "function", "extra_content": signature,
                "function": {"name": "read", "arguments": "{}"}}],
            "reasoning_details": [{"type": "reasoning.text", "text": "I look", "index": 0, "signature": "sig"}],
        })
    );
}
