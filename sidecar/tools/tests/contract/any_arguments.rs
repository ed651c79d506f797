//! Arguments that nobody meant: wrong types, missing and unknown names, huge strings, NUL, hostile paths.

use proptest::prelude::*;
use redline_tools::{PROTOCOL, Status};
use serde_json::{Map, Value, json};

use crate::view::FolderView;
use crate::{run_map, tools};

const HOSTILE: &[&str] = &[
    "",
    ".",
    "..",
    "/",
    "//",
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "a\0b",
    "\0",
    "C:\\x",
    "con",
    "a//b",
    "a/./b",
    ".git/config",
    ".agentic/journal.ndjson",
    "link/secret",
    "src/main.rs",
    "src",
    "~",
    "~root",
    "file:///etc/passwd",
    "\u{202e}gpj.sr",
    "a\nb",
    "%2e%2e/x",
    "é",
    "e\u{301}",
    "..\u{2215}..",
    "-rf",
    "*",
    "[",
    "**/*",
    "(",
    "a{1,100000}",
    "\u{feff}",
    "nul\r\n",
];

/// A string that a hostile or confused model could send.
fn any_string() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => proptest::sample::select(HOSTILE).prop_map(|text| json!(text)),
        2 => any::<String>().prop_map(Value::String),
        1 => (1usize..300_000).prop_map(|len| json!("x".repeat(len))),
        1 => (1usize..2_000).prop_map(|depth| json!("../".repeat(depth))),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        any_string(),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((any_name(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

const KNOWN: &[&str] = &[
    "path",
    "start_line",
    "end_line",
    "numbered",
    "pattern",
    "regex",
    "case_sensitive",
    "glob",
    "context",
    "limit",
    "depth",
    "ignored",
    "edits",
    "patch",
    "rationale",
    "search",
    "replace",
    "replace_all",
    "content",
    "overwrite",
    "delete",
    "rename_to",
    "action",
    "program",
    "arguments",
    "cwd",
    "env",
    "stdin",
    "job_id",
    "timeout_seconds",
];

/// Mostly names that some tool knows, so that the calls get past the first check.
fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => proptest::sample::select(KNOWN).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// A value of the type that the schema asks for: arguments that pass the check and mean nothing.
fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(options) = schema["enum"].as_array() {
        return proptest::sample::select(options.clone()).boxed();
    }
    if let Some(words) = schema["enum"].as_array() {
        return proptest::sample::select(words.clone()).boxed();
    }
    match schema["type"].as_str() {
        Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
        Some("number") => (0.0f64..3.0).prop_map(|number| json!(number)).boxed(),
        Some("integer") => {
            let low = schema["minimum"].as_i64().unwrap_or(0);
            let high = schema["maximum"].as_i64().unwrap_or(100).min(low + 3000);
            (low..=high).prop_map(|number| json!(number)).boxed()
        }
        Some("array") => proptest::collection::vec(fitting(&schema["items"]), 1..4)
            .prop_map(Value::Array)
            .boxed(),
        Some("object") => {
            let required: Vec<String> = schema["required"]
                .as_array()
                .map(|names| {
                    names
                        .iter()
                        .map(|name| name.as_str().unwrap().to_owned())
                        .collect()
                })
                .unwrap_or_default();
            let fields: Vec<_> = schema["properties"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, inner)| {
                    let always = required.contains(name);
                    let name = name.clone();
                    (proptest::bool::weighted(0.4), fitting(inner)).prop_map(
                        move |(with, value)| (always || with).then(|| (name.clone(), value)),
                    )
                })
                .collect();
            fields
                .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect()))
                .boxed()
        }
        _ => any_string().boxed(),
    }
}

fn project() -> FolderView {
    let view = FolderView::new(&[
        ("src/main.rs", "fn main() {}\nfn main2() {}\n"),
        ("README.md", "# x\n\nfn main() {}\n"),
        (".git/config", "[core]\n"),
    ]);
    let outside = view.path().parent().unwrap().join("never-there");
    std::os::unix::fs::symlink(outside, view.path().join("link")).unwrap();
    std::fs::write(view.path().join("bin"), b"\0\x01\xff").unwrap();
    view
}

fn disk(view: &FolderView) -> Vec<(String, Vec<u8>)> {
    ["src/main.rs", "README.md", ".git/config", "bin"]
        .iter()
        .map(|path| {
            (
                (*path).to_owned(),
                std::fs::read(view.path().join(path)).unwrap(),
            )
        })
        .collect()
}

fn check(
    view: &FolderView,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<(), TestCaseError> {
    let before = disk(view);
    let envelope = run_map(view, tool, arguments);
    prop_assert_eq!(&envelope.protocol, PROTOCOL);
    match envelope.status {
        Status::Error => {
            let error = envelope
                .recovery
                .error
                .as_ref()
                .expect("an error says what");
            prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
            prop_assert!(
                error.message.len() < 4000,
                "a message of {} bytes",
                error.message.len()
            );
            prop_assert_ne!(
                error.code,
                redline_tools::ErrorCode::Internal,
                "{}",
                &error.message
            );
        }
        Status::Ok | Status::PendingApproval => prop_assert!(envelope.recovery.error.is_none()),
    }
    let text = envelope.to_text();
    prop_assert!(text.len() < 2 << 20, "a result of {} bytes", text.len());
    prop_assert_eq!(disk(view), before, "a tool wrote to the disk");
    for proposal in view.proposals() {
        for operation in proposal.operations {
            prop_assert!(!operation.path.starts_with('/') && !operation.path.contains(".."));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn anything_gives_an_envelope(
        pairs in proptest::collection::vec((any_name(), any_value()), 0..6),
    ) {
        let view = project();
        let arguments: Map<String, Value> = pairs.into_iter().collect();
        for tool in tools(&view).iter() {
            check(&view, tool.name(), &arguments)?;
        }
    }

    #[test]
    fn arguments_of_the_right_types_give_an_envelope(
        (tool, arguments) in any::<proptest::sample::Index>().prop_flat_map(|at| {
            let tools = tools(&project());
            let all: Vec<_> = tools.iter().collect();
            let tool = all[at.index(all.len())];
            (Just(tool.name().to_owned()), fitting(tool.schema().source()))
        }),
    ) {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        check(&project(), &tool, &arguments)?;
    }
}
