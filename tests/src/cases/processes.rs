//! Rows of the kind `processes`: a command that is run by the real tool, in a child process whose memory is
//! measured, and what is left of it afterwards.
//!
//! A `shell` is what an agent would have `sh -c` run. The gate lets everything through: whether a command may run
//! is asked by another kind of rows.

mod child;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::load::Row;
use super::observe::{Event, Observed, When};
use super::play::Stage;
use super::step::{Act, Step};
use super::{Difference, Verdict, expect};
use crate::processes;

pub use child::command;

/// The variable by which a row's processes are found again, whatever became of them.
const MARK: &str = "REDLINE_CASE_RUN";

/// How long a command may take where the row says nothing.
const TIME_LIMIT_MS: u64 = 20_000;

/// How long a process that was killed may take to be gone.
const GONE: Duration = Duration::from_millis(500);

/// What one run of the command gave.
struct Ran {
    /// As the model reads it.
    envelope: Value,
    /// The streams as they are kept, first and last bytes.
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Processes that carry the mark and still live.
    left: Vec<processes::Process>,
}

/// Plays a row and judges it: the preferred outcome first, then each alternative.
pub(super) fn play(row: &Row) -> Result<Verdict> {
    let (mut observed, runs) = run(row)?;
    let expected = row.expected();
    let mut candidates = vec![expected.clone()];
    candidates.extend(
        expected["also_ok"]
            .as_array()
            .into_iter()
            .flatten()
            .cloned(),
    );
    let mut preferred = None;
    for (at, mut candidate) in candidates.into_iter().enumerate() {
        observed.always = differences(&runs, &candidate);
        observed.always.extend(kept(&runs, &expected["limits"]));
        observed.always.extend(kept(&runs, &candidate["limits"]));
        // Judged here, so the rest need not know them; and one candidate at a time.
        if let Some(fields) = candidate.as_object_mut() {
            fields.remove("also_ok");
            let mut limits = expected["limits"].as_object().cloned().unwrap_or_default();
            limits.extend(
                fields
                    .get("limits")
                    .and_then(Value::as_object)
                    .cloned()
                    .unwrap_or_default(),
            );
            limits.remove("kept_output_bytes_max");
            fields.insert("limits".to_owned(), Value::Object(limits));
        }
        match (at, expect::judge(&observed, &candidate, row.get("limits"))) {
            (0, Verdict::Failed(differences)) => preferred = Some(differences),
            (0, verdict) => return Ok(verdict),
            (_, Verdict::Failed(_)) => {}
            (_, _) => return Ok(Verdict::PassedByAlternative),
        }
    }
    Ok(Verdict::Failed(preferred.unwrap_or_default()))
}

/// Plays the steps.
fn run(row: &Row) -> Result<(Observed, Vec<Ran>)> {
    let stage = Arc::new(Stage::of(row)?);
    for step in Step::parse_all(row.list("meanwhile")?)? {
        stage.by_others(&step)?;
    }
    let before = stage.world.snapshot()?;
    let state_before = stage.world.state_bytes();
    let mut runs = Vec::new();
    let mut events = Vec::new();
    let (mut wall, mut resident_growth_bytes) = (Duration::ZERO, 0);
    for step in Step::parse_all(row.list("action")?)? {
        match &step.act {
            Act::Command("run") => {
                let begun = Instant::now();
                let (ran, grown) = run_once(row, &stage, runs.len())?;
                wall += begun.elapsed();
                resident_growth_bytes = resident_growth_bytes.max(grown);
                events.push(event(&ran.envelope));
                runs.push(ran);
            }
            _ => stage.by_others(&step)?,
        }
    }
    let mut messages = String::new();
    let mut flags = BTreeSet::new();
    for ran in &runs {
        tell(&ran.envelope, &mut messages);
        flags.extend(marks(&ran.envelope));
    }
    let observed = Observed {
        after: stage.world.snapshot()?,
        state_growth_bytes: stage.world.state_bytes().saturating_sub(state_before),
        before,
        stage,
        events,
        documents_before: BTreeMap::new(),
        documents_after: BTreeMap::new(),
        states: Vec::new(),
        flags,
        messages,
        wall,
        checkpoint: Duration::ZERO,
        client_requests: BTreeMap::new(),
        emitted: Vec::new(),
        path: None,
        resident_growth_bytes,
        preview_bytes: 0,
        always: Vec::new(),
        compare_git: true,
    };
    Ok((observed, runs))
}

/// Runs the row's command once, in a child of its own.
fn run_once(row: &Row, stage: &Stage, number: usize) -> Result<(Ran, u64)> {
    let proposal = row.get("proposal");
    let mark = format!("{}-{number}", stage.world.project.folder().display());
    let mut env: Vec<String> = vec![format!("{MARK}={mark}")];
    for (name, value) in proposal["env"].as_object().into_iter().flatten() {
        let value = value.as_str().context("a variable is text")?;
        env.push(format!("{name}={value}"));
    }
    let argv = argv(proposal)?;
    let limit = proposal["timeout_ms"].as_u64().unwrap_or(TIME_LIMIT_MS);
    let asked = json!({
        "root": stage.world.project.root(),
        "arguments": {
            "action": "run",
            "program": argv[0],
            "arguments": argv[1..],
            "env": env,
            "timeout_seconds": limit as f64 / 1000.0,
        },
    });
    let mut child = Command::new(std::env::current_exe()?)
        .arg("command")
        .env_clear()
        .envs(stage.world.project.environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the child that runs the command")?;
    serde_json::to_writer(child.stdin.take().context("it has an input")?, &asked)?;
    let output = child.wait_with_output()?;
    let told: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("the child ended with {}", output.status))?;
    let bytes = |name: &str| -> Result<Vec<u8>> {
        Ok(STANDARD.decode(told[name].as_str().unwrap_or_default())?)
    };
    let marker = format!("{MARK}={mark}");
    let _ = processes::wait_none(&marker, GONE);
    let left = processes::with_environment(&marker);
    for process in &left {
        processes::kill(process.pid);
    }
    let ran = Ran {
        stdout: bytes("stdout")?,
        stderr: bytes("stderr")?,
        envelope: told["envelope"].clone(),
        left,
    };
    Ok((ran, told["resident_growth_bytes"].as_u64().unwrap_or(0)))
}

