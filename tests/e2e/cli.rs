//! The contract of the command line, from outside: shapes, exit codes, what is stored and what is not.

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::program::Output;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test(
            "cli::propose_prints_the_transaction",
            propose_prints_the_transaction,
        ),
        test(
            "cli::every_format_is_told_by_itself",
            every_format_is_told_by_itself,
        ),
        test(
            "cli::status_lists_what_is_unsettled",
            status_lists_what_is_unsettled,
        ),
        test(
            "cli::accepting_one_hunk_leaves_the_other",
            accepting_one_hunk_leaves_the_other,
        ),
        test("cli::a_stale_hunk_is_refused", a_stale_hunk_is_refused),
        test(
            "cli::lines_decide_as_start_line_counts",
            lines_decide_as_start_line_counts,
        ),
        test(
            "cli::several_transactions_have_to_be_named",
            several_transactions_have_to_be_named,
        ),
        test(
            "cli::undo_and_redo_bring_back_the_bytes",
            undo_and_redo_bring_back_the_bytes,
        ),
        test(
            "cli::a_changed_file_is_a_conflict",
            a_changed_file_is_a_conflict,
        ),
        test("cli::usage_errors_exit_with_2", usage_errors_exit_with_2),
        test(
            "cli::refusals_say_code_message_and_hint",
            refusals_say_code_message_and_hint,
        ),
        test(
            "cli::any_bytes_to_propose_store_nothing",
            any_bytes_to_propose_store_nothing,
        ),
        test("cli::looking_writes_nothing", looking_writes_nothing),
        test(
            "cli::the_workspace_can_be_named",
            the_workspace_can_be_named,
        ),
        test("cli::the_journal_verifies", the_journal_verifies),
        test(
            "cli::a_corrupt_store_is_set_aside",
            a_corrupt_store_is_set_aside,
        ),
        test(
            "cli::an_unknown_setting_is_named",
            an_unknown_setting_is_named,
        ),
        test(
            "cli::completions_and_help_are_there",
            completions_and_help_are_there,
        ),
        test(
            "cli::doctor_reports_without_secrets",
            doctor_reports_without_secrets,
        ),
    ]
}

const POEM: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

const DIFF: &str = "--- a/poem.txt\n+++ b/poem.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -6,3 +6,4 @@\n six\n-seven\n+SEVEN\n+and a half\n eight\n";

fn poem() -> Result<Project> {
    Project::with_files(&[("poem.txt", POEM)])
}

fn propose(project: &Project, text: &str) -> Result<Value> {
    project
        .run_with(&["propose", "--json"], text.as_bytes())?
        .expect_code(0)?
        .json()
}

fn json_of(project: &Project, arguments: &[&str], code: i32) -> Result<Value> {
    let mut all = arguments.to_vec();
    all.push("--json");
    project.run(&all)?.expect_code(code)?.json()
}

fn id_of(transaction: &Value) -> Result<String> {
    Ok(transaction["transaction"]
        .as_str()
        .context("a transaction id")?
        .to_owned())
}

fn hunk(transaction: &Value, file: usize, hunk: usize) -> Result<Value> {
    let hunk = &transaction["files"][file]["hunks"][hunk];
    ensure!(
        hunk.is_object(),
        "no hunk {hunk} of file {file} in {transaction}"
    );
    Ok(hunk.clone())
}

fn propose_prints_the_transaction() -> Result<()> {
    let project = poem()?;
    let transaction = propose(&project, DIFF)?;
    ensure!(id_of(&transaction)?.starts_with("tx_"), "{transaction}");
    ensure!(transaction["state"] == "pending", "{transaction}");
    let files = transaction["files"].as_array().context("files")?;
    ensure!(
        files.len() == 1 && files[0]["path"] == "poem.txt",
        "{transaction}"
    );
    ensure!(files[0]["operation"] == "edit", "{transaction}");
    let (first, second) = (hunk(&transaction, 0, 0)?, hunk(&transaction, 0, 1)?);
    for hunk in [&first, &second] {
        ensure!(
            hunk["id"].as_str().is_some_and(|id| id.starts_with("h_")),
            "{hunk}"
        );
        ensure!(
            hunk["revision"].is_u64() && hunk["state"] == "pending",
            "{hunk}"
        );
        ensure!(
            hunk["match"] == "exact" && hunk["rationale"].is_null(),
            "{hunk}"
        );
    }
    ensure!(first["start_line"] == 2, "{first}");
    ensure!(
        first["removed"] == json!(["two"]) && first["added"] == json!(["TWO"]),
        "{first}"
    );
    ensure!(second["start_line"] == 7, "{second}");
    ensure!(
        second["added"] == json!(["SEVEN", "and a half"]),
        "{second}"
    );
    ensure!(
        project.read("poem.txt")? == POEM,
        "a proposal wrote to the file"
    );

    // An insertion counts the line before which it goes.
    let project = poem()?;
    let transaction = propose(
        &project,
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -2,2 +2,3 @@\n two\n+two and a half\n three\n",
    )?;
    let inserted = hunk(&transaction, 0, 0)?;
    ensure!(
        inserted["start_line"] == 3 && inserted["removed"] == json!([]),
        "{inserted}"
    );
    Ok(())
}

