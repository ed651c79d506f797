//! What endpoints say of themselves: models, counts, whether they take a key; local servers.

use std::time::Duration;

use redline_providers::registry::{
    Candidate, Credential, Limits, LocalKind, local_servers, survey,
};
use redline_providers::{Api, ApiOptions, Capabilities, Connection, ErrorKind};
use serde_json::{Value, json};

use crate::server::{Close, Server};
use crate::support::{answer, json_answer, provider, request, user};

#[tokio::test]
async fn claude_models_come_in_pages() {
    let page = |id: &str, more: bool| {
        json_answer(
            200,
            &json!({
                "data": [{"type": "model", "id": id, "display_name": "A model", "max_input_tokens": 200_000, "max_tokens": 64_000,
                    "capabilities": {"thinking": {"supported": true}, "image_input": {"supported": true}}}],
                "has_more": more, "last_id": id,
            }),
        )
    };
    let server = Server::routes(vec![(
        "/v1/models",
        vec![page("claude-a", true), page("claude-b", false)],
    )])
    .await;
    let models = provider(&server, Api::Anthropic).models().await.unwrap();
    let ids: Vec<_> = models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["claude-a", "claude-b"]);
    assert_eq!(models[0].context_window, Some(200_000));
    let heads: Vec<String> = server
        .requests()
        .await
        .into_iter()
        .map(|request| request.head)
        .collect();
    assert!(
        heads[0].starts_with("GET /v1/models?limit=1000 "),
        "{}",
        heads[0]
    );
    assert!(heads[1].contains("after_id=claude-a"), "{}", heads[1]);
    assert!(heads[0].contains("anthropic-version"), "{}", heads[0]);
}

#[tokio::test]
async fn what_openai_does_not_say_of_its_models_the_catalog_does() {
    let list = json!({"data": [{"id": "gpt-5-2025-08-07", "object": "model", "owned_by": "openai"}, {"id": "new-model"}]});
    let server = Server::routes(vec![("/v1/models", vec![json_answer(200, &list)])]).await;
    let models = provider(&server, Api::OpenAiResponses)
        .models()
        .await
        .unwrap();
    assert_eq!(models[0].context_window, Some(272_000));
    assert_eq!(models[0].capabilities.reasoning, Some(true));
    assert_eq!(models[1].capabilities, Capabilities::default());
    assert_eq!(models[1].context_window, None);
}

#[tokio::test]
async fn llama_cpp_says_its_context_and_counts() {
    let list =
        json!({"data": [{"id": "smol", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}]});
    let props = json!({"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": false}, "chat_template_caps": {"supports_tools": true}});
    let server = Server::routes(vec![
        ("/v1/models", vec![json_answer(200, &list)]),
        ("/props", vec![json_answer(200, &props)]),
        (
            "/v1/chat/completions/input_tokens",
            vec![json_answer(200, &json!({"input_tokens": 38}))],
        ),
    ])
    .await;
    let provider = provider(&server, Api::OpenAiChat);
    assert_eq!(
        provider.count(&request(vec![user("go")])).await.unwrap(),
        Some(38)
    );
    let models = provider.models().await.unwrap();
    assert_eq!(models[0].context_window, Some(4096));
    assert_eq!(models[0].capabilities.tools, Some(true));
    assert_eq!(models[0].capabilities.images, Some(false));
}

#[tokio::test]
async fn each_server_counts_in_its_own_way_or_not_at_all() {
    let counted = json!({"input_tokens": 7});
    let vllm = json!({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}]});
    let other = json!({"data": [{"id": "m"}]});
    let cases = vec![
        (
            Api::Anthropic,
            vec![("/v1/messages/count_tokens", counted.clone())],
            Some(7),
        ),
        (Api::Anthropic, vec![], None),
        (
            Api::OpenAiResponses,
            vec![("/v1/responses/input_tokens", counted)],
            Some(7),
        ),
        (
            Api::OpenAiChat,
            vec![("/v1/models", vllm), ("/tokenize", json!({"count": 9}))],
            Some(9),
        ),
        (Api::OpenAiChat, vec![("/v1/models", other)], None),
        (Api::Ollama, vec![], None),
    ];
    for (api, routes, expected) in cases {
        let routes = routes
            .into_iter()
            .map(|(path, body)| (path, vec![json_answer(200, &body)]));
        let server = Server::routes(routes.collect()).await;
        let count = provider(&server, api)
            .count(&request(vec![user("go")]))
            .await
            .unwrap();
        assert_eq!(count, expected, "{api}");
        for sent in server.requests().await {
            assert!(
                sent.body.get("stream").is_none() && sent.body.get("max_tokens").is_none(),
                "{}",
                sent.body
            );
        }
    }
}

