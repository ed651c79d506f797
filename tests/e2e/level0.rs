//! All of level 0 beside hunks as hints: lenses, hints, pulled diagnostics, annotations, operations of whole files, the
//! review document, prompts by comment and by file.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::client::PATIENCE;
use redline_tests::editor::{Editor, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test(
            "level0::lenses_and_hints_go_to_who_shows_them",
            lenses_and_hints_go_to_who_shows_them,
        ),
        test(
            "level0::diagnostics_are_pulled_or_pushed_never_both",
            diagnostics_are_pulled_or_pushed_never_both,
        ),
        test(
            "level0::who_draws_hunks_itself_is_sent_none_of_it",
            who_draws_hunks_itself_is_sent_none_of_it,
        ),
        test(
            "level0::an_acceptance_is_annotated_for_who_reads_that",
            an_acceptance_is_annotated_for_who_reads_that,
        ),
        test(
            "level0::who_takes_no_edits_is_given_one_to_apply",
            who_takes_no_edits_is_given_one_to_apply,
        ),
        test(
            "level0::a_rename_alone_is_seen_and_decided",
            a_rename_alone_is_seen_and_decided,
        ),
        test(
            "level0::closed_files_stand_among_the_problems",
            closed_files_stand_among_the_problems,
        ),
        test(
            "level0::the_review_document_follows_each_decision",
            the_review_document_follows_each_decision,
        ),
        test(
            "level0::what_a_user_types_in_the_review_document_stays",
            what_a_user_types_in_the_review_document_stays,
        ),
        test(
            "level0::a_comment_is_a_prompt_and_goes",
            a_comment_is_a_prompt_and_goes,
        ),
        test(
            "level0::saving_the_prompt_file_sends_it",
            saving_the_prompt_file_sends_it,
        ),
    ]
}

const TEXT: &str = "alpha\nbeta\ngamma\ndelta\n";

/// `beta` is replaced, and a line goes in before `delta`.
fn proposal() -> String {
    json!({"edits": [
        {"path": "a.txt", "search": "beta\n", "replace": "BETA\n"},
        {"path": "a.txt", "search": "delta\n", "replace": "new\ndelta\n"},
    ]})
    .to_string()
}

fn set_up(profile: &Profile) -> Result<(Project, Editor)> {
    let project = Project::with_files(&[("a.txt", TEXT), ("b.txt", "one\ntwo\n")])?;
    let editor = project.editor(profile)?;
    editor.open("a.txt")?;
    Ok((project, editor))
}

fn propose(project: &Project, text: &str) -> Result<Value> {
    project
        .run_with(
            &["propose", "--json", "--rationale", "why"],
            text.as_bytes(),
        )?
        .expect_code(0)?
        .json()
}

/// Waits until the server has asked `n` times that `what` be asked for again.
fn wait_refreshes(editor: &Editor, what: &str, n: usize) -> Result<()> {
    let method = format!("workspace/{what}/refresh");
    editor.client.wait_for(&method, PATIENCE, |arrived| {
        (arrived.count(&method) >= n).then_some(())
    })
}

fn document(editor: &Editor, path: &str) -> Value {
    json!({"textDocument": {"uri": editor.uri(path)}})
}