fn every_format_is_told_by_itself() -> Result<()> {
    let whole = POEM.replace("two\n", "TWO\n");
    let forms: Vec<(&str, String)> = vec![
        ("unified-diff", "--- a/poem.txt\n+++ b/poem.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n".into()),
        ("apply-patch", "*** Begin Patch\n*** Update File: poem.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n".into()),
        ("search-replace", "poem.txt\n<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n".into()),
        ("json", json!({"edits": [{"path": "poem.txt", "search": "two", "replace": "TWO"}]}).to_string()),
        ("json", json!({"files": [{"path": "poem.txt", "text": whole}]}).to_string()),
        ("json", json!({"encoding": "utf-16", "documents": [{"path": "poem.txt", "version": null, "edits": [
            {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}, "newText": "TWO"}]}]}).to_string()),
    ];
    for (format, text) in &forms {
        for forced in [false, true] {
            let project = poem()?;
            let mut arguments = vec!["propose", "--json"];
            if forced {
                arguments.extend(["--format", format]);
            }
            let output = project.run_with(&arguments, text.as_bytes())?;
            let transaction = output
                .expect_code(0)
                .with_context(|| format!("{format}: {text}"))?
                .json()?;
            let hunk = hunk(&transaction, 0, 0)?;
            ensure!(
                hunk["removed"] == json!(["two"]) && hunk["added"] == json!(["TWO"]),
                "{format}: {transaction}"
            );
        }
    }
    // A forced format that does not fit is an error with a line.
    let project = poem()?;
    let output = project.run_with(&["propose", "--format", "apply-patch"], DIFF.as_bytes())?;
    ensure!(
        output.expect_code(1)?.stderr.contains("line"),
        "no line number"
    );
    Ok(())
}

fn status_lists_what_is_unsettled() -> Result<()> {
    let project = poem()?;
    let status = json_of(&project, &["status"], 0)?;
    ensure!(status["transactions"] == json!([]), "{status}");
    ensure!(
        status["approvals"] == json!([]) && status["recovery"] == json!([]),
        "{status}"
    );
    let transaction = propose(&project, DIFF)?;
    let status = json_of(&project, &["status"], 0)?;
    ensure!(
        status["transactions"] == json!([transaction]),
        "{status} is not {transaction}"
    );
    json_of(&project, &["reject"], 0)?;
    let status = json_of(&project, &["status"], 0)?;
    ensure!(status["transactions"] == json!([]), "{status}");
    Ok(())
}

