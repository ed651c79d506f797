//! Turns of the built-in player of recordings, which is faster than any vendor: what a client is told, and how often.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::client::PATIENCE;
use redline_tests::editor::{Editor, Profile};
use redline_tests::processes;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test(
            "recorded::a_client_is_told_at_most_once_a_frame",
            a_client_is_told_at_most_once_a_frame,
        ),
        test(
            "recorded::who_reads_slowly_is_told_all_of_it_in_few_words",
            who_reads_slowly_is_told_all_of_it_in_few_words,
        ),
    ]
}

/// Notifications of a conversation are at least so far apart, in milliseconds.
const FRAME_MS: u128 = 16;

/// Characters of one piece of the recorded answer.
const PIECE: usize = 40;

/// A project whose model says `pieces` pieces as fast as it can, and the answer.
fn talkative(pieces: usize) -> Result<(Project, String)> {
    let project = Project::with_files(&[("a.txt", "one\n")])?;
    let sentence = |n: usize| format!("{n:>width$}.", width = PIECE - 1);
    let answer: String = (0..pieces).map(sentence).collect();
    let recording = format!(
        "{}\n{}\n{}\n",
        json!({"replay": "redline/v1", "piece_chars": PIECE}),
        json!({"event": "text", "text": answer}),
        json!({"event": "done", "reason": "end"}),
    );
    std::fs::write(project.folder().join("recording.jsonl"), recording)?;
    project.configure(&format!(
        "model = \"recorded/answer\"\n\n[providers.recorded]\napi = \"replay\"\nfile = {:?}\n",
        project.folder().join("recording.jsonl")
    ))?;
    Ok((project, answer))
}

/// An editor that draws conversations, whose pipe leads straight to the hub.
fn editor(project: &Project) -> Result<Editor> {
    project.editor_with(&Profile::full().with_redline(), &["lsp", "--in-process"])
}

/// The updates of the turn that a client was sent, message by message.
fn messages(editor: &Editor) -> Vec<Value> {
    editor.client.look(|arrived| {
        let all = arrived.notifications.iter();
        let updates = all.filter(|(method, params)| {
            method == "redline/session/update" && params["turnId"].is_string()
        });
        updates
            .map(|(_, params)| params["updates"].clone())
            .collect()
    })
}

fn words(messages: &[Value]) -> String {
    let updates = messages.iter().filter_map(Value::as_array).flatten();
    let said = updates.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    said.filter_map(|update| update["content"]["text"].as_str())
        .collect()
}

fn wait_end(editor: &Editor) -> Result<()> {
    editor
        .client
        .wait_for("the turn ends", PATIENCE, |arrived| {
            let update = arrived.newest("redline/session/update", |params| {
                let updates = params["updates"].as_array();
                updates
                    .is_some_and(|all| all.iter().any(|update| update["stopReason"] == "end_turn"))
            });
            update.map(drop)
        })
}

/// Waits until the record of a session is as long as all that was said.
fn wait_recorded(project: &Project, session: &str, bytes: usize) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let length = record_bytes(&project.state_dir(), session)?;
        if length > bytes as u64 {
            return Ok(());
        }
        ensure!(Instant::now() < end, "the record has {length} bytes");
        // There is nothing to be woken by.
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn record_bytes(folder: &std::path::Path, session: &str) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            bytes += record_bytes(&entry.path(), session)?;
        } else if name.to_string_lossy().starts_with(session) {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

fn a_client_is_told_at_most_once_a_frame() -> Result<()> {
    let (project, answer) = talkative(20_000)?;
    let editor = editor(&project)?;
    let begun = Instant::now();
    editor
        .client
        .request("redline/session/prompt", json!({"text": "talk"}))?;
    wait_end(&editor)?;
    let elapsed = begun.elapsed().as_millis();
    let told = messages(&editor);
    ensure!(words(&told) == answer, "words were lost, or came twice");
    // Frames are so far apart by a clock that does not jump, so there is no room for more.
    let most = elapsed / FRAME_MS + 1;
    ensure!(
        told.len() as u128 <= most,
        "{} messages in {elapsed} ms",
        told.len()
    );
    Ok(())
}

fn who_reads_slowly_is_told_all_of_it_in_few_words() -> Result<()> {
    // Far more than pipes and queues hold.
    let (project, answer) = talkative(200_000)?;
    let editor = editor(&project)?;
    let sidecar = editor.client.pid().context("a process")?;
    let new = editor.client.request("redline/session/new", json!({}))?;
    let session = new["sessionId"].as_str().context("an id")?;
    editor.client.pause_reading(true);
    let before = processes::resident_bytes(sidecar).context("its memory")?;
    let begun = Instant::now();
    editor.client.start(
        "redline/session/prompt",
        json!({"sessionId": session, "text": "talk"}),
    )?;
    // The turn waits for nobody: its record is whole while not a word of it is read.
    wait_recorded(&project, session, answer.len())?;
    let grown = processes::resident_bytes(sidecar)
        .context("its memory")?
        .saturating_sub(before);
    editor.client.pause_reading(false);
    wait_end(&editor)?;
    let elapsed = begun.elapsed().as_millis();
    let told = messages(&editor);
    ensure!(words(&told) == answer, "words were lost, or came twice");
    let most = elapsed / FRAME_MS + 1;
    ensure!(
        told.len() as u128 <= most,
        "{} messages, of which {most} fit into {elapsed} ms",
        told.len()
    );
    ensure!(told.len() < 2_000, "{} messages", told.len());
    // A few copies of the answer: the conversation, its record on the way, one merged message. A queue of pieces would
    // be a hundred bytes of JSON around each of 200,000.
    let limit = 12 * answer.len() as u64 + (32 << 20);
    ensure!(grown < limit, "it grew by {grown} bytes, {limit} are fine");
    Ok(())
}
