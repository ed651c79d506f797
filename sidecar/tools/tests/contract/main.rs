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
mod durable;
mod families;
mod gate;
#[path = "../support/view.rs"]
mod view;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use redline_tools::gate::ClosedGate;
use redline_tools::{
    CallContext, Envelope, ToolSet, WorkspaceCommand, WorkspaceNotes, WorkspacePlan,
    workspace_tools,
};
use redline_workspace::{Ids, JournalOptions, RootOptions, SealKey, Workspace, WorkspaceOptions};
use serde_json::{Map, Value};

use view::FolderView;

/// Ids that count.
#[derive(Default)]
pub struct Numbers(AtomicU64);

impl Ids for Numbers {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// The workspace that a view shows.
pub fn workspace(view: &FolderView) -> Workspace {
    let options = WorkspaceOptions {
        root: RootOptions::default(),
        key: SealKey::new([5; 32]),
        clock: Arc::new(|| 1_000),
        journal: JournalOptions::default(),
    };
    Workspace::open(view.path(), options).unwrap().0
}

/// All tools, over the workspace that a view shows. Commands get no further than the gate here, so their jobs may be those of
/// another folder.
pub fn tools(view: &FolderView) -> ToolSet {
    static HOST: LazyLock<(FolderView, Arc<command::Host>)> = LazyLock::new(|| {
        let view = FolderView::new(&[]);
        let host = command::Host::new(&view);
        (view, host)
    });
    let workspace = workspace(view);
    let mut tools = workspace_tools().unwrap();
    tools.push(Arc::new(WorkspaceCommand::new(HOST.1.clone()).unwrap()));
    let plan = WorkspacePlan::new(
        workspace.plans().clone(),
        Arc::new(Numbers::default()),
        Arc::new(|_| {}),
    );
    tools.push(Arc::new(plan.unwrap()));
    tools.push(Arc::new(WorkspaceNotes::new(workspace.notes()).unwrap()));
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
    tools(view).run(&context, tool, arguments)
}
