//! Proposals: from text or a tool call to a transaction under review.
//!
//! Owns: reading a proposal against the open documents over the disk, and
//! taking it into the hub.
//! Must not know: formats and matching (`redline_edits`), how it is stored (`redline_workspace`).

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

use redline_edits::{
    Format, HunkId, Operation, OperationKind, ParseOptions, Resolved, parse_bytes, resolve,
};
use redline_protocol::v1;
use redline_tools::{ProposedFile, ProposedHunk, ToolError, ViewProposal};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use redline_workspace::{
    Entry, Growth, Purpose, Record, Transaction, TransactionMeta, Workspace, WorkspaceRoot,
};

use super::answers::uri_of;
use super::event::{ClientId, Later, Reply};
use super::view::{self, Overlay};
use super::work::Done;
use super::{Hub, present, respond};
use crate::failure::Failure;

/// A proposal that was read, matched and stored, or refused.
pub(crate) struct Proposed {
    outcome: Result<Box<Made>, Failure>,
    reply: Reply<Later<Answered>>,
}

/// The transaction that a proposal is answered with.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answered {
    /// Written down while it was stored.
    Written(Box<RawValue>),
    /// As it stands over the open documents.
    Standing(Box<v1::Transaction>),
}

/// A transaction that is stored, and how it looked then.
struct Made {
    transaction: Transaction,
    shown: Box<RawValue>,
}

/// A turn's transaction that took in an edit call.
struct Grown {
    id: String,
    /// What is to be stored, by transaction; this one's comes last.
    changes: Vec<(String, Record)>,
    /// It is the turn's first edit.
    is_new: bool,
}

impl Hub {
    pub(super) fn propose(
        &mut self,
        client: ClientId,
        params: v1::ProposeParams,
        reply: Reply<Later<Answered>>,
    ) {
        let overlay = Arc::new(self.overlay(None));
        let meta = TransactionMeta {
            id: self.new_id("tx_"),
            session_id: self.new_id("se_"),
            turn_id: None,
            title: params.title.clone().unwrap_or_default(),
            proposed_by: params
                .proposed_by
                .clone()
                .unwrap_or_else(|| self.name_of(client)),
            created_at: self.now(),
            rationale: params.rationale.clone(),
            purpose: Purpose::Proposal,
        };
        if let Some(each) = self.clients.get_mut(&client) {
            each.proposed.insert(meta.id.clone());
        }
        let workspace = self.workspace.clone();
        let mut ids = self.hunk_ids();
        self.worker
            .run_on("propose", vec![meta.id.clone()], move || {
                let outcome = read_proposal(&workspace, &params, overlay, meta, &mut ids);
                Some(Done::Proposed(Box::new(Proposed {
                    outcome: outcome.map(Box::new),
                    reply,
                })))
            });
    }

    pub(super) fn proposed(&mut self, proposed: Proposed) {
        let answer = proposed.outcome.and_then(|made| {
            let Made { transaction, shown } = *made;
            if self.open_paths(&transaction).is_empty() {
                self.take_in(transaction);
                return Ok(Box::new(|| Answered::Written(shown)) as Later<_>);
            }
            let id = transaction.id().to_owned();
            self.take_in(transaction);
            let later = self.later_of(&id)?;
            Ok(Box::new(|| Answered::Standing(Box::new(later()))) as Later<_>)
        });
        respond(proposed.reply, answer);
    }

    /// The files of a transaction that are open.
    fn open_paths(&self, transaction: &Transaction) -> Vec<String> {
        let paths = self.documents.paths();
        let open = paths.filter(|path| transaction.file(path).is_some());
        open.map(str::to_owned).collect()
    }

    /// Takes a transaction in, and lays its hunks over the open copies.
    fn take_in(&mut self, mut transaction: Transaction) {
        let open = self.open_paths(&transaction);
        for path in open {
            // What was typed since the proposal was read counts.
            if let (Some(copy), Some(file)) = (
                self.documents.leading(&path, None),
                transaction.file_mut(&path),
            ) {
                file.reanchor(&copy.rope);
            }
        }
        let id = transaction.id().to_owned();
        self.transactions.insert(id.clone(), transaction);
        self.spread(&id);
    }

    /// Takes in what another process stored.
    pub(super) fn adopt(&mut self, transaction: Transaction) {
        self.take_in(transaction);
    }

