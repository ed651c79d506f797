//! What a row expects against what was observed.

use anyhow::Result;
use serde_json::Value;

use super::facts::{has_flag, is_reported, kinds_of};
use super::observe::{Event, Observed, When};
use super::step::lsp_range;
use super::world::Snapshot;
use super::{Difference, Verdict};
use crate::editor::Document;
use std::collections::BTreeMap;

/// Judges a row: the preferred outcome first, then each alternative.
pub(super) fn judge(observed: &Observed, expected: &Value, bounds: &Value) -> Verdict {
    let mut preferred = differences(observed, expected, expected);
    // The bounds of the whole run hold for every alternative.
    let beyond = limits(observed, bounds);
    preferred.extend(beyond.clone());
    if preferred.is_empty() {
        return Verdict::Passed;
    }
    if !beyond.is_empty() {
        return Verdict::Failed(preferred);
    }
    for alternative in expected["also_ok"].as_array().into_iter().flatten() {
        if differences(observed, alternative, expected).is_empty() {
            return Verdict::PassedByAlternative;
        }
    }
    Verdict::Failed(preferred)
}

/// What differs from one expectation; `case` is the whole of it, for what every alternative shares.
fn differences(observed: &Observed, expected: &Value, case: &Value) -> Vec<Difference> {
    let mut all = observed.always.clone();
    let mut check = |result: Result<Vec<Difference>>| match result {
        Ok(found) => all.extend(found),
        Err(error) => all.push(Difference::new(
            "expected",
            "something readable",
            format!("{error:#}"),
        )),
    };
    check(Ok(outcome(observed, expected)));
    check(files(observed, expected));
    check(Ok(buffers(observed, expected)));
    check(Ok(told(observed, expected)));
    check(Ok(limits(observed, &expected["limits"])));
    if expected != case {
        check(Ok(limits(observed, &case["limits"])));
    }
    check(Ok(requests(observed, expected)));
    check(states(observed, expected));
    check(emitted(observed, expected));
    check(Ok(lost(observed, case)));
    all
}

/// The event that decides: the last, or the first decision where a second has its own expectation.
fn outcome(observed: &Observed, expected: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    let decisions = |event: &&Event| event.when != When::Propose;
    let second = expected.get("second").filter(|second| !second.is_null());
    let event = if second.is_some() {
        observed.events.iter().find(decisions)
    } else {
        observed.events.last()
    };
    all.extend(one_outcome("", event, expected));
    if let Some(second) = second {
        let event = observed.events.iter().filter(decisions).nth(1);
        all.extend(one_outcome("second ", event, second));
    }
    if let Some(path) = expected["path"].as_str()
        && observed.path.as_deref() != Some(path)
    {
        all.push(Difference::new(
            "path",
            path,
            observed.path.clone().unwrap_or_default(),
        ));
    }
    all
}

fn one_outcome(prefix: &str, event: Option<&Event>, expected: &Value) -> Vec<Difference> {
    let Some(wanted) = expected["outcome"].as_str() else {
        return Vec::new();
    };
    let label = format!("{prefix}outcome");
    let Some(event) = event else {
        return vec![Difference::new(&label, wanted, "nothing happened")];
    };
    if !event.outcomes.contains(&wanted) {
        return vec![Difference::new(&label, wanted, event.show())];
    }
    let mut all = Vec::new();
    if let Some(stage) = expected["stage"].as_str().and_then(When::named)
        && event.when > stage
    {
        all.push(Difference::new(
            &format!("{prefix}stage"),
            format!("{stage:?} or earlier"),
            event.show(),
        ));
    }
    if let Some(kind) = expected["error_kind"].as_str()
        && !kinds_of(&event.code).iter().any(|one| one == kind)
    {
        all.push(Difference::new(
            &format!("{prefix}error_kind"),
            kind,
            event.show(),
        ));
    }
    all
}

fn files(observed: &Observed, expected: &Value) -> Result<Vec<Difference>> {
    let mut all = Vec::new();
    let world = &observed.stage.world;
    if let Some(wanted) = expected.get("files_after") {
        all.extend(world.compare(&observed.before, wanted, &observed.after.workspace)?);
        if observed.compare_git {
            all.extend(world.compare_git(&observed.before, &observed.after));
        }
    }
    if let Some(wanted) = expected.get("outside_after") {
        all.extend(world.compare_outside(&observed.before, wanted, &observed.after)?);
    }
    if let Some(wanted) = expected["text_after"].as_object() {
        for (path, text) in wanted {
            let text = text.as_str().unwrap_or_default();
            let got = text_seen(observed, path, &observed.documents_after, &observed.after);
            if got.as_deref() != Some(text) {
                all.push(Difference::new(
                    &format!("text_after {path}"),
                    format!("{text:?}"),
                    format!("{got:?}"),
                ));
            }
        }
    }
    Ok(all)
}

