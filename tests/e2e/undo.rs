//! An undo of what somebody changed since: reviewed in a terminal, and in an editor without a plugin.

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::editor::{Editor, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test(
            "undo::a_terminal_reviews_what_conflicts",
            a_terminal_reviews_what_conflicts,
        ),
        test(
            "undo::the_walk_settles_conflicts",
            the_walk_settles_conflicts,
        ),
        test(
            "undo::rejecting_it_leaves_everything_as_it_is",
            rejecting_it_leaves_everything_as_it_is,
        ),
        test(
            "undo::a_plain_editor_shows_and_settles_it",
            a_plain_editor_shows_and_settles_it,
        ),
    ]
}

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/// What a person made of the accepted text: another second line.
const CHANGED: &str = "one\nmine\nthree\nfour\nfive\nsix\nSEVEN\neight\n";

fn json_of(project: &Project, arguments: &[&str], code: i32) -> Result<Value> {
    let mut all = arguments.to_vec();
    all.push("--json");
    project.run(&all)?.expect_code(code)?.json()
}

fn text_of(value: &Value) -> Result<String> {
    let text = value.as_str().with_context(|| value.to_string())?;
    Ok(text.to_owned())
}

/// A project with an accepted proposal, one line of which somebody changed since.
fn contested() -> Result<(Project, String)> {
    let project = Project::with_files(&[("poem.txt", BEFORE), ("notes.txt", "note\n")])?;
    let edits = json!({"edits": [
        {"path": "notes.txt", "search": "note", "replace": "NOTE"},
        {"path": "poem.txt", "search": "two", "replace": "TWO"},
        {"path": "poem.txt", "search": "seven", "replace": "SEVEN"},
    ]});
    let bytes = edits.to_string();
    let proposed = project.run_with(&["propose", "--json"], bytes.as_bytes())?;
    let accepted = text_of(&proposed.expect_code(0)?.json()?["transaction"])?;
    project.run(&["accept", &accepted])?.expect_code(0)?;
    project.write("poem.txt", CHANGED)?;
    Ok((project, accepted))
}

/// Undoes, which must not be possible at once; gives the transaction that waits.
fn undo(project: &Project) -> Result<Value> {
    let before = project.tree()?;
    let refused = json_of(project, &["undo"], 3)?;
    ensure!(refused["error"]["code"] == "CONFLICT", "{refused}");
    let said = text_of(&refused["error"]["message"])?;
    let status = json_of(project, &["status"], 0)?;
    let waiting = status["transactions"][0].clone();
    ensure!(
        said.contains("poem.txt changed since (line 2)")
            && said.contains(&text_of(&waiting["transaction"])?),
        "{said}"
    );
    let hint = text_of(&refused["error"]["hint"])?;
    ensure!(hint.contains("redline review"), "{hint}");
    let differences = before.differences(&project.tree()?);
    ensure!(differences.is_empty(), "{differences:?}");
    Ok(waiting)
}

/// Path and state of each hunk.
fn states(transaction: &Value) -> Vec<(&str, &str)> {
    let files = transaction["files"].as_array().into_iter().flatten();
    let hunks = files.flat_map(|file| {
        let hunks = file["hunks"].as_array().into_iter().flatten();
        hunks.map(|hunk| (&file["path"], &hunk["state"]))
    });
    hunks
        .filter_map(|(path, state)| Some((path.as_str()?, state.as_str()?)))
        .collect()
}

fn reads(project: &Project, path: &str, expected: &str) -> Result<()> {
    let text = project.read(path)?;
    ensure!(text == expected, "{path}: {text:?}");
    Ok(())
}

fn a_terminal_reviews_what_conflicts() -> Result<()> {
    let (project, accepted) = contested()?;
    let waiting = undo(&project)?;
    let id = text_of(&waiting["transaction"])?;
    let expected = [
        ("notes.txt", "pending"),
        ("poem.txt", "conflict"),
        ("poem.txt", "pending"),
    ];
    ensure!(states(&waiting) == expected, "{waiting}");
    // A second undo says where the first one is.
    let again = project.run(&["undo"])?.expect_code(3)?;
    ensure!(again.stderr.contains(&id), "{}", again.stderr);
    project.run(&["accept", &id])?.expect_code(3)?;
    reads(&project, "notes.txt", "NOTE\n")?;

    // Without what conflicts it is done, also by the next sidecar.
    crate::cli::stop_sidecar(&project)?;
    let hunk = text_of(&waiting["files"][1]["hunks"][0]["id"])?;
    project
        .run(&["reject", &id, "--hunk", &hunk])?
        .expect_code(0)?;
    let done = json_of(&project, &["accept", &id], 0)?;
    ensure!(done["state"] == "committed", "{done}");
    ensure!(done["receipt"]["action"] == "undo", "{done}");
    reads(&project, "notes.txt", "note\n")?;
    reads(&project, "poem.txt", &CHANGED.replace("SEVEN", "seven"))?;
    let shown = json_of(&project, &["show", &accepted], 0)?;
    ensure!(shown["state"] == "undone", "{shown}");

    let redone = json_of(&project, &["redo"], 0)?;
    ensure!(redone["id"] == accepted.as_str(), "{redone}");
    reads(&project, "notes.txt", "NOTE\n")?;
    reads(&project, "poem.txt", CHANGED)?;
    project.run(&["journal", "verify"])?.expect_code(0)?;
    Ok(())
}

