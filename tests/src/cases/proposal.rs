//! What the agent sends, and which hunk is which of its edits.

use anyhow::{Context, Result, bail};
use redline_workspace::{PathRules, uri_to_path};
use serde_json::{Map, Value, json};

use super::observe::{Event, When};
use super::play::Player;
use super::step::lsp_range;
use crate::editor::{Encoding, byte_of};

/// A proposal that became a transaction.
pub(super) struct Proposed {
    pub name: String,
    pub id: String,
    /// Ids of its hunks, in the order in which the proposal gives its edits.
    pub hunks: Vec<String>,
    /// It changes nothing: accepting it does nothing either.
    pub empty: bool,
}

impl Player<'_> {
    /// Finds the proposal that a `propose` step names, or takes the one that it holds.
    pub(super) fn named(&self, which: &Value) -> Result<(String, Value)> {
        let list = self.row.get("proposals");
        if which.get("format").is_some() {
            return Ok((String::new(), which.clone()));
        }
        if let Some(name) = which.as_str().or_else(|| which["name"].as_str()) {
            let found = match list {
                Value::Object(by_name) => by_name.get(name),
                Value::Array(list) => list
                    .iter()
                    .find(|proposal| proposal["name"] == *name || proposal["id"] == *name),
                _ => None,
            };
            let found = found.with_context(|| format!("no proposal is called {name}"))?;
            return Ok((name.to_owned(), found.clone()));
        }
        if let Some(at) = which.as_u64() {
            let found = list.get(usize::try_from(at)?);
            let found = found.with_context(|| format!("no proposal {at}"))?;
            return Ok((at.to_string(), found.clone()));
        }
        bail!("{which} names no proposal")
    }

    /// Sends a proposal over the agent's connection.
    pub(super) fn propose(&mut self, name: &str, proposal: &Value) -> Result<()> {
        if proposal["format"] == "uri" {
            return self.map(proposal);
        }
        self.barrier()?;
        let order = self.order(proposal);
        let params = params(proposal)?;
        let reply = self.agent()?.ask("redline/transaction/propose", params)?;
        match reply {
            Err(error) => self.refused(When::Propose, &error),
            Ok(transaction) => {
                self.events.push(Event::ok(When::Propose, &["pending"]));
                let id = transaction["id"]
                    .as_str()
                    .context("a transaction has an id")?
                    .to_owned();
                self.proposed.push(Proposed {
                    name: name.to_owned(),
                    hunks: hunks_in_order(&transaction, &order),
                    empty: transaction["files"].as_array().is_none_or(Vec::is_empty),
                    id,
                });
                self.note(&transaction);
            }
        }
        Ok(())
    }

    /// Maps a URI to a path, as the server does with every URI that it meets.
    fn map(&mut self, proposal: &Value) -> Result<()> {
        let uri = proposal["uri"]
            .as_str()
            .context("a uri proposal has a uri")?;
        let windows = self
            .row
            .list("requires")?
            .iter()
            .any(|need| need == "windows_paths");
        let rules = if windows {
            PathRules::Windows
        } else {
            PathRules::NATIVE
        };
        let event = match uri_to_path(uri, rules) {
            Ok(path) => {
                let inside = proposal["root"].as_str().is_none_or(|root| {
                    let rest = path.strip_prefix(root.trim_end_matches('/'));
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                });
                self.path = Some(path);
                if inside {
                    Event::ok(When::Propose, &["path"])
                } else {
                    Event::coded(When::Propose, "OUTSIDE_WORKSPACE")
                }
            }
            Err(error) => {
                self.say(&error.to_string());
                Event::coded(When::Propose, error.code())
            }
        };
        self.events.push(event);
        Ok(())
    }

    /// Where each edit starts, in the order given: path and byte; empty where the order is that of the places.
    fn order(&self, proposal: &Value) -> Vec<(String, usize)> {
        let text = |path: &str| -> Option<String> {
            if let Some(document) = self.stage.documents().get(path) {
                return Some(document.text.clone());
            }
            let file = self.stage.world.project.root().join(path);
            // Only small files: the order of edits in a huge one does not matter to any case.
            if std::fs::metadata(&file).ok()?.len() > 16 << 20 {
                return None;
            }
            std::fs::read_to_string(file).ok()
        };
        let mut order = Vec::new();
        for edit in proposal["edits"].as_array().into_iter().flatten() {
            let (Some(path), Some(search)) = (edit["path"].as_str(), edit["search"].as_str())
            else {
                return Vec::new();
            };
            let Some(at) = text(path).and_then(|text| text.find(search)) else {
                return Vec::new();
            };
            order.push((path.to_owned(), at));
        }
        let encoding = proposal["encoding"]
            .as_str()
            .and_then(Encoding::named)
            .unwrap_or_default();
        for document in proposal["documents"].as_array().into_iter().flatten() {
            let Some(path) = document["path"].as_str() else {
                continue;
            };
            let Some(text) = text(path) else {
                return Vec::new();
            };
            for edit in document["edits"].as_array().into_iter().flatten() {
                let place = &edit["range"][0];
                let (Some(line), Some(column)) = (place[0].as_u64(), place[1].as_u64()) else {
                    return Vec::new();
                };
                let at = byte_of(&text, to_usize(line), to_usize(column), encoding);
                order.push((path.to_owned(), at));
            }
        }
        order
    }

    /// Keeps what a transaction shows the reviewer: flags, ways of matching, conflicts.
    pub(super) fn note(&mut self, transaction: &Value) {
        for file in transaction["files"].as_array().into_iter().flatten() {
            let path = file["path"].as_str().unwrap_or_default();
            for flag in file["flags"].as_array().into_iter().flatten() {
                self.flags.extend(flag.as_str().map(str::to_owned));
            }
            for hunk in file["hunks"].as_array().into_iter().flatten() {
                match hunk["match"].as_str().unwrap_or("exact") {
                    "exact" => {}
                    "offset" => drop(self.flags.insert("offset".to_owned())),
                    rung => drop(self.flags.insert(format!("inexact:{rung}"))),
                }
                if let Some(conflict) = hunk.get("conflict").filter(|conflict| conflict.is_object())
                {
                    let mut said = format!(
                        "{path} line {}: {}\n",
                        hunk["startLine"], conflict["reason"]
                    );
                    for (side, name) in [
                        ("base", "base"),
                        ("current", "user"),
                        ("proposed", "proposed"),
                    ] {
                        let lines = conflict[side].as_array().into_iter().flatten();
                        let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
                        if !lines.is_empty() {
                            said.push_str(&format!("{name} text: {}\n", lines.join("\n")));
                        }
                    }
                    self.say(&said);
                }
            }
        }
    }
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Ids of the hunks in the order given: the k-th place of a file is its k-th hunk.
fn hunks_in_order(transaction: &Value, order: &[(String, usize)]) -> Vec<String> {
    let mut all: Vec<(String, String)> = Vec::new();
    for file in transaction["files"].as_array().into_iter().flatten() {
        let path = file["path"].as_str().unwrap_or_default();
        for hunk in file["hunks"].as_array().into_iter().flatten() {
            if let Some(id) = hunk["id"].as_str() {
                all.push((path.to_owned(), id.to_owned()));
            }
        }
    }
    if order.len() != all.len() {
        return all.into_iter().map(|(_, id)| id).collect();
    }
    let mut ids = Vec::new();
    for (path, at) in order {
        let rank = order
            .iter()
            .filter(|(other, place)| other == path && place < at)
            .count();
        match all.iter().filter(|(other, _)| other == path).nth(rank) {
            Some((_, id)) => ids.push(id.clone()),
            None => return all.into_iter().map(|(_, id)| id).collect(),
        }
    }
    ids
}