fn argv(proposal: &Value) -> Result<Vec<String>> {
    if let Some(script) = proposal["shell"].as_str() {
        return Ok(["sh", "-c", script].map(str::to_owned).to_vec());
    }
    let argv: Vec<String> = proposal["argv"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect();
    if argv.is_empty() {
        bail!("a command has argv or shell: {proposal}");
    }
    Ok(argv)
}

/// How the command ended, in the words of the cases.
fn event(envelope: &Value) -> Event {
    let state = envelope["recovery"]["state"].as_str().unwrap_or_default();
    let code = envelope["recovery"]["error"]["code"]
        .as_str()
        .unwrap_or_default();
    match state {
        "exited" => Event::ok(When::Run, &["exited"]),
        "signaled" => Event::ok(When::Run, &["signalled"]),
        "timed_out" => Event {
            code: code.to_owned(),
            ..Event::ok(When::Run, &["timeout"])
        },
        _ => Event::coded(When::Run, code),
    }
}

/// All that is told besides the output itself.
fn tell(envelope: &Value, messages: &mut String) {
    for part in [&envelope["recovery"], &envelope["data"]] {
        messages.push_str(&part.to_string());
        messages.push('\n');
    }
}

/// What is marked in the result: `truncated`, `escapes`, `binary_bytes`, …
fn marks(envelope: &Value) -> BTreeSet<String> {
    let mut marks = BTreeSet::new();
    let data = envelope["data"].as_object();
    for (name, value) in data.into_iter().flatten() {
        if name.ends_with("_truncated") {
            marks.insert("truncated".to_owned());
        }
        if name.ends_with("_removed") {
            let removed = value.as_object().into_iter().flatten();
            marks.extend(removed.map(|(name, _)| name.clone()));
        }
        if matches!(name.as_str(), "ended_processes" | "notes") {
            marks.insert(name.clone());
        }
    }
    marks
}

/// What differs in the command's own result, and what must not be there.
fn differences(runs: &[Ran], expected: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    for ran in runs {
        if !ran.left.is_empty() {
            all.push(Difference::new(
                "processes",
                "none of the command's is left",
                format!("{:?}", ran.left),
            ));
        }
    }
    let Some(ran) = runs.last() else {
        return all;
    };
    let data = &ran.envelope["data"];
    for (name, kept) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        if let Some(wanted) = expected[name].as_str() {
            // As it is kept, or as it is shown where that is something else.
            let shown = data[name].as_str().unwrap_or_default();
            if wanted.as_bytes() != kept.as_slice() && wanted != shown {
                all.push(Difference::new(
                    name,
                    format!("{wanted:?}"),
                    format!("{shown:?}"),
                ));
            }
        }
        let encoded = format!("{name}_base64");
        if let Some(wanted) = expected[&encoded].as_str()
            && STANDARD.encode(kept) != wanted
        {
            all.push(Difference::new(&encoded, wanted, STANDARD.encode(kept)));
        }
    }
    if !expected["exit_code"].is_null() && expected["exit_code"] != data["exit_code"] {
        all.push(Difference::new(
            "exit_code",
            &expected["exit_code"],
            &data["exit_code"],
        ));
    }
    let wanted = &expected["signal"];
    if !wanted.is_null() && signal_number(wanted) != data["signal"].as_i64() {
        all.push(Difference::new("signal", wanted, &data["signal"]));
    }
    all
}

/// A signal by its number or its name.
fn signal_number(signal: &Value) -> Option<i64> {
    let Some(name) = signal.as_str() else {
        return signal.as_i64();
    };
    let name = name.trim_start_matches("SIG");
    let known = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("SEGV", 11),
        ("PIPE", 13),
        ("TERM", 15),
    ];
    known
        .iter()
        .find(|(one, _)| *one == name)
        .map(|(_, number)| *number)
        .or_else(|| name.parse().ok())
}

/// How much output is kept for the reader, against its limit.
fn kept(runs: &[Ran], limits: &Value) -> Vec<Difference> {
    let Some(most) = limits["kept_output_bytes_max"].as_u64() else {
        return Vec::new();
    };
    let largest = runs.iter().map(|ran| {
        let shown = |name: &str| ran.envelope["data"][name].as_str().map_or(0, str::len);
        (shown("stdout") + shown("stderr")).max(ran.stdout.len() + ran.stderr.len()) as u64
    });
    match largest.max() {
        Some(got) if got > most => vec![Difference::new("kept_output_bytes_max", most, got)],
        _ => Vec::new(),
    }
}