fn the_walk_settles_conflicts() -> Result<()> {
    let (project, _) = contested()?;
    let id = text_of(&undo(&project)?["transaction"])?;
    // The note, then the conflict proposed again and taken, then the rest.
    let walked = project.run_with(&["review", &id], b"y\nr\ny\ny\n")?;
    let walked = walked.expect_code(0)?;
    ensure!(walked.stdout.contains("Conflict ["), "{}", walked.stdout);
    reads(&project, "poem.txt", BEFORE)?;
    reads(&project, "notes.txt", "note\n")?;
    let status = json_of(&project, &["status"], 0)?;
    ensure!(status["transactions"] == json!([]), "{status}");
    project.run(&["redo"])?.expect_code(0)?;
    reads(&project, "poem.txt", CHANGED)
}

fn rejecting_it_leaves_everything_as_it_is() -> Result<()> {
    let (project, accepted) = contested()?;
    let id = text_of(&undo(&project)?["transaction"])?;
    project.run(&["reject", &id])?.expect_code(0)?;
    reads(&project, "poem.txt", CHANGED)?;
    let shown = json_of(&project, &["show", &accepted], 0)?;
    ensure!(shown["state"] == "committed", "{shown}");
    // With the line as it was left, the next undo needs nobody.
    project.write("poem.txt", CHANGED.replace("mine", "TWO"))?;
    project.run(&["undo"])?.expect_code(0)?;
    reads(&project, "poem.txt", BEFORE)
}

fn invoke(editor: &Editor, line: u32, title: &str) -> Result<()> {
    let actions = editor.actions("poem.txt", line, line)?;
    let named = |action: &&Value| {
        let shown = action["title"].as_str();
        shown.is_some_and(|shown| shown.starts_with(title))
    };
    let action = actions
        .iter()
        .find(named)
        .with_context(|| format!("no {title:?} in {actions:?}"))?;
    let done = editor.invoke(action)?;
    done.map(drop)
        .map_err(|error| anyhow::anyhow!("{title}: {error}"))
}

fn a_plain_editor_shows_and_settles_it() -> Result<()> {
    let (project, accepted) = contested()?;
    let editor = project.editor(&Profile::full())?;
    editor.open("poem.txt")?;
    let asked = json!({"command": "redline.undo", "arguments": []});
    let answer = editor.client.ask("workspace/executeCommand", asked)?;
    let error = answer.err().context("it was undone at once")?;
    ensure!(error.kind() == "CONFLICT", "{error}");
    let list = editor.wait_diagnostics("poem.txt", |list| list.len() == 2)?;
    let said = list.iter().filter_map(|one| one["message"].as_str());
    let conflicts = said.filter(|said| said.starts_with("Conflict")).count();
    ensure!(conflicts == 1, "{list:?}");
    ensure!(editor.text("poem.txt")? == CHANGED, "the document changed");

    invoke(&editor, 1, "Propose again")?;
    editor.wait_diagnostics("poem.txt", |list| {
        list.len() == 2 && !list.iter().any(|one| one.to_string().contains("Conflict"))
    })?;
    invoke(&editor, 1, "Accept transaction")?;
    editor.wait_text("poem.txt", BEFORE)?;
    editor.wait_diagnostics("poem.txt", <[Value]>::is_empty)?;
    editor.save("poem.txt")?;
    reads(&project, "notes.txt", "note\n")?;
    let shown = json_of(&project, &["show", &accepted], 0)?;
    ensure!(shown["state"] == "undone", "{shown}");

    let asked = json!({"command": "redline.redo", "arguments": []});
    editor.client.request("workspace/executeCommand", asked)?;
    editor.wait_text("poem.txt", CHANGED)?;
    reads(&project, "notes.txt", "NOTE\n")
}