fn accepting_one_hunk_leaves_the_other() -> Result<()> {
    let project = poem()?;
    let transaction = propose(&project, DIFF)?;
    let second = hunk(&transaction, 0, 1)?;
    let name = format!("{}@{}", second["id"].as_str().unwrap(), second["revision"]);
    let answer = json_of(&project, &["accept", "--hunk", &name], 0)?;
    ensure!(
        answer["receipt"]["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("rc_")),
        "{answer}"
    );
    ensure!(hunk(&answer, 0, 1)?["state"] == "accepted", "{answer}");
    ensure!(
        hunk(&answer, 0, 0)?["state"] == "pending" && answer["state"] == "pending",
        "{answer}"
    );
    let text = project.read("poem.txt")?;
    ensure!(
        text == POEM.replace("seven\n", "SEVEN\nand a half\n"),
        "{text:?}"
    );
    // The rest, by file.
    let answer = json_of(&project, &["accept", "--file", "poem.txt"], 0)?;
    ensure!(answer["state"] == "committed", "{answer}");
    let text = project.read("poem.txt")?;
    ensure!(
        text == POEM
            .replace("seven\n", "SEVEN\nand a half\n")
            .replace("two\n", "TWO\n"),
        "{text:?}"
    );
    Ok(())
}

fn a_stale_hunk_is_refused() -> Result<()> {
    let project = poem()?;
    let transaction = propose(&project, DIFF)?;
    let first = hunk(&transaction, 0, 0)?;
    let revision = first["revision"].as_u64().context("revision")?;
    let name = format!("{}@{}", first["id"].as_str().unwrap(), revision + 7);
    let answer = json_of(&project, &["accept", "--hunk", &name], 1)?;
    ensure!(answer["error"]["code"] == "STALE_HUNK", "{answer}");
    ensure!(
        project.read("poem.txt")? == POEM,
        "it was applied all the same"
    );
    Ok(())
}

fn lines_decide_as_start_line_counts() -> Result<()> {
    let project = poem()?;
    propose(&project, DIFF)?;
    let answer = json_of(&project, &["accept", "--lines", "poem.txt:7-7"], 0)?;
    ensure!(hunk(&answer, 0, 0)?["state"] == "pending", "{answer}");
    let text = project.read("poem.txt")?;
    ensure!(
        text.contains("SEVEN\n") && !text.contains("TWO"),
        "{text:?}"
    );
    Ok(())
}

fn several_transactions_have_to_be_named() -> Result<()> {
    let project = poem()?;
    let first = id_of(&propose(&project, DIFF)?)?;
    let second = id_of(&propose(
        &project,
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n",
    )?)?;
    let answer = json_of(&project, &["accept"], 1)?;
    ensure!(
        answer["error"]["code"] == "SEVERAL_TRANSACTIONS",
        "{answer}"
    );
    let said = answer.to_string();
    ensure!(
        said.contains(&first) && said.contains(&second),
        "{said} does not list both"
    );
    ensure!(project.read("poem.txt")? == POEM, "something was applied");
    json_of(&project, &["accept", &second], 0)?;
    ensure!(
        project.read("poem.txt")? == POEM.replace("four", "FOUR"),
        "not the one named"
    );
    Ok(())
}

fn undo_and_redo_bring_back_the_bytes() -> Result<()> {
    let project = Project::with_files(&[
        ("a.txt", "a\r\nb\r\n"),
        ("gone.txt", "bye"),
        ("old/name.txt", "n\n"),
    ])?;
    let before = project.tree()?;
    let proposal = json!({"files": [
        {"path": "a.txt", "text": "A\nb\n"},
        {"path": "gone.txt", "delete": true},
        {"path": "old/name.txt", "rename_to": "new/deep/name.txt", "text": "N\n"},
        {"path": "made/by/us.txt", "text": "made\n"},
    ]});
    propose(&project, &proposal.to_string())?;
    json_of(&project, &["accept", "--all"], 0)?;
    ensure!(
        project.read("a.txt")? == "A\r\nb\r\n",
        "line endings were not kept"
    );
    ensure!(
        project.read("new/deep/name.txt")? == "N\n" && project.read("made/by/us.txt")? == "made\n",
        "not made"
    );
    let after = project.tree()?;
    let undone = json_of(&project, &["undo"], 0)?;
    ensure!(undone.is_object(), "{undone}");
    let differences = before.differences(&project.tree()?);
    ensure!(differences.is_empty(), "after undo: {differences:?}");
    json_of(&project, &["redo"], 0)?;
    let differences = after.differences(&project.tree()?);
    ensure!(differences.is_empty(), "after redo: {differences:?}");
    Ok(())
}

fn a_changed_file_is_a_conflict() -> Result<()> {
    let project = poem()?;
    propose(&project, DIFF)?;
    let mine = POEM.replace("two\n", "two of my own\n");
    project.write("poem.txt", &mine)?;
    let output = project.run(&["accept", "--json"])?;
    ensure!(
        output.code() == 3,
        "exit {} {} {}",
        output.code(),
        output.stdout,
        output.stderr
    );
    output.json()?;
    ensure!(
        project.read("poem.txt")? == mine,
        "something was written over a conflict"
    );
    let status = json_of(&project, &["status"], 0)?;
    ensure!(
        hunk(&status["transactions"][0], 0, 0)?["state"] == "conflict",
        "{status}"
    );
    Ok(())
}

fn usage_errors_exit_with_2() -> Result<()> {
    let project = poem()?;
    for arguments in [
        &["no-such-command"][..],
        &["accept", "--hunk"],
        &["propose", "--format", "morse"],
        &["accept", "--lines", "poem.txt"],
        &[],
    ] {
        let output = project.run(arguments)?;
        ensure!(
            output.code() == 2,
            "{arguments:?} exits with {}: {}",
            output.code(),
            output.stderr
        );
    }
    Ok(())
}

fn two_lines(output: &Output) -> Result<(String, String)> {
    let mut lines = output.stderr.lines();
    let first = lines.next().context("stderr is empty")?.to_owned();
    let second = lines.next().context("no hint")?.to_owned();
    Ok((first, second))
}

fn refusals_say_code_message_and_hint() -> Result<()> {
    let project = Project::with_files(&[("a.txt", "x\nx\n")])?;
    let blocks = "a.txt\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
    let output = project
        .run_with(&["propose"], blocks.as_bytes())?
        .expect_code(1)?;
    let (error, hint) = two_lines(&output)?;
    ensure!(error.starts_with("AMBIGUOUS_MATCH: "), "{error:?}");
    ensure!(
        !hint.trim().is_empty() && output.stdout.is_empty(),
        "{output:?}"
    );
    let output = project
        .run_with(&["propose", "--json"], blocks.as_bytes())?
        .expect_code(1)?;
    let error = &output.json()?["error"];
    ensure!(error["code"] == "AMBIGUOUS_MATCH", "{error}");
    ensure!(
        error["message"].is_string() && error["hint"].is_string(),
        "{error}"
    );
    let output = project.run(&["accept"])?.expect_code(1)?;
    ensure!(
        two_lines(&output)?.0.starts_with("NOTHING_PENDING: "),
        "{output:?}"
    );
    Ok(())
}

fn any_bytes_to_propose_store_nothing() -> Result<()> {
    let mut inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"hello\n".to_vec(),
        b"\xff\xfe\x00\x01".to_vec(),
        b"--- a/poem.txt\n+++ b/poem.txt\n@@ -1,9 +1\n".to_vec(),
        b"*** Begin Patch\n*** Update File: poem.txt\n@@\n-not there\n+x\n".to_vec(),
        b"{\"edits\": [{\"path\": ".to_vec(),
        b"{\"files\": [{\"path\": \"../out.txt\", \"text\": \"x\"}]}".to_vec(),
        [b"poem.txt\n<<<<<<< SEARCH\n".to_vec(), vec![b'x'; 300_000]].concat(),
        vec![b'['; 100_000],
    ];
    // A cheap source of noise with a fixed seed.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..20 {
        let mut bytes = DIFF.as_bytes().to_vec();
        for _ in 0..5 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % bytes.len();
            bytes[at] = (seed >> 20) as u8;
        }
        inputs.push(bytes);
    }
    let project = poem()?;
    for input in inputs {
        let output = project.run_with(&["propose", "--json"], &input)?;
        let shown = String::from_utf8_lossy(&input[..input.len().min(80)]).into_owned();
        let value = output.json().with_context(|| shown.clone())?;
        if output.code() == 0 {
            // The noise may leave a proposal that still makes sense.
            let id = id_of(&value)?;
            project.run(&["reject", &id])?.expect_code(0)?;
            continue;
        }
        ensure!(output.code() == 1, "exit {} for {shown:?}", output.code());
        ensure!(value["error"]["code"].is_string(), "{value}");
        let status = json_of(&project, &["status"], 0)?;
        ensure!(
            status["transactions"] == json!([]),
            "stored for {shown:?}: {status}"
        );
    }
    let malformed = project.run_with(
        &["propose"],
        b"--- a/poem.txt\n+++ b/poem.txt\n@@ nonsense\n",
    )?;
    ensure!(
        malformed.expect_code(1)?.stderr.contains("line 3"),
        "the line is not named"
    );
    ensure!(project.read("poem.txt")? == POEM, "the file changed");
    Ok(())
}

