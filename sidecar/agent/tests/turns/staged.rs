//! Calls that wait for the user: approved, denied, stopped; and what the turn does meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use futures_util::future::BoxFuture;
use redline_agent::{
    AutoCommit, NoLog, Session, Steering, StepContext, TurnEnd, TurnEvent, TurnEventKind,
};
use redline_providers::Message;
use redline_tools::gate::{Admission, Claim, GatedCall, Gatekeeper, Start};
use redline_tools::{
    CallContext, Class, Envelope, ErrorCode, MutationKind, Operation, Schema, Status, Tool,
    ToolError,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::support::*;

/// A tool whose calls are mutations; it notes what really ran.
struct Deploy {
    schema: Schema,
    ran: Mutex<Vec<Value>>,
}

impl Deploy {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            schema: Schema::compile("deploy", json!({"type": "object"})).unwrap(),
            ran: Mutex::default(),
        })
    }
}

impl Tool for Deploy {
    fn name(&self) -> &str {
        "deploy"
    }
    fn description(&self) -> &str {
        "Deploys."
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn mutates(&self) -> bool {
        true
    }
    fn operation(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<Operation>, ToolError> {
        Ok(Some(Operation {
            tool: "deploy".to_owned(),
            kind: MutationKind::Command,
            class: Class::Outside,
            reads_only: false,
            arguments: Value::Object(arguments.clone()),
            paths: Vec::new(),
            hosts: Vec::new(),
            command: None,
            base_revisions: BTreeMap::new(),
            workspace: "ws_1".to_owned(),
            session: context.session.to_owned(),
            cwd: String::new(),
            env_digest: String::new(),
            summary: format!("deploy to {}", arguments["to"].as_str().unwrap_or("?")),
        }))
    }
    fn call(
        &self,
        _: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        self.ran
            .lock()
            .unwrap()
            .push(Value::Object(arguments.clone()));
        Ok(Envelope::ok("deploy", "done", Value::Null))
    }
}

/// What a person says to `approval_1`, `approval_2`, …
#[derive(Clone)]
struct Person {
    answer: watch::Sender<BTreeMap<String, bool>>,
    asked: Arc<Mutex<u32>>,
}

impl Person {
    fn new() -> Self {
        Self {
            answer: watch::Sender::default(),
            asked: Arc::default(),
        }
    }

    fn says(&self, approval: &str, yes: bool) {
        self.answer.send_modify(|all| {
            all.insert(approval.to_owned(), yes);
        });
    }
}

impl Gatekeeper for Person {
    fn admit(&self, call: &GatedCall<'_>, operation: &Operation) -> Admission {
        if let Some(approval) = call.resumes {
            return match self.answer.borrow().get(approval) {
                Some(true) => Admission::Run(Some(Claim {
                    approval: approval.to_owned(),
                    operation: operation.hash(),
                })),
                _ => Admission::Refused(ToolError::new(ErrorCode::ApprovalDenied, "no")),
            };
        }
        let mut asked = self.asked.lock().unwrap();
        *asked += 1;
        let mut envelope =
            Envelope::ok(call.tool, "pending", json!({"summary": operation.summary}))
                .with_id("approval", format!("approval_{asked}"));
        envelope.status = Status::PendingApproval;
        Admission::Staged(Box::new(envelope))
    }

    fn settle(&self, _: Claim, start: Start) {
        assert_eq!(start, Start::Began);
    }
}

impl Steering for Person {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        Box::pin(std::future::ready(StepContext::default()))
    }

    fn decided<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()> {
        let mut answers = self.answer.subscribe();
        Box::pin(async move {
            answers.wait_for(|all| all.contains_key(id)).await.unwrap();
        })
    }
}

fn session(person: &Person, tool: &Arc<Deploy>) -> Arc<Session> {
    let view = project();
    let tools: Vec<Arc<dyn Tool>> = vec![tool.clone()];
    let gate = Arc::new(person.clone());
    gated(&view, gate.clone(), gate, Arc::new(NoLog), tools)
}

/// Runs the turn; says `answers` as soon as each approval is asked for.
async fn answered(
    session: &Arc<Session>,
    lines: &[Value],
    person: &Person,
    answers: &[bool],
) -> Vec<TurnEvent> {
    let (sink, mut events) = channel();
    let turn = session.run_turn(input(replay(lines)), sink, CancellationToken::new());
    let watch = async {
        let mut all = Vec::new();
        while let Some(event) = events.recv().await {
            if let TurnEventKind::ToolStaged { waits_for, .. } = &event.kind {
                let number: usize = waits_for["approval_".len()..].parse().unwrap();
                person.says(waits_for, answers[number - 1]);
            }
            let is_last = matches!(event.kind, TurnEventKind::Ended { .. });
            all.push(event);
            if is_last {
                break;
            }
        }
        all
    };
    let (end, all) = tokio::join!(turn, watch);
    check_order(&all, &end.unwrap());
    all
}

fn two_deploys() -> Vec<Value> {
    vec![
        call("deploy", json!({"to": "one"})),
        call("deploy", json!({"to": "two"})),
        results(),
        text("ok"),
        ends(),
    ]
}

fn kinds(events: Vec<TurnEvent>) -> Vec<TurnEventKind> {
    events.into_iter().map(|event| event.kind).collect()
}

#[tokio::test]
async fn what_was_approved_runs_and_what_was_denied_is_told() {
    let (person, tool) = (Person::new(), Deploy::new());
    let session = session(&person, &tool);
    let events = answered(&session, &two_deploys(), &person, &[true, false]).await;
    expect![[r#"
        step 1
        run deploy
        staged deploy to one
        run deploy
        done deploy done
        run deploy
        staged deploy to two
        run deploy
        done deploy APPROVAL_DENIED
        step 2
        text "ok"
        end {"reason":"completed"}
    "#]]
    .assert_eq(&outline(&kinds(events)));
    assert_eq!(*tool.ran.lock().unwrap(), [json!({"to": "one"})]);
    // The model reads one result for each call, and never the one that stood in for it.
    let results: Vec<String> = session
        .history()
        .into_iter()
        .filter_map(|message| match message {
            Message::ToolResult { content, .. } => Some(content),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 2);
    assert!(results[0].contains(r#""status":"ok""#), "{results:?}");
    assert!(results[1].contains("APPROVAL_DENIED"), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn the_users_time_to_think_is_not_the_turns() {
    let (person, tool) = (Person::new(), Deploy::new());
    let session = session(&person, &tool);
    let lines = [
        call("deploy", json!({"to": "x"})),
        results(),
        text("ok"),
        ends(),
    ];
    let mut input = input(replay(&lines));
    input.budget.time = Duration::from_secs(60);
    let (sink, _events) = channel();
    let turn = session.run_turn(input, sink, CancellationToken::new());
    let answer = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        person.says("approval_1", true);
    };
    let (end, ()) = tokio::join!(turn, answer);
    assert_eq!(end.unwrap(), TurnEnd::Completed);
    assert_eq!(tool.ran.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_waits_is_cancelled_at_once_and_runs_nothing() {
    let (person, tool) = (Person::new(), Deploy::new());
    let session = session(&person, &tool);
    let (sink, mut events) = channel();
    let cancel = CancellationToken::new();
    let turn = session.run_turn(input(replay(&two_deploys())), sink, cancel.clone());
    let watch = async {
        let mut all = Vec::new();
        let mut began = None;
        while let Some(event) = events.recv().await {
            if matches!(event.kind, TurnEventKind::ToolStaged { .. }) {
                began = Some(tokio::time::Instant::now());
                cancel.cancel();
            }
            let is_last = matches!(event.kind, TurnEventKind::Ended { .. });
            all.push(event);
            if is_last {
                break;
            }
        }
        assert!(began.unwrap().elapsed() <= Duration::from_millis(200));
        all
    };
    let (end, all) = tokio::join!(turn, watch);
    assert_eq!(end.unwrap(), TurnEnd::Cancelled);
    check_order(&all, &TurnEnd::Cancelled);
    person.says("approval_1", true);
    assert!(tool.ran.lock().unwrap().is_empty());
    let outline = outline(&kinds(all));
    assert_eq!(
        outline.matches("done deploy CANCELLED").count(),
        2,
        "{outline}"
    );
}

/// Commits at the end of a turn, or says why not.
struct Auto(AutoCommit);

impl Steering for Auto {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        Box::pin(std::future::ready(StepContext::default()))
    }

    fn commit_edits(&self) -> BoxFuture<'_, Option<AutoCommit>> {
        Box::pin(std::future::ready(Some(self.0.clone())))
    }
}

#[tokio::test]
async fn a_turn_says_what_became_of_its_own_edits_before_it_ends() {
    for (is_committed, said) in [(true, "committed 2 files"), (false, "notice 2 files")] {
        let steering = Arc::new(Auto(AutoCommit {
            transaction_id: "tx_1".to_owned(),
            text: "2 files".to_owned(),
            is_committed,
        }));
        let session = session_with(&project(), steering, Arc::new(NoLog), Vec::new());
        let (events, _) = run(&session, input(replay(&[text("ok"), ends()]))).await;
        let outline = outline(&events);
        assert!(
            outline.ends_with(&format!("{said}\nend {{\"reason\":\"completed\"}}\n")),
            "{outline}"
        );
    }
}