#[tokio::test]
async fn ollama_says_what_each_model_can_and_which_are_loaded() {
    let show = json!({"model_info": {"general.architecture": "llama", "llama.context_length": 131_072}, "capabilities": ["completion", "tools", "vision"]});
    let server = Server::routes(vec![
        (
            "/api/tags",
            vec![json_answer(
                200,
                &json!({"models": [{"name": "a:latest"}, {"name": "b:7b"}]}),
            )],
        ),
        (
            "/api/ps",
            vec![json_answer(
                200,
                &json!({"models": [{"name": "b:7b", "context_length": 4096}]}),
            )],
        ),
        ("/api/show", vec![json_answer(200, &show)]),
    ])
    .await;
    let models = provider(&server, Api::Ollama).models().await.unwrap();
    let loaded: Vec<_> = models
        .iter()
        .map(|model| (model.id.as_str(), model.loaded))
        .collect();
    assert_eq!(loaded, [("a:latest", Some(false)), ("b:7b", Some(true))]);
    assert_eq!(models[0].context_window, Some(131_072));
    let can = models[0].capabilities;
    assert_eq!(
        (can.tools, can.reasoning, can.images),
        (Some(true), Some(false), Some(true))
    );
}

fn candidate(name: &str, base_url: &str, missing: Option<&str>) -> Candidate {
    let connection = Connection {
        name: name.to_owned(),
        base_url: base_url.to_owned(),
        ..Connection::default()
    };
    Candidate {
        provider: Api::OpenAiChat
            .open(connection, ApiOptions::default())
            .unwrap(),
        missing_key: missing.map(str::to_owned),
    }
}

#[tokio::test]
async fn a_survey_tells_ready_missing_rejected_and_silent_apart() {
    let fine = Server::start(vec![json_answer(200, &json!({"data": [{"id": "m"}]}))]).await;
    let strict = Server::start(vec![json_answer(
        401,
        &json!({"error": {"message": "no", "code": "invalid_api_key"}}),
    )])
    .await;
    let silent = Server::start(vec![answer(200, "application/json", "", Close::Hang)]).await;
    let nowhere = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    let candidates = vec![
        candidate("fine", &fine.base, None),
        candidate("strict", &strict.base, None),
        candidate("keyless", &fine.base, Some("MY_KEY")),
        candidate("silent", &silent.base, None),
        candidate("nowhere", &nowhere, None),
    ];
    let limits = Limits {
        time: Duration::from_millis(300),
        side_by_side: 2,
    };
    let found = survey(candidates, limits).await;
    let told: Vec<_> = found
        .iter()
        .map(|status| {
            (
                status.name.as_str(),
                status.credential.to_string(),
                status.is_reachable(),
            )
        })
        .collect();
    let ready = || Credential::Ready.to_string();
    assert_eq!(
        told,
        [
            ("fine", ready(), true),
            ("strict", "rejected".to_owned(), true),
            ("keyless", "missing MY_KEY".to_owned(), false),
            ("silent", ready(), false),
            ("nowhere", ready(), false),
        ]
    );
    let kind = |at: usize| found[at].models.as_ref().map_err(|error| error.kind);
    assert_eq!(kind(3), Err(ErrorKind::Timeout));
    // The one without a key was not asked.
    assert_eq!(fine.requests().await.len(), 1);
}

#[tokio::test]
async fn a_survey_that_is_dropped_lets_go_of_its_connections() {
    let silent = Server::start(vec![answer(200, "application/json", "", Close::Hang)]).await;
    let candidates = vec![candidate("silent", &silent.base, None)];
    let asked = tokio::spawn(survey(candidates, Limits::default()));
    silent.asked(1).await;
    asked.abort();
    tokio::time::timeout(Duration::from_secs(10), silent.closed(1))
        .await
        .expect("closed");
}

#[tokio::test]
async fn local_servers_are_known_by_what_only_they_say() {
    let says = |path: &'static str, body: Value| async move {
        Server::routes(vec![(path, vec![json_answer(200, &body)])]).await
    };
    let ollama = says("/api/version", json!({"version": "0.13.3"})).await;
    let studio = says(
        "/api/v0/models",
        json!({"data": [{"id": "m", "state": "loaded"}]}),
    )
    .await;
    let llama = says(
        "/props",
        json!({"default_generation_settings": {"n_ctx": 4096}}),
    )
    .await;
    let vllm = says(
        "/v1/models",
        json!({"data": [{"id": "m", "owned_by": "vllm"}]}),
    )
    .await;
    // Some web application of the user's.
    let stranger = Server::start(vec![answer(200, "text/html", "<html></html>", Close::Eof)]).await;
    let other = says("/v1/models", json!({"data": []})).await;
    let port = |server: &Server| {
        server
            .base
            .rsplit(':')
            .next()
            .unwrap()
            .parse::<u16>()
            .unwrap()
    };
    let ports = [
        (LocalKind::Ollama, port(&ollama)),
        (LocalKind::LmStudio, port(&studio)),
        (LocalKind::LlamaCpp, port(&llama)),
        (LocalKind::Vllm, port(&vllm)),
        (LocalKind::LlamaCpp, port(&stranger)),
        (LocalKind::Vllm, port(&other)),
    ];
    let found: Vec<_> = local_servers(&ports)
        .await
        .into_iter()
        .map(|server| (server.kind, server.base_url))
        .collect();
    let expected = [
        (LocalKind::Ollama, ollama.base.clone()),
        (LocalKind::LmStudio, studio.base.clone()),
        (LocalKind::LlamaCpp, llama.base.clone()),
        (LocalKind::Vllm, vllm.base.clone()),
    ];
    assert_eq!(found, expected);
}