fn looking_writes_nothing() -> Result<()> {
    let project = poem()?;
    project.run(&["status"])?.expect_code(0)?;
    project.run(&["doctor"])?;
    project.run(&["undo"])?;
    ensure!(
        !project.root().join(".agentic").exists(),
        "looking made a store"
    );
    propose(&project, DIFF)?;
    let ignore = std::fs::read_to_string(project.root().join(".agentic/.gitignore"))?;
    ensure!(ignore.trim() == "*", "{ignore:?}");
    Ok(())
}

fn the_workspace_can_be_named() -> Result<()> {
    let project = poem()?;
    let root = project.root();
    let root = root.to_str().context("a path in UTF-8")?;
    let mut command = project.command(&["propose", "--json", "--workspace", root])?;
    command.current_dir("/");
    let output = redline_tests::program::run(command, DIFF.as_bytes())?.expect_code(0)?;
    ensure!(
        output.json()?["files"][0]["path"] == "poem.txt",
        "{}",
        output.stdout
    );
    // A folder below finds the project around it.
    project.write("deep/down/here.txt", "x")?;
    let mut command = project.command(&["status", "--json"])?;
    command.current_dir(project.root().join("deep/down"));
    let status = redline_tests::program::run(command, b"")?
        .expect_code(0)?
        .json()?;
    ensure!(
        status["transactions"]
            .as_array()
            .is_some_and(|list| list.len() == 1),
        "{status}"
    );
    Ok(())
}