/// The params of `redline/transaction/propose`.
fn params(proposal: &Value) -> Result<Value> {
    let mut params = match proposal["format"].as_str().unwrap_or_default() {
        "unified_diff" => json!({"content": text(proposal)?, "format": "unified_diff"}),
        "apply_patch" => json!({"content": text(proposal)?, "format": "apply_patch"}),
        "search_replace" if proposal.get("text").is_some() => {
            json!({"content": text(proposal)?, "format": "search_replace"})
        }
        "search_replace" | "whole_file" | "text_edits" => {
            json!({"content": as_json(proposal)?.to_string(), "format": "json"})
        }
        other => bail!("a proposal in format {other:?}"),
    };
    if let Some(strip) = proposal.get("strip") {
        params["strip"] = strip.clone();
    }
    if let Some(rationale) = proposal.get("rationale") {
        params["rationale"] = rationale.clone();
    }
    Ok(params)
}

fn text(proposal: &Value) -> Result<&str> {
    proposal["text"]
        .as_str()
        .context("the proposal has no text")
}

/// The proposal in Redline's JSON form.
fn as_json(proposal: &Value) -> Result<Value> {
    let mut content: Map<String, Value> = proposal
        .as_object()
        .context("a proposal is an object")?
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "format" | "name" | "id" | "rationale"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(documents) = content.get_mut("documents").and_then(Value::as_array_mut) {
        for document in documents {
            for edit in document
                .get_mut("edits")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                edit["range"] = lsp_range(&edit["range"])?;
            }
        }
    }
    Ok(Value::Object(content))
}
