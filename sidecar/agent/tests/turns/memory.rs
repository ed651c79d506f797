//! What earlier conversations wrote down stands at the start of a new one, once.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use redline_agent::{Memory, NoLog, Steering, StepContext, TurnEnd};

use crate::server::Server;
use crate::support::*;

struct Remembers;

impl Steering for Remembers {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        Box::pin(std::future::ready(StepContext::default()))
    }

    fn memory(&self) -> BoxFuture<'_, Memory> {
        Box::pin(std::future::ready(Memory {
            text: "Tests run with `just test`.".to_owned(),
            notes: vec!["release".to_owned()],
        }))
    }
}

#[tokio::test]
async fn a_new_conversation_begins_with_the_memory() {
    let answers = vec![says("One."), says("Two.")];
    let server = Server::routes(vec![("/v1/chat/completions", answers)]).await;
    let session = session_with(&project(), Arc::new(Remembers), Arc::new(NoLog), vec![]);
    for _ in 0..2 {
        let (_, end) = run(&session, input(chat(&server))).await;
        assert_eq!(end, TurnEnd::Completed);
    }
    let mut requests = server.requests().await;
    requests.retain(|request| request.head.contains("/chat/completions"));
    let messages = |at: usize| requests[at].body["messages"].clone();
    let first = messages(0)[1]["content"].as_str().unwrap().to_owned();
    assert!(
        first.contains("<memory>") && first.contains("`just test`"),
        "{first}"
    );
    assert!(first.contains("<notes>release</notes>"), "{first}");
    // It is the user's message that carries it, not the system's; and the second prompt does not repeat it.
    assert!(!messages(1)[0].to_string().contains("just test"));
    assert_eq!(messages(1).to_string().matches("`just test`").count(), 1);
}
