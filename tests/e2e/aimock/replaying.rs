//! A turn that is written to a file and played again: the same events, the same transactions.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::aimock::Aimock;
use redline_tests::project::Project;
use serde_json::{Value, json};

use super::support::{Turn, configure, editor, json_of, text_at};
use crate::test;

pub(super) fn trials() -> Vec<Trial> {
    vec![test(
        "aimock::replaying::an_exported_turn_plays_again_the_same",
        an_exported_turn_plays_again_the_same,
    )]
}

const PROMPT: &str = "Use one greeting everywhere";

fn greeter() -> Result<Project> {
    Project::with_files(&[
        (
            "src/greet.rs",
            "pub fn hello() {\n    println!(\"hello\");\n}\n\npub fn hello_twice() {\n    println!(\"hello\");\n    println!(\"hello again\");\n}\n",
        ),
        ("src/main.rs", "fn main() {\n    hello();\n}\n"),
        ("README.md", "# Greeter\n\nIt says hello.\n"),
    ])
}

/// What a turn told its client, without ids and without the order that only time decides: its words, each call's own
/// course, and the rest in order.
#[derive(Debug, PartialEq)]
struct Course {
    words: String,
    calls: BTreeMap<String, Vec<Value>>,
    rest: Vec<Value>,
}

impl Course {
    fn of(updates: &[Value]) -> Self {
        let mut course = Self {
            words: String::new(),
            calls: BTreeMap::new(),
            rest: Vec::new(),
        };
        for update in updates {
            let mut update = update.clone();
            forget_ids(&mut update);
            match update["sessionUpdate"].as_str().unwrap_or_default() {
                "agent_message_chunk" => {
                    let text = update["content"]["text"].as_str();
                    course.words.push_str(text.unwrap_or_default());
                }
                "tool_call_update" => {
                    let call = update["toolCallId"].as_str().unwrap_or_default();
                    course
                        .calls
                        .entry(call.to_owned())
                        .or_default()
                        .push(update);
                }
                // Who answers is the one thing that is meant to differ, and with it what an answer costs.
                "current_model_update" => {}
                "usage_update" => {
                    let tokens = ["_inputTokens", "_cachedTokens", "_outputTokens"];
                    let tokens = tokens.map(|kind| update[kind].clone());
                    course.rest.push(Value::from(tokens.to_vec()));
                }
                _ => course.rest.push(update),
            }
        }
        course
    }
}

/// Replaces ids that are new with each turn by their kind.
fn forget_ids(value: &mut Value) {
    match value {
        Value::String(text) => {
            for kind in ["turn_", "tx_", "h_", "se_"] {
                let is_id = text
                    .strip_prefix(kind)
                    .is_some_and(|rest| rest.len() >= 26 && rest.is_char_boundary(26));
                if is_id {
                    *text = format!("{kind}…{}", &text[kind.len() + 26..]);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forget_ids),
        Value::Object(map) => {
            for key in ["createdAt", "revision", "uri"] {
                map.remove(key);
            }
            map.values_mut().for_each(forget_ids);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Runs the turn, and gives its id, its course, and what it proposed.
fn play(project: &Project) -> Result<(String, Course, Value)> {
    let editor = editor(project)?;
    let turn = Turn::prompt(&editor, None, PROMPT)?;
    ensure!(turn.wait_end()? == "end_turn");
    turn.ensure_one_end()?;
    let transaction = turn.wait("what it proposed", |update| {
        let of_turn = update["sessionUpdate"] == "_transaction";
        of_turn.then(|| update["transactionId"].clone())
    })?;
    let params = json!({"transactionId": transaction});
    let got = editor.client.request("redline/transaction/get", params)?;
    let mut files = got["files"].clone();
    ensure!(
        files.as_array().is_some_and(|files| files.len() == 3),
        "{got:#}"
    );
    forget_ids(&mut files);
    Ok((turn.id.clone(), Course::of(&turn.updates()), files))
}

fn an_exported_turn_plays_again_the_same() -> Result<()> {
    let server = Aimock::start("turn.json")?;
    let first = greeter()?;
    configure(&first, &server, "")?;
    let (turn, course, files) = play(&first)?;
    let file = first.folder().join("turn.jsonl");
    let path = file.to_str().context("a path")?;
    let written = json_of(&first, &["turn", "export", &turn, "-o", path], 0)?;
    ensure!(written["file"] == path, "{written}");
    let printed = json_of(&first, &["turn", "export", &turn], 0)?;
    ensure!(
        text_at(&printed, "/content")? == std::fs::read_to_string(&file)?,
        "printed and written are one"
    );
    let asked = server.requests()?.len();
    drop(server);

    let second = greeter()?;
    second.configure(&format!(
        "model = \"recorded/turn\"\n\n[providers.recorded]\napi = \"replay\"\nfile = {path:?}\n"
    ))?;
    let (again, course_again, files_again) = play(&second)?;
    ensure!(again != turn);
    ensure!(
        course == course_again,
        "told before: {course:#?}\ntold again: {course_again:#?}"
    );
    ensure!(
        files == files_again,
        "proposed before: {files:#}\nproposed again: {files_again:#}"
    );
    ensure!(asked == 4, "{asked} steps");
    let missing = json_of(&second, &["turn", "export", &turn], 1)?;
    ensure!(missing["error"]["code"] == "NOT_FOUND", "{missing:#}");
    Ok(())
}
