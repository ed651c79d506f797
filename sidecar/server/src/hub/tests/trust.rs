//! What came with a project, over real connections: it widens nothing until it is trusted, and says so.

use redline_protocol::v1;
use serde_json::{Value, json};

use super::agent::{Project, conversing, decide, ends, is_update, results, run, text};
use super::{Client, editor};

const SETTINGS: &str =
    "[permissions]\nmode = \"auto\"\nceiling = \"outside\"\nprotected = [\"*.lock\"]\n";

async fn trust(client: &mut Client) -> v1::TrustResult {
    let listed = client.ask("redline/trust/list", json!({})).await.unwrap();
    serde_json::from_value(listed).unwrap()
}

async fn grant(client: &mut Client) {
    let listed = trust(client).await;
    let items: Vec<Value> = listed
        .items
        .iter()
        .map(|item| json!({"path": item.path, "revision": item.revision}))
        .collect();
    let params = json!({ "items": items });
    let now = client.ask("redline/trust/decide", params).await.unwrap();
    assert!(
        now["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["trusted"] == true)
    );
}

async fn status(client: &mut Client) -> Value {
    client.ask("redline/status", json!({})).await.unwrap()
}

/// Whether the status says that something waits.
fn says(status: &Value) -> bool {
    let notices = status["notices"].as_array().unwrap();
    notices
        .iter()
        .any(|notice| notice.as_str().unwrap().contains("redline trust"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_runs_nothing_until_its_files_are_trusted() {
    let turn = [
        run("touch", &["made.txt"]),
        results(),
        text("Made."),
        ends(),
    ];
    let project = Project::new(&turn);
    std::fs::write(project.root().join("redline.toml"), SETTINGS).unwrap();
    std::fs::write(project.root().join(".env"), "FROM_FILE=it\n").unwrap();
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let before = status(&mut client).await;
    assert_eq!(before["mode"], "manual");
    assert!(says(&before), "{before}");
    client.prompt("Make it").await;
    let approval = client.approval().await;
    assert!(!project.root().join("made.txt").exists());
    decide(&mut client, &approval, "deny").await.unwrap();
    client.turn().await;
    // What narrows holds at once.
    let files = json!({"files": [{"path": "a.lock", "text": "x\n"}]});
    let refused = client
        .ask(
            "redline/transaction/propose",
            json!({"content": files.to_string()}),
        )
        .await
        .unwrap_err();
    assert_eq!(refused["data"]["code"], "PROTECTED_PATH");

    grant(&mut client).await;
    let after = status(&mut client).await;
    assert_eq!(
        (after["mode"].as_str(), says(&after)),
        (Some("auto"), false)
    );
    let begun = client.ask("redline/session/new", json!({})).await.unwrap();
    let env = client.ask("redline/env/list", json!({})).await.unwrap();
    let from_file = env["variables"]
        .as_array()
        .unwrap()
        .iter()
        .find(|variable| variable["name"] == "FROM_FILE")
        .unwrap();
    assert_eq!(from_file["source"], ".env");
    let prompt = json!({
        "sessionId": begun["sessionId"],
        "prompt": [{"type": "text", "text": "Make it"}],
    });
    client.ask("redline/session/prompt", prompt).await.unwrap();
    client.turn().await;
    assert!(project.root().join("made.txt").exists(), "it ran unasked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_asks_again_and_everybody_is_told_once() {
    let project = Project::new(&[text("Hm."), ends()]);
    let settings = project.root().join("redline.toml");
    std::fs::write(&settings, SETTINGS).unwrap();
    let hubs = project.sidecar();
    let mut plain = Client::connect(&hubs, project.root(), editor()).await;
    let warns = |message: &Value| {
        message["method"] == "window/showMessage"
            && message["params"]["message"]
                .as_str()
                .unwrap()
                .contains("redline trust")
    };
    plain.wait(warns).await;
    grant(&mut plain).await;
    assert_eq!(status(&mut plain).await["mode"], "auto");
    std::fs::write(&settings, format!("{SETTINGS}model = \"x/y\"\n")).unwrap();
    // The next client finds it, and the one that is there is told.
    let mut second = Client::connect(&hubs, project.root(), json!({})).await;
    assert_eq!(status(&mut second).await["mode"], "manual");
    plain.wait(warns).await;
    let mut third = Client::connect(&hubs, project.root(), json!({})).await;
    assert!(says(&status(&mut third).await));
    status(&mut plain).await;
    assert!(!plain.notes.iter().any(warns), "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_turn_loses_what_is_no_longer_trusted() {
    let allows = "[permissions]\nallow = [{ command = \"touch\" }]\n";
    let project = Project::new(&[
        run("touch", &["first.txt"]),
        results(),
        run("true", &[]),
        results(),
        run("touch", &["second.txt"]),
        results(),
        ends(),
    ]);
    let settings = project.root().join("redline.toml");
    std::fs::write(&settings, allows).unwrap();
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    grant(&mut client).await;
    client.prompt("Go").await;
    let asked = client.approval().await;
    assert_eq!(asked["command"], json!(["true"]));
    assert!(project.root().join("first.txt").exists(), "it ran unasked");
    std::fs::write(&settings, format!("{allows}#")).unwrap();
    decide(&mut client, &asked, "approve").await.unwrap();
    let asked = client.approval().await;
    assert_eq!(asked["command"], json!(["touch", "second.txt"]));
    decide(&mut client, &asked, "deny").await.unwrap();
    client.turn().await;
    assert!(!project.root().join("second.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn taking_trust_back_narrows_what_runs_and_a_command_alone_trusts_nothing() {
    let project = Project::new(&[text("Hm."), ends()]);
    std::fs::write(project.root().join("redline.toml"), SETTINGS).unwrap();
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let bare = json!({"command": "redline.trust", "arguments": []});
    let listed = client.ask("workspace/executeCommand", bare).await.unwrap();
    assert_eq!(listed["items"][0]["trusted"], false);
    let empty = json!({"command": "redline.trust", "arguments": [{"items": []}]});
    let refused = client
        .ask("workspace/executeCommand", empty)
        .await
        .unwrap_err();
    assert_eq!(refused["data"]["code"], "INVALID_ARGUMENTS");
    grant(&mut client).await;
    client.prompt("Hm").await;
    client.turn().await;
    let revoke = json!({"command": "redline.trust", "arguments": [{"revoke": true}]});
    let now = client
        .ask("workspace/executeCommand", revoke)
        .await
        .unwrap();
    assert_eq!(now["items"][0]["trusted"], false);
    assert_eq!(status(&mut client).await["mode"], "manual");
    let narrowed = |message: &Value| {
        is_update(message, |update| {
            update["sessionUpdate"] == "current_mode_update" && update["currentModeId"] == "manual"
        })
    };
    client.wait(narrowed).await;
}
