//! What the gate costs: a decision with 100 rules (under 1 µs), a list of 10,000 approvals (under 50 ms).
//!
//! References in the same run: hashing the operation that is decided on, and parsing the approvals' file as JSON and no more.
//! Growth: a decision is linear in the tokens, paths and hosts of the operation; the number of rules for other programs does not
//! matter. A list is linear in the approvals when somebody changed the file, and one look at it when nobody did.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a bench"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use divan::{Bencher, black_box};
use redline_tools::gate::{
    Ceiling, Circumstances, Mode, Place, PlanStanding, Policy, RulesSpec, Standing, Target,
    Verdict, effect_of,
};
use redline_tools::{Class, CommandLine, MutationKind, Operation};
use redline_workspace::{
    JournalOptions, NewApproval, RootOptions, SealKey, Shown, Voice, Workspace, WorkspaceOptions,
};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// 100 rules: 40 that allow commands, 20 that deny some, 20 on paths, 20 on hosts.
fn policy() -> Policy {
    let mut allow: Vec<Value> = (0..37)
        .map(|n| json!({"command": format!("tool{n} run")}))
        .collect();
    allow.extend(
        ["git log", "git status", "cargo test"].map(|command| json!({ "command": command })),
    );
    allow.extend((0..10).map(
        |n| json!({"kind": "transaction", "paths": [format!("docs{n}/**"), format!("*.m{n}")]}),
    ));
    allow
        .extend((0..20).map(|n| json!({"kind": "web", "hosts": [format!("host{n}.example.org")]})));
    let mut deny: Vec<Value> = (0..20)
        .map(|n| json!({"command": format!("bad{n}")}))
        .collect();
    deny.extend((0..10).map(|n| json!({"paths": [format!("secret{n}/**")]})));
    let rules: RulesSpec = serde_json::from_value(json!({"allow": allow, "deny": deny})).unwrap();
    assert_eq!(rules.allow.len() + rules.deny.len(), 100);
    Policy::new(Ceiling::Workspace, &rules).unwrap()
}

fn operation(kind: MutationKind, argv: &[&str], paths: &[&str]) -> Operation {
    let owned: Vec<String> = argv.iter().map(|&one| one.to_owned()).collect();
    let class = owned
        .split_first()
        .map_or(Class::Reversible, |(program, arguments)| {
            effect_of(program, arguments, "/home/u/project").class
        });
    Operation {
        tool: "workspace_command".into(),
        kind,
        class,
        reads_only: false,
        arguments: json!({"program": argv.first(), "arguments": argv}),
        paths: paths.iter().map(|&path| path.to_owned()).collect(),
        hosts: Vec::new(),
        command: argv.split_first().map(|(program, arguments)| CommandLine {
            program: (*program).to_owned(),
            resolved: format!("/usr/bin/{program}"),
            revision: "a".repeat(64),
            arguments: arguments.iter().map(|&one| one.to_owned()).collect(),
            env: BTreeMap::new(),
        }),
        base_revisions: BTreeMap::new(),
        workspace: "ws_1".into(),
        session: "se_1".into(),
        cwd: String::new(),
        env_digest: "e".repeat(64),
        summary: argv.join(" "),
    }
}

fn now() -> Circumstances<'static> {
    Circumstances {
        mode: Mode::Manual,
        plan: PlanStanding::NonApproved,
        standing: Standing::Unasked,
        target: Target::Free,
        place: Place {
            root: "/home/u/project",
            git_programs: &[],
        },
    }
}

const CALLS: [&str; 4] = ["git log", "cargo test", "make", "edit docs"];

fn call(name: &str) -> (Operation, Verdict) {
    match name {
        "git log" => (
            operation(
                MutationKind::Command,
                &["git", "log", "--oneline", "-20"],
                &[],
            ),
            Verdict::Allow,
        ),
        "cargo test" => (
            operation(
                MutationKind::Command,
                &["cargo", "test", "-p", "redline", "--", "gate"],
                &[],
            ),
            Verdict::Allow,
        ),
        "make" => (
            operation(MutationKind::Command, &["make", "all"], &[]),
            Verdict::Stage,
        ),
        _ => (
            operation(MutationKind::Transaction, &[], &["docs3/guide/a.txt"]),
            Verdict::Allow,
        ),
    }
}

