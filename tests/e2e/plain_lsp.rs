//! Review in plain LSP, without a plugin: what editors of several kinds are sent, and what their answers do.

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::editor::{ApplyScript, Document, Editor, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test(
            "plain_lsp::hunks_are_hints_on_one_line",
            hunks_are_hints_on_one_line,
        ),
        test(
            "plain_lsp::accepting_by_action_edits_the_document",
            accepting_by_action_edits_the_document,
        ),
        test(
            "plain_lsp::a_bare_client_gets_bare_commands",
            a_bare_client_gets_bare_commands,
        ),
        test(
            "plain_lsp::rejecting_leaves_the_text_alone",
            rejecting_leaves_the_text_alone,
        ),
        test("plain_lsp::the_encodings_agree", the_encodings_agree),
        test(
            "plain_lsp::typing_against_a_hunk_is_a_conflict",
            typing_against_a_hunk_is_a_conflict,
        ),
        test(
            "plain_lsp::undoing_what_conflicts_lifts_it",
            undoing_what_conflicts_lifts_it,
        ),
        test(
            "plain_lsp::typing_the_proposal_accepts_it",
            typing_the_proposal_accepts_it,
        ),
        test(
            "plain_lsp::the_editors_own_undo_reopens",
            the_editors_own_undo_reopens,
        ),
        test(
            "plain_lsp::applied_true_is_not_believed",
            applied_true_is_not_believed,
        ),
        test(
            "plain_lsp::half_an_edit_is_taken_back",
            half_an_edit_is_taken_back,
        ),
        test(
            "plain_lsp::closed_without_saving_reopens",
            closed_without_saving_reopens,
        ),
        test(
            "plain_lsp::two_editors_and_a_terminal_see_one_state",
            two_editors_and_a_terminal_see_one_state,
        ),
        test(
            "plain_lsp::nothing_unsupported_is_sent",
            nothing_unsupported_is_sent,
        ),
        test(
            "plain_lsp::a_full_rewrite_by_a_formatter_is_small",
            a_full_rewrite_by_a_formatter_is_small,
        ),
    ]
}

const TEXT: &str = "alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\neta\ntheta\n";

/// Two hunks: `beta` is replaced, two lines go in before `eta`.
fn proposal() -> String {
    json!({"edits": [
        {"path": "a.txt", "search": "beta\ngamma", "replace": "BETA\ngamma"},
        {"path": "a.txt", "search": "\neta\ntheta\n", "replace": "\nnew one\nnew two\neta\ntheta\n"},
    ]})
    .to_string()
}

fn set_up(profile: &Profile) -> Result<(Project, Editor)> {
    let project = Project::with_files(&[("a.txt", TEXT)])?;
    let editor = project.editor(profile)?;
    editor.open("a.txt")?;
    Ok((project, editor))
}

fn propose(project: &Project, text: &str) -> Result<Value> {
    project
        .run_with(&["propose", "--json"], text.as_bytes())?
        .expect_code(0)?
        .json()
}

fn shown(editor: &Editor, n: usize) -> Result<Vec<Value>> {
    editor.wait_diagnostics("a.txt", |list| list.len() == n)
}

fn action(editor: &Editor, line: u32, title: &str) -> Result<Value> {
    let actions = editor.actions("a.txt", line, line)?;
    actions
        .iter()
        .find(|action| {
            action["title"]
                .as_str()
                .is_some_and(|shown| shown.starts_with(title))
        })
        .cloned()
        .with_context(|| format!("no action {title:?} on line {line} in {actions:?}"))
}

fn invoke(editor: &Editor, line: u32, title: &str) -> Result<()> {
    let action = action(editor, line, title)?;
    editor
        .invoke(&action)?
        .map(drop)
        .map_err(|error| anyhow::anyhow!("{title}: {error}"))
}

