//! What the reviewer decides: accept, reject, undo, redo, back to a checkpoint.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::observe::{Event, When};
use super::play::Player;
use super::step::{Decision, Step, Target};
use crate::client::Reply;

impl Player<'_> {
    /// Accepts or rejects. Without a transaction there is nothing to decide, and the refused proposal stands as the outcome.
    pub(super) fn decide(&mut self, step: &Step, decision: &Decision) -> Result<()> {
        let ids: Vec<String> = match &decision.target {
            Target::Proposal(name) => self
                .proposed
                .iter()
                .filter(|one| one.name == *name || one.id == *name)
                .map(|one| one.id.clone())
                .collect(),
            Target::All => self.proposed.iter().map(|one| one.id.clone()).collect(),
            _ => self
                .proposed
                .last()
                .map(|one| one.id.clone())
                .into_iter()
                .collect(),
        };
        let several = ids.len() > 1;
        for id in ids {
            if several && self.is_settled(&id)? {
                continue;
            }
            let params = self.params(&id, decision)?;
            let method = if decision.accept {
                "redline/transaction/accept"
            } else {
                "redline/transaction/reject"
            };
            // What the reviewer sees right before the decision.
            self.look_at(&id)?;
            let reply = self.ask(Some(step), method, params)?;
            self.decided(&id, decision, reply);
        }
        self.barrier()
    }

    fn params(&self, id: &str, decision: &Decision) -> Result<Value> {
        let mut params = json!({"transactionId": id, "allFiles": true});
        let revision = decision.revision.as_ref().and_then(Value::as_u64);
        match &decision.target {
            Target::All | Target::Proposal(_) => {
                if let Some(revision) = revision {
                    params["revision"] = revision.into();
                }
            }
            Target::Hunk(at) => {
                let hunks = &self.proposed.last().context("nothing was proposed")?.hunks;
                let hunk = hunks.get(*at).with_context(|| {
                    format!("the proposal has {} hunks, none is {at}", hunks.len())
                })?;
                params["hunks"] = json!([{"id": hunk, "revision": revision}]);
            }
            Target::File(path) => {
                params["files"] = json!([{"path": path, "revision": revision}]);
            }
            Target::Lines { path, first, last } => {
                params["lines"] = json!([{"path": path, "start": first, "end": last}]);
            }
        }
        if let Some(token) = &decision.token {
            params["token"] = token.clone();
        }
        Ok(params)
    }

    fn decided(&mut self, id: &str, decision: &Decision, reply: Reply) {
        let empty = self.proposed.iter().any(|one| one.id == id && one.empty);
        match reply {
            Ok(result) => {
                let transaction = &result["transaction"];
                self.note(transaction);
                for flag in result["receipt"]["flags"].as_array().into_iter().flatten() {
                    self.flags.extend(flag.as_str().map(str::to_owned));
                }
                let event = if has_conflict(transaction) {
                    Event::ok(When::Accept, &["conflict"])
                } else if decision.accept {
                    Event::ok(When::Accept, &["applied"])
                } else {
                    Event::ok(When::Accept, &["applied", "undone", "restored", "rejected"])
                };
                self.events.push(event);
            }
            // What changes nothing is done by doing nothing.
            Err(error)
                if empty
                    && matches!(
                        error.kind(),
                        "NOTHING_PENDING" | "ALREADY_SETTLED" | "UNKNOWN_TRANSACTION"
                    ) =>
            {
                self.events.push(Event::ok(When::Accept, &["applied"]));
            }
            Err(error) => self.refused(When::Accept, &error),
        }
    }

    /// Undoes or redoes.
    pub(super) fn restore(&mut self, step: &Step, redo: bool, id: Option<&str>) -> Result<()> {
        if self.proposed.is_empty() {
            return Ok(());
        }
        let id = id.map(|id| {
            self.proposed
                .iter()
                .find(|one| one.name == id)
                .map_or(id.to_owned(), |one| one.id.clone())
        });
        let direction = if redo { "redo" } else { "undo" };
        let reply = self.ask(
            Some(step),
            "redline/checkpoint/restore",
            json!({"id": id, "direction": direction}),
        )?;
        let outcome: &[&str] = if redo { &["applied"] } else { &["undone"] };
        self.restored(reply, outcome)?;
        self.barrier()
    }

    fn restored(&mut self, reply: Reply, outcome: &[&'static str]) -> Result<()> {
        match reply {
            Ok(result) => {
                for flag in result["receipt"]["flags"].as_array().into_iter().flatten() {
                    self.flags.extend(flag.as_str().map(str::to_owned));
                }
                self.events.push(Event::ok(When::Undo, outcome));
            }
            Err(error) => {
                self.refused(When::Undo, &error);
                self.look_at_transactions()?;
            }
        }
        Ok(())
    }

    /// Ids of all checkpoints that are not undone, newest first.
    pub(super) fn checkpoint_ids(&self) -> Result<Vec<String>> {
        let reply = self.ask(None, "redline/checkpoint/list", json!({}))?;
        let list = reply.map_err(|error| anyhow::anyhow!("checkpoint/list: {error}"))?;
        Ok(list["checkpoints"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|checkpoint| checkpoint["undone"] != true)
            .filter_map(|checkpoint| checkpoint["id"].as_str().map(str::to_owned))
            .collect())
    }

    /// Undoes, newest first, what was done since the checkpoint.
    pub(super) fn restore_checkpoint(&mut self, name: &str) -> Result<()> {
        let known = self
            .checkpoints
            .get(name)
            .with_context(|| format!("no checkpoint is called {name}"))?
            .clone();
        let now = self.checkpoint_ids()?;
        for id in now.into_iter().filter(|id| !known.contains(id)) {
            let reply = self.ask(
                None,
                "redline/checkpoint/restore",
                json!({"id": id, "direction": "undo"}),
            )?;
            let failed = reply.is_err();
            self.restored(reply, &["restored"])?;
            if failed {
                return Ok(());
            }
        }
        self.barrier()
    }

    fn is_settled(&self, id: &str) -> Result<bool> {
        let reply = self.ask(
            None,
            "redline/transaction/get",
            json!({"transactionId": id}),
        )?;
        Ok(reply.is_ok_and(|transaction| {
            !matches!(
                transaction["state"].as_str(),
                Some("pending" | "conflicted")
            )
        }))
    }

    /// Keeps what the reviewer sees of a transaction now.
    pub(super) fn look_at(&mut self, id: &str) -> Result<()> {
        if let Ok(transaction) = self.ask(
            None,
            "redline/transaction/get",
            json!({"transactionId": id}),
        )? {
            self.note(&transaction);
        }
        Ok(())
    }

    /// Keeps what the reviewer sees of everything that waits.
    pub(super) fn look_at_transactions(&mut self) -> Result<()> {
        if let Ok(list) = self.ask(None, "redline/transaction/list", json!({"settled": false}))? {
            for transaction in list["transactions"].as_array().into_iter().flatten() {
                self.note(transaction);
            }
        }
        Ok(())
    }

    /// Measures what is shown for a path, or for all that waits: the diagnostics that plain clients get.
    pub(super) fn render(&mut self, path: Option<&str>) -> Result<()> {
        self.barrier()?;
        let shown: usize = self.stage.editor(None)?.client.look(|arrived| {
            arrived
                .notifications
                .iter()
                .filter(|(method, params)| {
                    method == "textDocument/publishDiagnostics"
                        && path.is_none_or(|path| {
                            params["uri"]
                                .as_str()
                                .is_some_and(|uri| uri.ends_with(path))
                        })
                })
                .map(|(_, params)| params.to_string().len())
                .max()
                .unwrap_or(0)
        });
        self.preview_bytes = self.preview_bytes.max(shown as u64);
        let ids: Vec<String> = self.proposed.iter().map(|one| one.id.clone()).collect();
        ids.iter().try_for_each(|id| self.look_at(id))
    }
}

fn has_conflict(transaction: &Value) -> bool {
    transaction["files"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|file| {
            file["state"] == "conflict"
                || file["hunks"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|hunk| hunk["state"] == "conflict")
        })
}