#[divan::bench(args = CALLS)]
fn decision_with_100_rules(bencher: Bencher<'_, '_>, name: &str) {
    let policy = policy();
    let (operation, expected) = call(name);
    assert_eq!(policy.decide(&operation, &now()).decision.verdict, expected);
    bencher.bench_local(|| policy.decide(black_box(&operation), &now()));
}

#[divan::bench(args = CALLS)]
fn reference_hash_of_the_operation(bencher: Bencher<'_, '_>, name: &str) {
    let (operation, _) = call(name);
    bencher.bench_local(|| black_box(&operation).hash());
}

/// A workspace with so many approvals, all but the last ten settled. In the target folder: a temporary one may live in memory.
struct Ground {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

const APPROVALS: usize = 10_000;

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let workspace = open(folder.path());
        let new = |number: usize| NewApproval {
            id: format!("approval_{number:026}"),
            operation: format!("{number:064}"),
            session: "se_1".into(),
            turn: format!("turn_{}", number / 5),
            call_id: format!("call_{number}"),
            shown: Shown {
                tool: "workspace_command".into(),
                kind: "command".into(),
                class: "outside".into(),
                summary: format!("cargo test -p crate{number}"),
                argv: ["cargo", "test", "-p", "crate"].map(str::to_owned).to_vec(),
                why: "its class is outside, above the ceiling workspace".into(),
                ..Shown::default()
            },
            resume: json!({"tool": "workspace_command", "arguments": {"action": "run", "program": "cargo"}}),
            lifetime_ms: 1 << 40,
        };
        let asked: Vec<NewApproval> = (0..APPROVALS).map(new).collect();
        workspace.approvals().ask_all(asked).unwrap();
        for number in 0..10 {
            let id = format!("approval_{number:026}");
            workspace
                .approvals()
                .decide(&id, Voice::No, "ann", None)
                .unwrap();
        }
        Self { folder, workspace }
    }
}

fn open(folder: &std::path::Path) -> Workspace {
    let options = WorkspaceOptions {
        root: RootOptions::default(),
        key: SealKey::new([1; 32]),
        clock: Arc::new(|| 1_000),
        journal: JournalOptions::default(),
    };
    Workspace::open(folder, options).unwrap().0
}

#[divan::bench(sample_count = 20)]
fn list_10_000_approvals_after_a_restart(bencher: Bencher<'_, '_>) {
    let ground = Ground::new();
    bencher
        .with_inputs(|| open(ground.folder.path()))
        .bench_local_values(|workspace| {
            let all = workspace.approvals().list().unwrap();
            assert_eq!(all.len(), APPROVALS);
            all
        });
}

#[divan::bench(sample_count = 20)]
fn list_10_000_approvals_again(bencher: Bencher<'_, '_>) {
    let ground = Ground::new();
    bencher.bench_local(|| ground.workspace.approvals().list().unwrap());
}

#[divan::bench(sample_count = 20)]
fn reference_parse_10_000_approvals_as_json(bencher: Bencher<'_, '_>) {
    let ground = Ground::new();
    let file = ground.folder.path().join(".agentic/approvals/state.json");
    bencher.bench_local(|| {
        let bytes = std::fs::read(&file).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    });
}

#[divan::bench(sample_count = 20)]
fn decide_one_of_10_000_approvals(bencher: Bencher<'_, '_>) {
    let ground = Ground::new();
    let mut number = 100;
    bencher.bench_local(|| {
        number += 1;
        let id = format!("approval_{number:026}");
        ground
            .workspace
            .approvals()
            .decide(&id, Voice::Yes, "ann", None)
            .unwrap()
    });
}