fn lenses_and_hints_go_to_who_shows_them() -> Result<()> {
    let (project, editor) = set_up(&Profile::full().with_pulls())?;
    let offered = &editor.server["capabilities"];
    ensure!(
        offered["codeLensProvider"].is_object() && offered["inlayHintProvider"] == true,
        "{offered}"
    );
    propose(&project, &proposal())?;
    wait_refreshes(&editor, "codeLens", 1)?;
    wait_refreshes(&editor, "inlayHint", 1)?;
    let lenses = editor
        .client
        .request("textDocument/codeLens", document(&editor, "a.txt"))?;
    let lenses = lenses.as_array().context("lenses")?;
    let titles: Vec<&str> = lenses
        .iter()
        .map(|lens| lens["command"]["title"].as_str().unwrap_or_default())
        .collect();
    ensure!(
        titles
            == [
                "Accept 1/2 −2 +1 · why",
                "Reject",
                "Accept 2/2 +1 · why",
                "Reject"
            ]
            .into_iter()
            .flat_map(|title| match title {
                "Reject" => vec!["Reject", "Show diff"],
                other => vec![other],
            })
            .collect::<Vec<_>>(),
        "{titles:?}"
    );
    let mut asked = document(&editor, "a.txt");
    asked["range"] =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 4}});
    let hints = editor.client.request("textDocument/inlayHint", asked)?;
    ensure!(
        hints.as_array().map(Vec::len) == Some(1)
            && hints[0]["position"] == json!({"line": 1, "character": 4})
            && hints[0]["label"] == "◀ 1/2 −2 +1 · why",
        "only those of the range: {hints}"
    );
    // A lens is a decision.
    let before = refreshes(&editor, "codeLens");
    let accepted = editor.execute(&lenses[0]["command"])?;
    ensure!(accepted.is_ok(), "{accepted:?}");
    editor.wait_text("a.txt", &TEXT.replace("beta", "BETA"))?;
    wait_refreshes(&editor, "codeLens", before + 1)?;

    let (_project, plain) = set_up(&Profile::full())?;
    let offered = &plain.server["capabilities"];
    for name in [
        "codeLensProvider",
        "inlayHintProvider",
        "diagnosticProvider",
    ] {
        ensure!(offered.get(name).is_none(), "{name} was not asked for");
    }
    Ok(())
}

fn refreshes(editor: &Editor, what: &str) -> usize {
    let method = format!("workspace/{what}/refresh");
    editor.client.look(|arrived| arrived.count(&method))
}

fn diagnostics_are_pulled_or_pushed_never_both() -> Result<()> {
    let (project, editor) = set_up(&Profile::full().with_pulls())?;
    propose(&project, &proposal())?;
    wait_refreshes(&editor, "diagnostic", 1)?;
    let pull = |previous: Option<&str>| {
        let mut asked = document(&editor, "a.txt");
        if let Some(previous) = previous {
            asked["previousResultId"] = previous.into();
        }
        editor.client.request("textDocument/diagnostic", asked)
    };
    let full = pull(None)?;
    ensure!(
        full["kind"] == "full" && full["items"].as_array().map(Vec::len) == Some(2),
        "{full}"
    );
    let id = full["resultId"].as_str().context("resultId")?;
    ensure!(pull(Some(id))?["kind"] == "unchanged");
    let told = refreshes(&editor, "diagnostic");
    project.run(&["reject", "--all"])?.expect_code(0)?;
    wait_refreshes(&editor, "diagnostic", told + 1)?;
    let empty = pull(Some(id))?;
    ensure!(empty["items"] == json!([]), "{empty}");
    ensure!(
        editor
            .diagnostics("a.txt")
            .is_none_or(|list| list.is_empty()),
        "an open document was pushed as well"
    );

    // Without a way to tell it of news, a client that could pull is pushed.
    let deaf = Profile::full().with("textDocument.diagnostic", json!({}));
    let (project, editor) = set_up(&deaf)?;
    ensure!(
        editor.server["capabilities"]
            .get("diagnosticProvider")
            .is_none()
    );
    propose(&project, &proposal())?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
    Ok(())
}

fn who_draws_hunks_itself_is_sent_none_of_it() -> Result<()> {
    let (project, editor) = set_up(&Profile::full().with_pulls().with_redline())?;
    let offered = &editor.server["capabilities"];
    for name in [
        "codeLensProvider",
        "inlayHintProvider",
        "diagnosticProvider",
    ] {
        ensure!(offered.get(name).is_none(), "{name}: {offered}");
    }
    propose(&project, &proposal())?;
    editor.client.wait_for("hunks", PATIENCE, |arrived| {
        arrived
            .newest("redline/transaction/changed", |params| {
                params["counts"]["pending"] == 2
            })
            .map(drop)
    })?;
    editor.client.look(|arrived| {
        let pushed = arrived.newest("textDocument/publishDiagnostics", |_| true);
        ensure!(pushed.is_none(), "{pushed:?}");
        for method in [
            "workspace/codeLens/refresh",
            "workspace/inlayHint/refresh",
            "workspace/diagnostic/refresh",
        ] {
            ensure!(arrived.count(method) == 0, "{method} was sent");
        }
        Ok(())
    })
}