/// Waits until `redline status` passes: a decision that came as an edit is stored a moment after it is shown.
fn wait_status(project: &Project, pass: impl Fn(&Value) -> bool) -> Result<()> {
    let end = std::time::Instant::now() + redline_tests::client::PATIENCE;
    loop {
        let status = project.run(&["status", "--json"])?.expect_code(0)?.json()?;
        if pass(&status) {
            return Ok(());
        }
        ensure!(std::time::Instant::now() < end, "{status}");
    }
}

fn hunks_are_hints_on_one_line() -> Result<()> {
    for profile in [
        Profile::full(),
        Profile::neovim(),
        Profile::helix(),
        Profile::bare(),
    ] {
        let (project, editor) = set_up(&profile)?;
        let mut command = project.command(&["propose", "--json", "--rationale", "louder"])?;
        command.current_dir(project.root());
        redline_tests::program::run(command, proposal().as_bytes())?.expect_code(0)?;
        let list = shown(&editor, 2)?;
        for (diagnostic, line) in list.iter().zip([1, 5]) {
            ensure!(
                diagnostic["severity"] == 4 && diagnostic["source"] == "redline",
                "{diagnostic}"
            );
            let range = &diagnostic["range"];
            ensure!(
                range["start"] == json!({"line": line, "character": 0}),
                "{}: {diagnostic}",
                profile.name
            );
            ensure!(range["end"]["line"] == line, "{diagnostic}");
        }
        let message = list[0]["message"].as_str().unwrap_or_default();
        ensure!(
            message.starts_with("redline 1/2 −2 +1 · louder\n+ BETA"),
            "{message:?}"
        );
        let message = list[1]["message"].as_str().unwrap_or_default();
        ensure!(message.contains("+ new one\n+ new two"), "{message:?}");
        ensure!(
            editor.text("a.txt")? == TEXT,
            "the text changed before anyone accepted"
        );
    }
    Ok(())
}

fn accepting_by_action_edits_the_document() -> Result<()> {
    for profile in [Profile::full(), Profile::neovim(), Profile::helix()] {
        let (project, editor) = set_up(&profile)?;
        propose(&project, &proposal())?;
        shown(&editor, 2)?;
        let found = action(&editor, 1, "Accept hunk")?;
        ensure!(
            found["title"].as_str().unwrap_or_default().chars().count() <= 62,
            "{found}"
        );
        ensure!(
            found.get("command").is_none(),
            "an edit, not a command: {found}"
        );
        invoke(&editor, 1, "Accept hunk")?;
        editor.wait_text("a.txt", &TEXT.replace("\nbeta\n", "\nBETA\n"))?;
        shown(&editor, 1)?;
        ensure!(
            project.read("a.txt")? == TEXT,
            "the disk is the user's to save"
        );
        wait_status(&project, |status| {
            let hunk = &status["transactions"][0]["files"][0]["hunks"][0];
            hunk["state"] == "accepted" && hunk["unsaved"] == true
        })?;
        editor.save("a.txt")?;
        invoke(&editor, 5, "Accept file")?;
        editor.wait_text(
            "a.txt",
            "alpha\nBETA\ngamma\ndelta\nepsilon\nzeta\nnew one\nnew two\neta\ntheta\n",
        )?;
        editor.save("a.txt")?;
        shown(&editor, 0)?;
        wait_status(&project, |status| status["transactions"] == json!([]))
            .context(profile.name)?;
        // Through the terminal it can be taken back, in the open document.
        project.run(&["undo"])?.expect_code(0)?;
        editor.wait_text("a.txt", TEXT)?;
    }
    Ok(())
}

fn a_bare_client_gets_bare_commands() -> Result<()> {
    let (project, editor) = set_up(&Profile::bare())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    for action in editor.actions("a.txt", 1, 1)? {
        ensure!(
            action["command"].is_string(),
            "not a bare command: {action}"
        );
        ensure!(
            action.get("kind").is_none() && action.get("data").is_none(),
            "{action}"
        );
    }
    invoke(&editor, 1, "Accept hunk")?;
    editor.wait_text("a.txt", &TEXT.replace("\nbeta\n", "\nBETA\n"))?;
    invoke(&editor, 5, "Accept transaction")?;
    shown(&editor, 0)?;
    Ok(())
}

