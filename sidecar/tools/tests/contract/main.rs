//! Every tool: any arguments give an envelope with a code and a hint, and nothing outside is touched.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods
)]

mod any_arguments;
mod command;
mod families;
#[path = "../support/view.rs"]
mod view;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use redline_tools::gate::ClosedGate;
use redline_tools::{CallContext, Envelope, ToolSet, WorkspaceCommand, workspace_tools};
use serde_json::{Map, Value};

use view::FolderView;

/// All tools. Commands get no further than the gate here, so their jobs may be those of another folder.
pub fn tools() -> ToolSet {
    static HOST: LazyLock<(FolderView, Arc<command::Host>)> = LazyLock::new(|| {
        let view = FolderView::new(&[]);
        let host = command::Host::new(&view);
        (view, host)
    });
    let mut tools = workspace_tools().unwrap();
    tools.push(Arc::new(WorkspaceCommand::new(HOST.1.clone()).unwrap()));
    ToolSet::new(tools).unwrap()
}

/// Runs one call.
pub fn run(view: &FolderView, tool: &str, arguments: Value) -> Envelope {
    let Value::Object(arguments) = arguments else {
        panic!("an object")
    };
    run_map(view, tool, &arguments)
}

/// Runs one call.
pub fn run_map(view: &FolderView, tool: &str, arguments: &Map<String, Value>) -> Envelope {
    let cancel = AtomicBool::new(false);
    let context = CallContext {
        view,
        gate: &ClosedGate,
        session: "se_1",
        turn: "turn_1",
        call_id: "call_1",
        resumes: None,
        admitted: None,
        cancel: &cancel,
    };
    tools().run(&context, tool, arguments)
}
