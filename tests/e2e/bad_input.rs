//! Any bytes on stdin of `lsp` or on the socket: an error or a drop, never a crash, never unbounded memory.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::client::{Client, Null, PATIENCE};
use redline_tests::editor::Profile;
use redline_tests::processes;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test("bad_input::stdin_of_the_bridge", stdin_of_the_bridge),
        test("bad_input::stdin_in_process", stdin_in_process),
        test("bad_input::the_socket", the_socket),
        test(
            "bad_input::after_a_bad_message_the_next_is_served",
            after_a_bad_message_the_next_is_served,
        ),
        test(
            "bad_input::a_body_that_never_comes_costs_no_memory",
            a_body_that_never_comes_costs_no_memory,
        ),
        test(
            "bad_input::unknown_methods_and_bad_params_are_answered",
            unknown_methods_and_bad_params_are_answered,
        ),
        test(
            "bad_input::odd_document_events_are_survived",
            odd_document_events_are_survived,
        ),
    ]
}

/// Bytes that no client should send.
fn garbage() -> Vec<(&'static str, Vec<u8>)> {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    vec![
        (
            "noise",
            (0..4096_u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
                .collect(),
        ),
        ("no header name", b"hello\r\n\r\n{}".to_vec()),
        ("no length", b"Content-Type: x\r\n\r\n{}".to_vec()),
        ("negative length", b"Content-Length: -5\r\n\r\n{}".to_vec()),
        (
            "length with words",
            b"Content-Length: ten\r\n\r\n{}".to_vec(),
        ),
        (
            "huge length",
            b"Content-Length: 99999999999999999999999\r\n\r\n{}".to_vec(),
        ),
        (
            "large length",
            b"Content-Length: 4000000000\r\n\r\n{}".to_vec(),
        ),
        ("not JSON", b"Content-Length: 5\r\n\r\n{{{{{".to_vec()),
        (
            "not UTF-8",
            b"Content-Length: 4\r\n\r\n\"\xff\xfe\"".to_vec(),
        ),
        ("deep nesting", {
            let deep = "[".repeat(200_000);
            format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).into_bytes()
        }),
        ("a number", b"Content-Length: 2\r\n\r\n42".to_vec()),
        ("an empty batch", b"Content-Length: 2\r\n\r\n[]".to_vec()),
        ("no body", b"Content-Length: 0\r\n\r\n".to_vec()),
        (
            "two lengths",
            [
                b"Content-Length: 1\r\nContent-Length: 75\r\n\r\n".as_slice(),
                body,
            ]
            .concat(),
        ),
        ("endless header", vec![b'x'; 3_000_000]),
        ("endless header lines", b"X: y\r\n".repeat(200_000)),
        (
            "cut in the body",
            b"Content-Length: 100\r\n\r\n{\"jsonrpc\"".to_vec(),
        ),
        ("NULs", vec![0; 10_000]),
    ]
}

/// Feeds each to a fresh process and wants it to end by itself, without a crash.
fn feed(arguments: &[&str]) -> Result<()> {
    for (name, bytes) in garbage() {
        let project = Project::with_files(&[("a.txt", "a\n")])?;
        let output = redline_tests::program::run(project.command(arguments)?, &bytes)
            .with_context(|| format!("after {name}"))?;
        // 1 is the protocol's answer to an end without `shutdown`; a panic or an abort is neither.
        ensure!(
            matches!(output.code(), 0 | 1),
            "{name}: {:?} {}",
            output.status,
            output.stderr
        );
        ensure!(
            !output.stderr.contains("panicked"),
            "{name}: {}",
            output.stderr
        );
        ensure!(
            no_crash_report(&project),
            "{name}: a crash report was written"
        );
        let status = project.run(&["status", "--json"])?.expect_code(0)?.json()?;
        ensure!(status["transactions"] == json!([]), "{name}: {status}");
    }
    Ok(())
}