fn rejecting_leaves_the_text_alone() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    let transaction = propose(&project, &proposal())?;
    shown(&editor, 2)?;
    invoke(&editor, 1, "Reject hunk")?;
    shown(&editor, 1)?;
    invoke(&editor, 5, "Reject transaction")?;
    shown(&editor, 0)?;
    ensure!(
        editor.text("a.txt")? == TEXT && project.read("a.txt")? == TEXT,
        "a rejection changed the text"
    );
    let id = transaction["transaction"].as_str().context("id")?;
    let shown = project
        .run(&["show", id, "--json"])?
        .expect_code(0)?
        .json()?;
    ensure!(shown.to_string().contains("rejected"), "{shown}");
    Ok(())
}

fn the_encodings_agree() -> Result<()> {
    let text = "x = \"🦀 ok\" # Söö 漢字\nnext\nlast 🦀";
    let wanted = "x = \"🦀 yes\" # Söö 漢字\nnext\nlast 🦀🦀";
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let project = Project::with_files(&[("a.txt", text)])?;
        let editor = project.editor(&Profile::full().with_encodings(&[encoding]))?;
        ensure!(
            editor.encoding().name() == encoding,
            "{} was chosen",
            editor.encoding().name()
        );
        editor.open("a.txt")?;
        // Typed after an emoji: the server's columns have to be the editor's.
        editor.replace_text("a.txt", "last 🦀", "last 🦀!")?;
        editor.replace_text("a.txt", "🦀!", "🦀")?;
        let edits = json!({"edits": [
            {"path": "a.txt", "search": "🦀 ok", "replace": "🦀 yes"},
            {"path": "a.txt", "search": "last 🦀", "replace": "last 🦀🦀"},
        ]});
        propose(&project, &edits.to_string())?;
        editor.wait_diagnostics("a.txt", |list| list.len() == 2)?;
        invoke(&editor, 0, "Accept hunk")?;
        invoke(&editor, 2, "Accept hunk")?;
        editor.wait_text("a.txt", wanted)?;
    }
    Ok(())
}

fn typing_against_a_hunk_is_a_conflict() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    editor.replace_text("a.txt", "\nbeta\n", "\nbeta, typed\n")?;
    let list = editor.wait_diagnostics("a.txt", |list| {
        list.iter().any(|one| {
            one["message"]
                .as_str()
                .is_some_and(|said| said.starts_with("Conflict"))
        })
    })?;
    ensure!(list.len() == 2, "{list:?}");
    let titles: Vec<String> = editor
        .actions("a.txt", 1, 1)?
        .iter()
        .filter_map(|action| action["title"].as_str().map(str::to_owned))
        .collect();
    for title in ["Propose again", "Keep mine", "Show the three sides"] {
        ensure!(
            titles.iter().any(|shown| shown == title),
            "no {title:?} in {titles:?}"
        );
    }
    ensure!(
        !titles.iter().any(|title| title.starts_with("Accept hunk")),
        "{titles:?}"
    );
    let typed = editor.text("a.txt")?;
    invoke(&editor, 1, "Keep mine")?;
    shown(&editor, 1)?;
    ensure!(editor.text("a.txt")? == typed, "what was typed is gone");
    Ok(())
}