fn action(editor: &Editor, path: &str, line: u32, title: &str) -> Result<Value> {
    let actions = editor.actions(path, line, line)?;
    actions
        .iter()
        .find(|action| {
            action["title"]
                .as_str()
                .is_some_and(|shown| shown.starts_with(title))
        })
        .cloned()
        .with_context(|| format!("no action {title:?} on line {line} of {path} in {actions:?}"))
}

fn invoke(editor: &Editor, path: &str, line: u32, title: &str) -> Result<()> {
    let action = action(editor, path, line, title)?;
    editor
        .invoke(&action)?
        .map(drop)
        .map_err(|error| anyhow::anyhow!("{title}: {error}"))
}

fn an_acceptance_is_annotated_for_who_reads_that() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
    let offered = action(&editor, "a.txt", 1, "Accept hunk")?;
    let resolved = editor.client.request("codeAction/resolve", offered)?;
    let edit = &resolved["edit"];
    let named = &edit["documentChanges"][0]["edits"][0]["annotationId"];
    let annotation = &edit["changeAnnotations"][named.as_str().context("annotationId")?];
    ensure!(
        annotation["label"] == "Redline: accept · why" && annotation["needsConfirmation"] == false,
        "{edit}"
    );
    invoke(&editor, "a.txt", 1, "Accept hunk")?;
    editor.wait_text("a.txt", &TEXT.replace("beta", "BETA"))?;

    let (project, editor) = set_up(&Profile::helix())?;
    propose(&project, &proposal())?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
    let offered = action(&editor, "a.txt", 1, "Accept hunk")?;
    let resolved = editor.client.request("codeAction/resolve", offered)?;
    ensure!(
        !resolved.to_string().contains("nnotation"),
        "not advertised: {resolved}"
    );
    Ok(())
}

/// As ALE: literals, but neither versions nor edits that a server sends.
fn who_takes_no_edits_is_given_one_to_apply() -> Result<()> {
    let profile = Profile {
        resolve: false,
        data: false,
        document_changes: false,
        annotations: false,
        ..Profile::full()
    }
    .with("workspace.applyEdit", false);
    let (project, editor) = set_up(&profile)?;
    propose(&project, &proposal())?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
    let offered = action(&editor, "a.txt", 1, "Accept hunk")?;
    ensure!(
        offered["edit"]["changes"].is_object() && offered.get("command").is_none(),
        "{offered}"
    );
    invoke(&editor, "a.txt", 1, "Accept hunk")?;
    editor.wait_text("a.txt", &TEXT.replace("beta", "BETA"))?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 1)?;
    ensure!(
        editor.desk(|desk| desk.edits.is_empty()),
        "an edit was sent"
    );
    Ok(())
}

fn a_rename_alone_is_seen_and_decided() -> Result<()> {
    let rename = "diff --git a/a.txt b/c.txt\nsimilarity index 100%\nrename from a.txt\nrename to c.txt\n\
                  diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode 100755\n";
    for verb in ["Accept file", "Reject file"] {
        let (project, editor) = set_up(&Profile::helix())?;
        propose(&project, rename)?;
        let seen = editor.wait_diagnostics("a.txt", |list| list.len() == 1)?;
        ensure!(
            seen[0]["message"] == "redline · this file: rename to c.txt · why"
                && seen[0]["severity"] == 4
                && seen[0]["range"]["start"] == json!({"line": 0, "character": 0}),
            "{seen:?}"
        );
        // The other file is open nowhere, and stands among the problems all the same.
        let closed = editor.wait_diagnostics("b.txt", |list| list.len() == 1)?;
        ensure!(
            closed[0]["message"] == "redline · this file: set mode 0755 · why",
            "{closed:?}"
        );
        ensure!(
            editor.actions("a.txt", 2, 2)?.is_empty(),
            "it has one place"
        );
        invoke(&editor, "a.txt", 0, verb)?;
        editor.wait_diagnostics("a.txt", <[Value]>::is_empty)?;
        let accepted = verb == "Accept file";
        ensure!(project.root().join("c.txt").exists() == accepted, "{verb}");
        ensure!(project.root().join("a.txt").exists() != accepted, "{verb}");
    }
    Ok(())
}