fn no_crash_report(project: &Project) -> bool {
    let folder = project.state_dir().join("redline/crashes");
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

fn stdin_of_the_bridge() -> Result<()> {
    feed(&["lsp"])
}

fn stdin_in_process() -> Result<()> {
    feed(&["lsp", "--in-process"])
}

fn the_socket() -> Result<()> {
    let project = Project::with_files(&[("a.txt", "a\n")])?;
    // An editor with unsaved text is on the same sidecar throughout.
    let editor = project.editor(&Profile::full())?;
    editor.open("a.txt")?;
    editor.replace("a.txt", 0..0, "unsaved ")?;
    let sidecar = project
        .processes()
        .into_iter()
        .find(|process| process.command.contains(" serve"))
        .context("no sidecar runs")?;
    for (name, bytes) in garbage() {
        let mut stream = UnixStream::connect(project.socket())?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.set_write_timeout(Some(Duration::from_secs(10)))?;
        // It may hang up before it has read all of it.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        ensure!(processes::is_alive(sidecar.pid), "{name} ended the sidecar");
    }
    let text = editor
        .client
        .request("redline/document/text", json!({"uri": editor.uri("a.txt")}))?;
    ensure!(text.to_string().contains("unsaved a"), "{text}");
    ensure!(no_crash_report(&project), "a crash report was written");
    let resident = processes::resident_bytes(sidecar.pid).unwrap_or(0);
    ensure!(resident < 200 << 20, "the sidecar holds {resident} bytes");
    Ok(())
}

fn connected(project: &Project) -> Result<Client> {
    let client = project.bridge(&["lsp"], Box::new(Null))?;
    client.request("initialize", Profile::full().initialize(&project.root()))?;
    client.notify("initialized", json!({}))?;
    Ok(client)
}

fn after_a_bad_message_the_next_is_served() -> Result<()> {
    let project = Project::with_files(&[("a.txt", "a\n")])?;
    let client = connected(&project)?;
    for body in [
        "{{{{{",
        "[1,2",
        "nonsense",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":7}",
        "{}",
        "null",
    ] {
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        client.out().bytes(frame.as_bytes())?;
    }
    client
        .out()
        .bytes(b"Content-Length: 4\r\n\r\n\"\xff\xfe\"")?;
    let status = client.request("redline/status", json!({}))?;
    ensure!(status["version"].is_string(), "{status}");
    Ok(())
}

fn a_body_that_never_comes_costs_no_memory() -> Result<()> {
    let project = Project::with_files(&[("a.txt", "a\n")])?;
    let client = connected(&project)?;
    let before: u64 = total_resident(&project);
    client.out().bytes(b"Content-Length: 3000000000\r\n\r\n{")?;
    // Whether it waits or hangs up, it must not set three gigabytes aside.
    for _ in 0..20 {
        let growth = total_resident(&project).saturating_sub(before);
        ensure!(growth < 100 << 20, "{growth} bytes more");
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn total_resident(project: &Project) -> u64 {
    project
        .processes()
        .iter()
        .filter_map(|process| processes::resident_bytes(process.pid))
        .sum()
}

fn unknown_methods_and_bad_params_are_answered() -> Result<()> {
    let project = Project::with_files(&[("a.txt", "a\n")])?;
    let client = connected(&project)?;
    for (method, params) in [
        ("no/such/method", json!({})),
        ("textDocument/codeAction", json!({"textDocument": 7})),
        ("textDocument/codeAction", Value::Null),
        ("redline/transaction/propose", json!({"content": 7})),
        (
            "redline/transaction/accept",
            json!({"hunks": [{"id": "h_none"}]}),
        ),
        (
            "redline/transaction/get",
            json!({"transactionId": "../../etc/passwd"}),
        ),
        (
            "workspace/executeCommand",
            json!({"command": "redline.nothing"}),
        ),
        (
            "workspace/executeCommand",
            json!({"command": "redline.accept", "arguments": [[[]], 7, null]}),
        ),
    ] {
        let id = client.start(method, params.clone())?;
        let reply = client.wait_reply(id, PATIENCE)?;
        ensure!(reply.is_err(), "{method} {params} was answered {reply:?}");
    }
    ensure!(
        client.request("redline/status", json!({}))?.is_object(),
        "it no longer serves"
    );
    Ok(())
}

fn odd_document_events_are_survived() -> Result<()> {
    let project = Project::with_files(&[("a.txt", "one\ntwo\n")])?;
    let editor = project.editor(&Profile::full())?;
    let uri = editor.uri("a.txt");
    let send = |method: &str, params: Value| editor.client.notify(method, params);
    // Changes, saves and closes of what was never opened; foreign schemes; positions far outside.
    send(
        "textDocument/didChange",
        json!({"textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"text": "x"}]}),
    )?;
    send(
        "textDocument/didClose",
        json!({"textDocument": {"uri": uri}}),
    )?;
    send(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": "untitled:Untitled-1", "languageId": "x", "version": 1, "text": "x"}}),
    )?;
    send(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": "file:///etc/%00", "languageId": "x", "version": 1, "text": "x"}}),
    )?;
    editor.open("a.txt")?;
    let far = json!({"line": 4_000_000_000_u32, "character": 4_000_000_000_u32});
    editor.change(
        "a.txt",
        None,
        &json!([{"range": {"start": far, "end": far}, "text": "three\n"}]),
    )?;
    send(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": uri, "languageId": "x", "version": 9, "text": "again\n"}}),
    )?;
    editor.client.request("redline/status", json!({}))?;
    send("$/setTrace", json!({"value": "verbose"}))?;
    send("$/cancelRequest", json!({"id": 99_999}))?;
    send("$/made/up", json!([]))?;
    let text = editor
        .client
        .request("redline/document/text", json!({"uri": uri}))?;
    ensure!(text.to_string().contains("again"), "{text}");
    ensure!(no_crash_report(&project), "a crash report was written");
    Ok(())
}