fn undoing_what_conflicts_lifts_it() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    editor.replace_text("a.txt", "\nbeta\n", "\nbeta!\n")?;
    editor.wait_diagnostics("a.txt", |list| {
        list.to_vec()
            .iter()
            .any(|one| one.to_string().contains("Conflict"))
    })?;
    editor.replace_text("a.txt", "\nbeta!\n", "\nbeta\n")?;
    let list = editor.wait_diagnostics("a.txt", |list| {
        !list.iter().any(|one| one.to_string().contains("Conflict"))
    })?;
    ensure!(list.len() == 2, "{list:?}");
    invoke(&editor, 1, "Accept hunk")?;
    editor.wait_text("a.txt", &TEXT.replace("\nbeta\n", "\nBETA\n"))?;
    Ok(())
}

fn typing_the_proposal_accepts_it() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    editor.replace_text("a.txt", "\nbeta\n", "\nBETA\n")?;
    shown(&editor, 1)?;
    let status = project.run(&["status", "--json"])?.expect_code(0)?.json()?;
    let hunk = &status["transactions"][0]["files"][0]["hunks"][0];
    ensure!(hunk["state"] == "accepted", "{status}");
    Ok(())
}

fn the_editors_own_undo_reopens() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    invoke(&editor, 1, "Accept hunk")?;
    editor.wait_text("a.txt", &TEXT.replace("\nbeta\n", "\nBETA\n"))?;
    shown(&editor, 1)?;
    editor.replace_text("a.txt", "\nBETA\n", "\nbeta\n")?;
    shown(&editor, 2)?;
    Ok(())
}

/// The command of a hunk's acceptance, as the terminal or a keymap sends it: the server applies the edit.
fn accept_by_command(editor: &Editor, project: &Project) -> Result<redline_tests::client::Reply> {
    let status = project.run(&["status", "--json"])?.expect_code(0)?.json()?;
    let transaction = &status["transactions"][0];
    let hunk = &transaction["files"][0]["hunks"][0];
    editor.client.ask(
        "redline/transaction/accept",
        json!({"transactionId": transaction["transaction"],
            "hunks": [{"id": hunk["id"], "revision": hunk["revision"]}]}),
    )
}

fn applied_true_is_not_believed() -> Result<()> {
    // Typing arrives in the editor before the edit does: the edit is stale, refused, and answered as applied.
    let (project, editor) = set_up(&Profile::neovim())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    let typed = json!([{"range": {"start": {"line": 0, "character": 0},
        "end": {"line": 0, "character": 0}}, "text": "typed above\n"}]);
    let uri = editor.uri("a.txt");
    editor.desk(|desk| {
        desk.scripts.push_back(ApplyScript {
            typed_first: vec![(uri, typed)],
            ..ApplyScript::default()
        });
    });
    let answer = accept_by_command(&editor, &project)?;
    ensure!(answer.is_ok(), "{answer:?}");
    editor.wait_text(
        "a.txt",
        &format!("typed above\n{}", TEXT.replace("\nbeta\n", "\nBETA\n")),
    )?;
    let sent = editor.desk(|desk| desk.edits.len());
    ensure!(sent >= 2, "the stale edit was not sent again: {sent}");
    for edit in editor.desk(|desk| desk.edits.clone()) {
        ensure!(
            edit["edit"]["documentChanges"][0]["textDocument"]["version"].is_i64(),
            "no version in {edit}"
        );
    }
    Ok(())
}

fn half_an_edit_is_taken_back() -> Result<()> {
    let project = Project::with_files(&[("a.txt", TEXT), ("b.txt", "b\n")])?;
    let editor = project.editor(&Profile::full())?;
    editor.open("a.txt")?;
    editor.open("b.txt")?;
    let edits = json!({"edits": [
        {"path": "a.txt", "search": "gamma", "replace": "GAMMA"},
        {"path": "b.txt", "search": "b", "replace": "B"},
    ]});
    propose(&project, &edits.to_string())?;
    shown(&editor, 1)?;
    // This editor always applies the first document only, and says all is well.
    let uri = editor.uri("a.txt");
    editor.desk(|desk| {
        for _ in 0..8 {
            desk.scripts.push_back(ApplyScript {
                only: Some(vec![uri.clone()]),
                reply: Some(redline_tests::editor::ApplyReply::Applied(true)),
                ..ApplyScript::default()
            });
        }
    });
    let answer = editor.client.ask("redline/transaction/accept", json!({}))?;
    let error = answer
        .err()
        .context("half an edit was taken for the whole")?;
    ensure!(!error.kind().is_empty(), "{error}");
    editor.wait_text("a.txt", TEXT)?;
    ensure!(editor.text("b.txt")? == "b\n", "b.txt changed");
    let status = project.run(&["status", "--json"])?.expect_code(0)?.json()?;
    ensure!(status["transactions"][0]["state"] == "pending", "{status}");
    Ok(())
}