fn closed_files_stand_among_the_problems() -> Result<()> {
    let (project, editor) = set_up(&Profile::helix())?;
    let edits = json!({"edits": [{"path": "b.txt", "search": "two\n", "replace": "2\n"}]});
    propose(&project, &edits.to_string())?;
    let closed = editor.wait_diagnostics("b.txt", |list| list.len() == 1)?;
    ensure!(closed[0]["range"]["start"]["line"] == 1, "{closed:?}");
    editor.open("b.txt")?;
    editor.wait_diagnostics("b.txt", |list| list.len() == 1)?;
    editor.close("b.txt")?;
    project.run(&["accept", "--all"])?.expect_code(0)?;
    editor.wait_diagnostics("b.txt", <[Value]>::is_empty)?;
    ensure!(project.read("b.txt")? == "one\n2\n");
    Ok(())
}

/// Runs a command that opens a page, and opens it as the editor would.
fn open_page(editor: &Editor, name: &str) -> Result<String> {
    let opened = |editor: &Editor| {
        editor
            .client
            .look(|arrived| arrived.count("window/showDocument"))
    };
    let before = opened(editor);
    let answer = editor.execute(&json!({"command": name, "arguments": []}))?;
    ensure!(answer.is_ok(), "{answer:?}");
    let uri = editor.client.wait_for("a page", PATIENCE, |arrived| {
        let shown = |(method, _): &&(String, Value)| method == "window/showDocument";
        let (_, params) = arrived.requests.iter().filter(shown).nth(before)?;
        params["uri"].as_str().map(str::to_owned)
    })?;
    let path = uri.strip_prefix("file://").context("a file")?.to_owned();
    ensure!(PathBuf::from(&path).exists(), "{path} does not exist");
    editor.open(&path)?;
    Ok(path)
}

/// The zero-based line of a page that begins so.
fn line_of(editor: &Editor, page: &str, start: &str) -> Result<u32> {
    let text = editor.text(page)?;
    let line = text.lines().position(|line| line.starts_with(start));
    let line = line.with_context(|| format!("no line {start:?} in\n{text}"))?;
    Ok(u32::try_from(line)?)
}

fn wait_page(editor: &Editor, page: &str, pass: impl Fn(&str) -> bool) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let text = editor.text(page)?;
        if pass(&text) {
            return Ok(());
        }
        ensure!(Instant::now() < end, "the page reads\n{text}");
        // The page changes on the reading thread; there is nothing else to wait on.
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn the_review_document_follows_each_decision() -> Result<()> {
    let (project, editor) = set_up(&Profile::helix())?;
    let other = project.editor(&Profile::neovim())?;
    propose(&project, &proposal())?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
    let page = open_page(&editor, "redline.review")?;
    let same = open_page(&other, "redline.review")?;
    ensure!(page == same && page.ends_with(".diff"), "{page} {same}");
    for each in [&editor, &other] {
        wait_page(each, &page, |text| {
            text.contains("2 changes in 1 file pending")
        })?;
    }
    let hunk = line_of(&editor, &page, "-beta")?;
    invoke(&editor, &page, hunk, "Accept hunk 1/2 of a.txt")?;
    editor.wait_text("a.txt", &TEXT.replace("beta", "BETA"))?;
    for each in [&editor, &other] {
        wait_page(each, &page, |text| {
            text.contains("1 change in 1 file pending") && !text.contains("beta")
        })?;
    }
    // The other one decides the rest, from the file's head.
    let head = line_of(&other, &page, "diff --git")?;
    // The acceptance may be confirmed in between: what was offered before is stale then, and offered anew.
    let begun = Instant::now();
    while let Err(error) = invoke(&other, &page, head, "Reject file a.txt") {
        let is_stale = error.to_string().contains("STALE_HUNK");
        ensure!(is_stale && begun.elapsed() < PATIENCE, "{error}");
    }
    for each in [&editor, &other] {
        wait_page(each, &page, |text| text.contains("nothing waits"))?;
    }
    editor.wait_diagnostics("a.txt", <[Value]>::is_empty)?;
    // What comes later is shown too, and the head takes back.
    invoke(&editor, &page, 0, "Undo the last turn")?;
    editor.wait_text("a.txt", TEXT)?;
    Ok(())
}