/// What the user sees: the document when it is open, else the disk.
fn text_seen(
    _: &Observed,
    path: &str,
    documents: &BTreeMap<String, Document>,
    snapshot: &Snapshot,
) -> Option<String> {
    if let Some(document) = documents.get(path) {
        return Some(document.text.clone());
    }
    match snapshot.workspace.0.get(std::path::Path::new(path))? {
        crate::tree::Node::File {
            bytes: crate::tree::Bytes::Whole(bytes),
            ..
        } => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    }
}

fn buffers(observed: &Observed, expected: &Value) -> Vec<Difference> {
    let Some(wanted) = expected["buffers_after"].as_object() else {
        return Vec::new();
    };
    compare_buffers(
        wanted,
        &observed.documents_before,
        &observed.documents_after,
    )
}

fn compare_buffers(
    wanted: &serde_json::Map<String, Value>,
    before: &BTreeMap<String, Document>,
    after: &BTreeMap<String, Document>,
) -> Vec<Difference> {
    let mut all = Vec::new();
    for (path, wanted) in wanted {
        let label = format!("buffers_after {path}");
        let Some(got) = after.get(path) else {
            if !wanted.is_null() {
                all.push(Difference::new(&label, wanted, "it is not open"));
            }
            continue;
        };
        let text = wanted.as_str().or_else(|| wanted["text"].as_str());
        let differs = wanted.is_null()
            || text.is_some_and(|text| text != got.text)
            || wanted["version"]
                .as_i64()
                .is_some_and(|version| version != i64::from(got.version))
            || wanted["dirty"]
                .as_bool()
                .is_some_and(|dirty| dirty != got.dirty);
        if differs {
            all.push(Difference::new(&label, wanted, format!("{got:?}")));
        }
    }
    for (path, document) in before {
        if !wanted.contains_key(path) && after.get(path) != Some(document) {
            all.push(Difference::new(
                &format!("buffers_after {path}"),
                format!("{document:?} as before"),
                format!("{:?}", after.get(path)),
            ));
        }
    }
    for path in after.keys() {
        if !wanted.contains_key(path) && !before.contains_key(path) {
            all.push(Difference::new(
                &format!("buffers_after {path}"),
                "not open",
                "open",
            ));
        }
    }
    all
}