    /// Puts an edit call's operations into the turn's transaction.
    pub(super) fn propose_in_turn(
        &mut self,
        session: &str,
        proposal: ViewProposal,
        reply: SyncSender<Result<redline_tools::Proposed, ToolError>>,
    ) {
        match self.grow(session, &proposal) {
            Ok(Grown {
                id,
                changes,
                is_new,
            }) => {
                let shown = self.shown_to_tool(&id, &proposal);
                let workspace = self.workspace.clone();
                let stored: Vec<(Transaction, Record)> = changes
                    .into_iter()
                    .filter_map(|(id, record)| Some((self.transactions.get(&id)?.clone(), record)))
                    .collect();
                let own = stored
                    .iter()
                    .map(|(transaction, _)| transaction.id().to_owned());
                let own = own.collect();
                self.worker.run_on("grow", own, move || {
                    let stored = store_growth(&workspace, &stored, is_new);
                    // A tool that was cancelled has stopped listening.
                    let _ = reply.send(stored.map(|()| shown));
                    None
                });
            }
            Err(error) => {
                let _ = reply.send(Err(error));
            }
        }
    }

    /// Grows the turn's transaction, making it first when this is the turn's first edit.
    fn grow(&mut self, session: &str, proposal: &ViewProposal) -> Result<Grown, ToolError> {
        let (turn_id, known) = self
            .turn_of(session)
            .ok_or_else(|| ToolError::from_code("CANCELLED", "the turn is over"))?;
        let own = self.transactions_of(session);
        for id in &own {
            self.lead(id, None);
        }
        let overlay = self.overlay(Some(session));
        for operation in &proposal.operations {
            check_base(&overlay, operation)?;
        }
        let resolved = Resolved {
            operations: proposal.operations.clone(),
            rationale: proposal.rationale.clone(),
            ..Resolved::default()
        };
        let opaque = opaque(self.workspace.root(), &resolved);
        let growth = Growth {
            resolved: &resolved,
            opaque: &opaque,
            call: Some(&proposal.call_id),
        };
        let mut ids = self.hunk_ids();
        let is_new = known.is_none();
        let mut transaction = match known.and_then(|id| self.transactions.remove(&id)) {
            Some(transaction) => transaction,
            None => {
                let meta = TransactionMeta {
                    id: self.new_id("tx_"),
                    session_id: session.to_owned(),
                    turn_id: Some(turn_id),
                    title: proposal.rationale.clone().unwrap_or_default(),
                    proposed_by: "redline".to_owned(),
                    created_at: self.now(),
                    rationale: None,
                    purpose: Purpose::Proposal,
                };
                let empty = Growth {
                    resolved: &Resolved::default(),
                    opaque: &[],
                    call: None,
                };
                Transaction::new(meta, &empty, &mut ids).map_err(|error| {
                    ToolError::from_code(error.code(), error.to_string()).with_hint(error.hint())
                })?
            }
        };
        let id = transaction.id().to_owned();
        let mut earlier: Vec<Transaction> = own
            .iter()
            .filter(|other| **other != id)
            .filter_map(|other| self.transactions.remove(other))
            .collect();
        let mut others: Vec<&mut Transaction> = earlier.iter_mut().collect();
        let grown = transaction.grow(&mut others, &growth, &mut ids);
        for other in earlier {
            self.transactions.insert(other.id().to_owned(), other);
        }
        let keep = grown.is_ok() || !is_new;
        if keep {
            self.transactions.insert(id.clone(), transaction);
        }
        let changes = grown.map_err(|error| {
            ToolError::from_code(error.code(), error.to_string()).with_hint(error.hint())
        })?;
        self.turn_transaction(session, &id);
        for (changed, _) in &changes {
            self.spread(changed);
        }
        Ok(Grown {
            id,
            changes,
            is_new,
        })
    }

    /// What the model is told of its edit.
    fn shown_to_tool(&self, id: &str, proposal: &ViewProposal) -> redline_tools::Proposed {
        let transaction = self.transactions.get(id);
        let files = proposal
            .operations
            .iter()
            .map(|operation| ProposedFile {
                path: operation.path.clone(),
                hunks: transaction
                    .and_then(|transaction| transaction.file(&operation.path))
                    .map(|file| {
                        file.hunks
                            .iter()
                            .filter(|hunk| hunk.calls().contains(&proposal.call_id.as_str()))
                            .map(|hunk| ProposedHunk {
                                id: hunk.id.to_string(),
                                start_line: file.start_line(&hunk.id).unwrap_or(1),
                                removed: hunk.removed.lines().count(),
                                added: hunk.replacement.lines().count(),
                                conflict: matches!(
                                    hunk.state,
                                    redline_edits::HunkState::Conflict(_)
                                ),
                            })
                            .collect()
                    })
                    .unwrap_or_default(),
            })
            .collect();
        redline_tools::Proposed {
            transaction: id.to_owned(),
            files,
        }
    }
}