fn what_a_user_types_in_the_review_document_stays() -> Result<()> {
    let (project, editor) = set_up(&Profile::helix())?;
    propose(&project, &proposal())?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
    let page = open_page(&editor, "redline.review")?;
    editor.replace(&page, 0..0, "my note\n")?;
    let typed = editor.text(&page)?;
    project.run(&["reject", "--all"])?.expect_code(0)?;
    editor.wait_diagnostics("a.txt", <[Value]>::is_empty)?;
    // A second document is brought up to date, so that the first one's turn has come and gone.
    let other = project.editor(&Profile::neovim())?;
    let same = open_page(&other, "redline.review")?;
    wait_page(&other, &same, |text| text.contains("nothing waits"))?;
    ensure!(
        editor.text(&page)? == typed,
        "what the user typed was changed"
    );
    ensure!(
        editor.actions(&page, 1, 1)?.is_empty(),
        "its lines mean nothing any more"
    );
    Ok(())
}

/// A model that changes `beta` and says so.
const RECORDING: &str = r#"{"replay": "redline/v1", "title": "Louder"}
{"event": "tool_call", "name": "workspace_edit", "arguments": {"rationale": "louder", "edits": [{"path": "a.txt", "search": "beta\n", "replace": "BETA\n"}]}}
{"event": "done", "reason": "tool_calls"}
{"event": "text", "text": "Louder now."}
{"event": "done", "reason": "end"}
"#;

fn recorded(profile: &Profile, text: &str) -> Result<(Project, Editor)> {
    let project = Project::with_files(&[("a.txt", text)])?;
    std::fs::write(project.folder().join("turn.jsonl"), RECORDING)?;
    let file = project.folder().join("turn.jsonl");
    project.configure(&format!(
        "model = \"recorded/turn\"\n\n[providers.recorded]\napi = \"replay\"\nfile = {}\n",
        json!(file)
    ))?;
    let editor = project.editor(profile)?;
    editor.open("a.txt")?;
    Ok((project, editor))
}

fn a_comment_is_a_prompt_and_goes() -> Result<()> {
    for profile in [Profile::helix(), Profile::neovim(), Profile::bare()] {
        let text = "alpha\nbeta\n// redline: say it louder\ngamma\n";
        let (project, editor) = recorded(&profile, text)?;
        ensure!(editor.actions("a.txt", 1, 1)?.is_empty());
        invoke(&editor, "a.txt", 2, "Ask Redline: say it louder")?;
        editor.wait_text("a.txt", "alpha\nbeta\ngamma\n")?;
        editor.wait_diagnostics("a.txt", |list| list.len() == 1)?;
        let sessions = project
            .run(&["sessions", "--json"])?
            .expect_code(0)?
            .json()?;
        ensure!(sessions.to_string().contains("say it louder"), "{sessions}");
    }
    Ok(())
}

fn saving_the_prompt_file_sends_it() -> Result<()> {
    let (_project, editor) = recorded(&Profile::helix(), TEXT)?;
    let page = open_page(&editor, "redline.prompt")?;
    ensure!(page.ends_with(".md"), "{page}");
    // Saved as it is, it sends nothing.
    editor.save(&page)?;
    let end = editor.text(&page)?.len();
    editor.replace(&page, end..end, "say it louder\n")?;
    editor.save(&page)?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 1)?;
    wait_page(&editor, &page, |text| !text.contains("louder"))?;
    Ok(())
}