fn the_journal_verifies() -> Result<()> {
    let project = poem()?;
    propose(&project, DIFF)?;
    json_of(&project, &["accept"], 0)?;
    json_of(&project, &["undo"], 0)?;
    project.run(&["journal", "verify"])?.expect_code(0)?;
    // One flipped byte is found and placed.
    let path = project.root().join(".agentic/journal.ndjson");
    let mut bytes = std::fs::read(&path)?;
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes)?;
    let output = project.run(&["journal", "verify"])?;
    ensure!(output.code() == 1, "a flipped byte went unseen: {output:?}");
    Ok(())
}

fn a_corrupt_store_is_set_aside() -> Result<()> {
    let project = poem()?;
    let broken = id_of(&propose(&project, DIFF)?)?;
    let whole = id_of(&propose(
        &project,
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n",
    )?)?;
    stop_sidecar(&project)?;
    let folder = project.root().join(".agentic/transactions").join(&broken);
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.is_file() {
            std::fs::write(&path, b"\x00not what was written\xff")?;
        }
    }
    let output = project.run(&["status", "--json"])?.expect_code(0)?;
    let status = output.json()?;
    let list = status["transactions"].as_array().context("transactions")?;
    ensure!(
        list.len() == 1 && list[0]["transaction"] == whole.as_str(),
        "the sound transaction is not what is left: {status}"
    );
    let named = format!("{} {}", output.stdout, output.stderr).contains(&broken);
    ensure!(named, "the broken one is not named: {output:?}");
    let mut aside = Vec::new();
    find_corrupt(&project.root().join(".agentic"), &mut aside)?;
    ensure!(!aside.is_empty(), "nothing was set aside as *.corrupt");
    json_of(&project, &["accept", &whole], 0)?;
    ensure!(
        project.read("poem.txt")? == POEM.replace("four", "FOUR"),
        "the rest does not work"
    );
    Ok(())
}

fn find_corrupt(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().contains(".corrupt") {
            found.push(path.clone());
        }
        if path.is_dir() {
            find_corrupt(&path, found)?;
        }
    }
    Ok(())
}

/// Ends the sidecar of this project, so that the next command opens the store anew.
pub(crate) fn stop_sidecar(project: &Project) -> Result<()> {
    for process in project.processes() {
        redline_tests::processes::kill(process.pid);
    }
    project.wait_no_process(std::time::Duration::from_secs(10))
}

fn an_unknown_setting_is_named() -> Result<()> {
    let project = poem()?;
    project.configure("modle = \"replay/demo\"\n")?;
    let output = project.run(&["status"])?.expect_code(0)?;
    let said = format!("{}{}", output.stdout, output.stderr);
    ensure!(said.contains("modle") && said.contains("model"), "{said:?}");
    Ok(())
}

fn completions_and_help_are_there() -> Result<()> {
    let project = poem()?;
    for shell in ["bash", "zsh", "fish"] {
        let output = project.run(&["completions", shell])?.expect_code(0)?;
        ensure!(
            output.stdout.contains("propose"),
            "{shell}: {}",
            output.stdout
        );
    }
    let help = project.run(&["--help"])?.expect_code(0)?;
    for command in [
        "lsp", "propose", "review", "accept", "reject", "undo", "redo", "status", "ask", "doctor",
    ] {
        ensure!(
            help.stdout.contains(command),
            "help does not name {command}"
        );
    }
    ensure!(
        help.stdout.contains("130"),
        "help does not document the exit codes"
    );
    let version = project.run(&["--version"])?.expect_code(0)?;
    ensure!(version.stdout.starts_with("redline "), "{}", version.stdout);
    Ok(())
}

fn doctor_reports_without_secrets() -> Result<()> {
    let project = poem()?;
    project.configure(
        "model = \"mine/m\"\n[providers.mine]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"MY_TEST_KEY\"\n",
    )?;
    let mut command = project.command(&["doctor"])?;
    command.env("MY_TEST_KEY", "sk-very-secret-value");
    let output = redline_tests::program::run(command, b"")?;
    let said = format!("{}{}", output.stdout, output.stderr);
    ensure!(
        said.contains("MY_TEST_KEY"),
        "the name of the key is not told: {said}"
    );
    ensure!(
        !said.contains("sk-very-secret-value"),
        "the key itself is told: {said}"
    );
    ensure!(!said.contains("seven"), "file content is told: {said}");
    Ok(())
}