fn told(observed: &Observed, expected: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    for flag in texts(&expected["flags"]) {
        if !has_flag(&observed.flags, flag) {
            all.push(Difference::new(
                "flags",
                flag,
                format!("{:?}", observed.flags),
            ));
        }
    }
    for fact in texts(&expected["report"]) {
        if !is_reported(&observed.messages, fact) {
            all.push(Difference::new(
                "report",
                fact,
                format!("{:?}", observed.messages),
            ));
        }
    }
    all
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn limits(observed: &Observed, limits: &Value) -> Vec<Difference> {
    let measured = [
        ("wall_ms_max", observed.wall.as_millis() as u64),
        ("checkpoint_ms_max", observed.checkpoint.as_millis() as u64),
        ("state_dir_growth_bytes_max", observed.state_growth_bytes),
        ("rss_growth_bytes_max", observed.resident_growth_bytes),
        ("preview_bytes_max", observed.preview_bytes),
    ];
    let mut all = Vec::new();
    for (name, got) in measured {
        if let Some(most) = limits[name].as_u64()
            && got > most
        {
            all.push(Difference::new(name, most, got));
        }
    }
    for name in limits
        .as_object()
        .into_iter()
        .flat_map(|limits| limits.keys())
    {
        if !measured.iter().any(|(known, _)| known == name) {
            all.push(Difference::new(
                name,
                &limits[name],
                "no way of measuring it",
            ));
        }
    }
    all
}

fn requests(observed: &Observed, expected: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    for (method, wanted) in expected["client_requests"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let got = observed.client_requests.get(method).copied().unwrap_or(0) as u64;
        let fits = match wanted {
            Value::Number(n) => n.as_u64() == Some(got),
            Value::Object(range) => {
                range
                    .get("min")
                    .and_then(Value::as_u64)
                    .is_none_or(|min| got >= min)
                    && range
                        .get("max")
                        .and_then(Value::as_u64)
                        .is_none_or(|max| got <= max)
            }
            _ => false,
        };
        if !fits {
            all.push(Difference::new(
                &format!("client_requests {method}"),
                wanted,
                got,
            ));
        }
    }
    all
}

fn states(observed: &Observed, expected: &Value) -> Result<Vec<Difference>> {
    let mut all = Vec::new();
    for wanted in expected["states"].as_array().into_iter().flatten() {
        let after = wanted["after_action"].as_u64().unwrap_or(0) as usize;
        let label = format!("states after_action {after}");
        let Some(state) = observed
            .states
            .iter()
            .find(|state| state.after_action == after)
        else {
            all.push(Difference::new(
                &label,
                wanted,
                "that action did not happen",
            ));
            continue;
        };
        if let Some(files) = wanted.get("files").or_else(|| wanted.get("files_after")) {
            let found =
                observed
                    .stage
                    .world
                    .compare(&observed.before, files, &state.snapshot.workspace)?;
            all.extend(found.into_iter().map(|difference| Difference {
                what: format!("{label} {}", difference.what),
                ..difference
            }));
        }
        for key in ["buffers", "buffers_after"] {
            if let Some(buffers) = wanted[key].as_object() {
                all.extend(compare_buffers(
                    buffers,
                    &observed.documents_before,
                    &state.documents,
                ));
            }
        }
        for key in ["text", "text_after"] {
            for (path, text) in wanted[key].as_object().into_iter().flatten() {
                let got = text_seen(observed, path, &state.documents, &state.snapshot);
                if got.as_deref() != text.as_str() {
                    all.push(Difference::new(
                        &format!("{label} {path}"),
                        text,
                        format!("{got:?}"),
                    ));
                }
            }
        }
    }
    Ok(all)
}

/// Edits that the editor was sent: by path, each with its range and text.
fn emitted(observed: &Observed, expected: &Value) -> Result<Vec<Difference>> {
    let wanted = &expected["emitted_edits"];
    if wanted.is_null() {
        return Ok(Vec::new());
    }
    let mut documents: Vec<(String, Value)> = Vec::new();
    match wanted {
        Value::Object(by_path) => {
            documents.extend(
                by_path
                    .iter()
                    .map(|(path, edits)| (path.clone(), edits.clone())),
            );
        }
        Value::Array(list) => {
            for item in list {
                match item["path"].as_str() {
                    Some(path) => documents.push((path.to_owned(), item["edits"].clone())),
                    None => documents.push((String::new(), Value::Array(vec![item.clone()]))),
                }
            }
        }
        other => anyhow::bail!("emitted_edits {other}"),
    }
    let mut want: Vec<(String, String)> = Vec::new();
    for (path, edits) in &documents {
        for edit in edits.as_array().into_iter().flatten() {
            want.push((path.clone(), one_edit(edit)?));
        }
    }
    let mut got: Vec<(String, String)> = Vec::new();
    for params in &observed.emitted {
        for document in params["edit"]["documentChanges"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let uri = document["textDocument"]["uri"].as_str().unwrap_or_default();
            let path = observed.stage.path_of(uri);
            for edit in document["edits"].as_array().into_iter().flatten() {
                got.push((path.clone(), one_edit(edit)?));
            }
        }
    }
    want.sort();
    got.sort();
    let fits = want.len() == got.len()
        && want
            .iter()
            .zip(&got)
            .all(|(want, got)| want.1 == got.1 && (want.0.is_empty() || want.0 == got.0));
    if fits {
        Ok(Vec::new())
    } else {
        Ok(vec![Difference::new(
            "emitted_edits",
            format!("{want:?}"),
            format!("{got:?}"),
        )])
    }
}

fn one_edit(edit: &Value) -> Result<String> {
    let range = lsp_range(&edit["range"])?;
    let text = edit["newText"]
        .as_str()
        .or_else(|| edit["text"].as_str())
        .unwrap_or_default();
    Ok(format!(
        "{}:{}-{}:{} {text:?}",
        range["start"]["line"],
        range["start"]["character"],
        range["end"]["line"],
        range["end"]["character"]
    ))
}

/// `lose "some text"` under `must_not`: what stood in a file or a document still stands somewhere.
fn lost(observed: &Observed, case: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    let stands = |documents: &BTreeMap<String, Document>, snapshot: &Snapshot, text: &str| {
        documents
            .values()
            .any(|document| document.text.contains(text))
            || snapshot.workspace.0.values().any(|node| match node {
                crate::tree::Node::File {
                    bytes: crate::tree::Bytes::Whole(bytes),
                    ..
                } => String::from_utf8_lossy(bytes).contains(text),
                _ => false,
            })
    };
    for rule in texts(&case["must_not"]) {
        let Some(text) = rule
            .strip_prefix("lose \"")
            .and_then(|rest| rest.strip_suffix('"'))
        else {
            continue;
        };
        if stands(&observed.documents_before, &observed.before, text)
            && !stands(&observed.documents_after, &observed.after, text)
        {
            all.push(Difference::new("must_not", rule, "it is gone"));
        }
    }
    all
}
