//! Decisions over real connections: plans, and what a prompt decides before any model sees it.

use serde_json::{Value, json};

use super::agent::{Project, call, conversing, ends, results, run, said, text};
use super::{Client, editor};

fn plan(commands: &[&[&str]]) -> Value {
    call(
        "workspace_plan",
        json!({
            "action": "propose", "title": "Make it", "steps": ["Make the file"],
            "kinds": ["command"], "commands": commands,
        }),
    )
}

impl Client {
    async fn plan(&mut self, state: &str) -> Value {
        let wanted = |message: &Value| {
            message["method"] == "redline/plan/changed"
                && message["params"]["plans"][0]["state"] == state
        };
        let message = self.wait(wanted).await;
        message["params"]["plans"][0].clone()
    }

    async fn say(&mut self, text: &str) -> Result<Value, Value> {
        self.ask("redline/session/prompt", json!({ "text": text }))
            .await
    }
}

/// The text of the only prompt that a recording was asked with.
fn asked(updates: &[Value]) -> String {
    let prompt = updates
        .iter()
        .find(|update| update["sessionUpdate"] == "user_message");
    prompt.unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_waits_for_its_decision_and_then_lets_through_what_it_lists() {
    let project = Project::new(&[
        plan(&[&["touch"]]),
        results(),
        run("touch", &["made.txt"]),
        results(),
        run("mkdir", &["other"]),
        results(),
        text("Done."),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let begun = client.say("/plan Make it").await.unwrap();
    assert_eq!(begun["message"], "the mode is plan now");
    let shown = client.plan("proposed").await;
    assert_eq!(shown["commands"], json!([["touch"]]));
    let markdown = shown["text"].as_str().unwrap();
    assert!(
        markdown.contains("- commands that begin with: `touch`"),
        "{markdown}"
    );
    let document = shown["uri"]
        .as_str()
        .unwrap()
        .strip_prefix("file://")
        .unwrap();
    assert_eq!(std::fs::read_to_string(document).unwrap(), markdown);
    client
        .wait(|message| {
            super::agent::is_update(message, |update| update["state"] == "requires_action")
        })
        .await;
    let stale = json!({"planId": shown["id"], "revision": 99, "decision": "accept"});
    let stale = client.ask("redline/plan/decide", stale).await.unwrap_err();
    assert_eq!(stale["data"]["code"], "APPROVAL_STALE", "{stale}");
    let accept =
        json!({"planId": shown["id"], "revision": shown["revision"], "decision": "accept"});
    let accepted = client
        .ask("redline/plan/decide", accept.clone())
        .await
        .unwrap();
    assert_eq!(
        (&accepted["state"], &accepted["decidedBy"]),
        (&json!("approved"), &json!("test"))
    );
    let twice = client.ask("redline/plan/decide", accept).await.unwrap_err();
    assert_eq!(twice["data"]["code"], "ALREADY_SETTLED", "{twice}");
    // What the plan lists runs unasked; what it does not list is asked about.
    let approval = client.approval().await;
    assert_eq!(approval["command"], json!(["mkdir", "other"]));
    assert!(project.root().join("made.txt").exists());
    let denied = client.say("/deny not that").await.unwrap();
    assert_eq!(denied["turnId"], "");
    let message = denied["message"].as_str().unwrap();
    assert!(
        message.starts_with("denied: ") && message.contains("mkdir other"),
        "{message}"
    );
    assert_eq!(said(&client.turn().await), "Done.");
    assert!(!project.root().join("other").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_decides_before_any_model_sees_it() {
    let project = Project::new(&[
        run("touch", &["made.txt"]),
        results(),
        text("One."),
        ends(),
        json!({"event": "prompt"}),
        text("Two."),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let nothing = client.say("/accept").await.unwrap_err();
    assert_eq!(nothing["data"]["code"], "NOTHING_PENDING", "{nothing}");
    let unknown = client.say("/mode yolo\nGo").await.unwrap_err();
    assert_eq!(unknown["data"]["code"], "INVALID_ARGUMENTS", "{unknown}");
    let told = client.say("/mode").await.unwrap();
    assert_eq!(told["message"], "the mode is manual");

    client.say("Make it").await.unwrap();
    let approval = client.approval().await;
    // A turn runs: with text left over the whole prompt is refused, and nothing of it is done.
    let busy = client.say("/accept\nAnd then go on").await.unwrap_err();
    assert_eq!(busy["data"]["code"], "BUSY", "{busy}");
    let id = approval["id"].as_str().unwrap();
    let accepted = client.say(&format!("/accept {id} go ahead")).await.unwrap();
    let message = accepted["message"].as_str().unwrap();
    assert!(message.starts_with("accepted: "), "{message}");
    assert_eq!(said(&client.turn().await), "One.");
    assert!(project.root().join("made.txt").exists());
    let twice = client.say(&format!("/deny {id}")).await.unwrap_err();
    assert_eq!(twice["data"]["code"], "ALREADY_SETTLED", "{twice}");

    // What is left of a prompt is all that the model reads; the mode that it runs in is told.
    let begun = client.say("/mode auto\nGo on").await.unwrap();
    assert_eq!(begun["message"], "the mode is auto now");
    let told = client.turn().await;
    assert_eq!(said(&told), "Two.");
    let asked = asked(&told);
    assert!(!asked.contains("/mode"), "{asked}");
    assert!(asked.ends_with("Go on"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_editor_is_shown_a_plan_and_answers_it_by_a_command() {
    let project = Project::new(&[plan(&[&["touch"]]), results(), text("Seen."), ends()]);
    let hubs = project.sidecar();
    let mut capabilities = editor();
    capabilities["window"] = json!({"showDocument": {"support": true}});
    let mut client = Client::connect(&hubs, project.root(), capabilities).await;
    client.open("a.txt", "one\ntwo\nthree\n").await;
    let ask = json!({"command": "redline.ask", "arguments": ["/plan Make it"]});
    client.ask("workspace/executeCommand", ask).await.unwrap();
    let shown = client
        .wait(|message| message["method"] == "window/showDocument")
        .await;
    let uri = shown["params"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("/plan.md"), "{uri}");
    client
        .wait(|message| {
            let diagnostics = message["params"]["diagnostics"].as_array();
            let mut all = diagnostics.into_iter().flatten();
            all.any(|diagnostic| diagnostic["code"] == "plan")
        })
        .await;
    let reject = json!({"command": "redline.rejectPlan", "arguments": []});
    let rejected = client
        .ask("workspace/executeCommand", reject)
        .await
        .unwrap();
    assert_eq!(rejected["state"], "rejected");
    client
        .wait(|message| {
            let text = message["params"]["message"].as_str().unwrap_or_default();
            message["method"] == "window/showMessage" && text.contains("done, nothing to review")
        })
        .await;
}