fn closed_without_saving_reopens() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    invoke(&editor, 1, "Accept hunk")?;
    shown(&editor, 1)?;
    editor.close("a.txt")?;
    editor.open("a.txt")?;
    shown(&editor, 2)?;
    ensure!(project.read("a.txt")? == TEXT, "the disk changed");
    Ok(())
}

fn two_editors_and_a_terminal_see_one_state() -> Result<()> {
    let (project, first) = set_up(&Profile::full())?;
    let second = project.editor(&Profile::helix())?;
    second.open("a.txt")?;
    propose(&project, &proposal())?;
    shown(&first, 2)?;
    shown(&second, 2)?;
    // Each holds its own copy: typing in one moves its anchors only.
    first.replace("a.txt", 0..0, "typed in the first\n")?;
    invoke(&second, 1, "Reject hunk")?;
    shown(&first, 1)?;
    shown(&second, 1)?;
    invoke(&first, 6, "Accept hunk")?;
    first.wait_text("a.txt", "typed in the first\nalpha\nbeta\ngamma\ndelta\nepsilon\nzeta\nnew one\nnew two\neta\ntheta\n")?;
    shown(&first, 0)?;
    Ok(())
}

fn nothing_unsupported_is_sent() -> Result<()> {
    let (project, editor) = set_up(&Profile::bare())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    invoke(&editor, 1, "Show diff").ok();
    invoke(&editor, 1, "Accept transaction")?;
    shown(&editor, 0)?;
    let asked: Vec<String> = editor
        .client
        .look(|arrived| arrived.requests.iter().map(|(m, _)| m.clone()).collect());
    for method in &asked {
        ensure!(
            method == "workspace/applyEdit",
            "a client that supports nothing was asked {method}"
        );
    }
    let told: Vec<String> = editor.client.look(|arrived| {
        arrived
            .notifications
            .iter()
            .map(|(m, _)| m.clone())
            .collect()
    });
    for method in &told {
        ensure!(
            !method.starts_with("redline/"),
            "a plain client was told {method}"
        );
        ensure!(method != "$/progress", "progress without support");
    }
    for edit in editor.desk(|desk| desk.edits.clone()) {
        ensure!(
            edit["edit"].get("documentChanges").is_none(),
            "documentChanges without support: {edit}"
        );
    }
    Ok(())
}

fn a_full_rewrite_by_a_formatter_is_small() -> Result<()> {
    let (project, editor) = set_up(&Profile::full())?;
    propose(&project, &proposal())?;
    shown(&editor, 2)?;
    // The whole text in one change, but only the last line is another.
    let whole = TEXT.replace("theta", "THETA");
    editor.change("a.txt", None, &json!([{"text": whole}]))?;
    let document: Document = editor.document("a.txt")?;
    ensure!(document.text == whole, "the editor itself");
    editor.replace("a.txt", 0..0, "")?;
    let list = shown(&editor, 2)?;
    ensure!(
        !list.iter().any(|one| one.to_string().contains("Conflict")),
        "{list:?}"
    );
    invoke(&editor, 1, "Accept hunk")?;
    editor.wait_text("a.txt", &whole.replace("\nbeta\n", "\nBETA\n"))?;
    Ok(())
}