/// The proposed text must still be what the call was resolved on.
fn check_base(overlay: &Overlay, operation: &Operation) -> Result<(), ToolError> {
    let Some(overlaid) = overlay.get(&operation.path) else {
        return Ok(());
    };
    let now = (!overlaid.gone).then(|| overlaid.proposed().to_string());
    if now == operation.before {
        return Ok(());
    }
    Err(ToolError::from_code(
        "STALE_VERSION",
        format!("{} changed while the edit was being read", operation.path),
    ))
}

fn store_growth(
    workspace: &Workspace,
    changes: &[(Transaction, Record)],
    is_new: bool,
) -> Result<(), ToolError> {
    let transactions = workspace.transactions();
    let last = changes.len().saturating_sub(1);
    for (at, (transaction, record)) in changes.iter().enumerate() {
        let stored = if is_new && at == last {
            transactions.create(transaction)
        } else {
            transactions
                .append(transaction, std::slice::from_ref(record), None)
                .map(drop)
        };
        stored.map_err(|error| {
            ToolError::from_code(error.code(), error.to_string()).with_hint(error.hint())
        })?;
    }
    Ok(())
}

fn read_proposal(
    workspace: &Workspace,
    params: &v1::ProposeParams,
    overlay: Arc<Overlay>,
    mut meta: TransactionMeta,
    ids: &mut dyn FnMut() -> HunkId,
) -> Result<Made, Failure> {
    let options = ParseOptions {
        strip: params.strip.map(|strip| strip as usize),
    };
    let format = params.format.map(|format| match format {
        v1::ProposalFormat::SearchReplace => Format::SearchReplace,
        v1::ProposalFormat::UnifiedDiff => Format::UnifiedDiff,
        v1::ProposalFormat::ApplyPatch => Format::ApplyPatch,
        v1::ProposalFormat::Json => Format::Json,
    });
    let (format, proposal) = parse_bytes(format, params.content.as_bytes(), &options)
        .map_err(|error| Failure::new(error.code, error.to_string(), error.hint))?;
    let snapshot = view::snapshot(workspace.root(), overlay);
    let mut resolved = resolve(&proposal, &snapshot)
        .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    // What was said of the whole is said of each part that has no reason of its own.
    for operation in &mut resolved.operations {
        if operation.rationale.is_none() {
            operation.rationale.clone_from(&meta.rationale);
        }
    }
    if meta.rationale.is_none() {
        meta.rationale.clone_from(&resolved.rationale);
    }
    if meta.title.is_empty() {
        meta.title = title(&resolved, format);
    }
    let opaque = opaque(workspace.root(), &resolved);
    let growth = Growth {
        resolved: &resolved,
        opaque: &opaque,
        call: None,
    };
    let mut transaction = Transaction::new(meta, &growth, ids)
        .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    transaction.set_incomplete(!resolved.incomplete.is_empty());
    // The answer is put together while the disk is waited for; it is given only when all is stored.
    let root = workspace.root().path();
    let show = || {
        let shown = present::transaction(&transaction, &|path| uri_of(root, path), &|_| true);
        to_raw_value(&shown)
    };
    let (stored, shown) = thread::scope(|scope| {
        let shown = scope.spawn(show);
        (workspace.transactions().create(&transaction), shown.join())
    });
    stored.map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    let shown = shown
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        .map_err(|error| Failure::internal(format!("an answer cannot be written: {error}")))?;
    Ok(Made { transaction, shown })
}

/// A short name for lists: the first file and how many more.
fn title(resolved: &Resolved, format: Format) -> String {
    let mut paths = resolved.operations.iter().map(|operation| &operation.path);
    match (paths.next(), paths.count()) {
        (None, _) => format!("an empty {}", format.as_str()),
        (Some(path), 0) => path.clone(),
        (Some(path), 1) => format!("{path} and 1 more file"),
        (Some(path), more) => format!("{path} and {more} more files"),
    }
}

/// Paths that an operation changes.
pub(super) fn paths(operation: &Operation) -> impl Iterator<Item = &str> {
    let to = match &operation.kind {
        OperationKind::Rename { to } => Some(to.as_str()),
        _ => None,
    };
    std::iter::once(operation.path.as_str()).chain(to)
}

/// Revisions of what stands at paths that hold no text.
fn opaque(root: &WorkspaceRoot, resolved: &Resolved) -> Vec<(String, String)> {
    let batch = root.batch();
    resolved
        .operations
        .iter()
        .filter(|operation| operation.before.is_none() && operation.kind != OperationKind::Create)
        .filter_map(|operation| {
            let path = root.admit(&operation.path).ok()?;
            let revision = match batch.read(&path).ok()? {
                Entry::File(file) => file.revision(),
                Entry::Symlink { target } => redline_edits::revision(target.as_bytes()).to_string(),
                _ => return None,
            };
            Some((operation.path.clone(), revision))
        })
        .collect()
}
