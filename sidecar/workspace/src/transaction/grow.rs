//! From operations to files under review: a new transaction, and one that a turn's next call grows.
//!
//! | the file was | and becomes | result |
//! |---|---|---|
//! | not in it | anything | a new file |
//! | created, pending | edited | created with the new text |
//! | created, pending | deleted | gone from it |
//! | edited | edited | its hunks are re-derived where the edit touches them |
//! | edited | renamed, deleted, another mode | the same file with that operation |
//! | renamed, pending | edited under the new name | renamed with those hunks |
//! | deleted, pending | created | edited |
//!
//! A session has one proposed text for each path, across its turns: when an earlier transaction of
//! the session has pending hunks there, the edit is taken in by all hunks together, and each hunk
//! stays with the transaction that first made it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redline_edits::{HunkId, HunkRecord, HunkSet, Operation, OperationKind, Origin, Resolved};
use ropey::Rope;

use super::file::{Before, FileReview, FileState};
use super::model::{Transaction, TransactionMeta};
use super::record::Record;

/// Operations to be put under review.
#[derive(Debug)]
pub struct Growth<'a> {
    /// What the resolver made of the proposal.
    pub resolved: &'a Resolved,
    /// What stands at paths that hold no text, by path: blake3 of the bytes or of a link's target.
    pub opaque: &'a [(String, String)],
    /// The tool call, if one made it.
    pub call: Option<&'a str>,
}

/// Why operations do not fit what is under review.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowError {
    /// The new name is that of a file already under review.
    #[error("{path} cannot become {to}: the transaction changes that path already")]
    Taken {
        /// The path.
        path: String,
        /// The new name.
        to: String,
    },
}

impl GrowError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "EXISTS",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Taken { .. } => {
                "settle the pending change of that path first, or choose another name"
            }
        }
    }
}

/// What operations have done so far.
struct Touched {
    /// Paths here whose hunks changed.
    own: BTreeSet<String>,
    /// The same for each earlier transaction of the session.
    earlier: Vec<BTreeSet<String>>,
    /// By new name, the files here that were to get one.
    renames: BTreeMap<String, usize>,
}

impl Transaction {
    /// Puts operations under review.
    ///
    /// Pure: `ids` gives fresh hunk ids. A file with neither hunks nor an operation of its own is left out.
    ///
    /// # Errors
    ///
    /// [`GrowError`].
    pub fn new(
        meta: TransactionMeta,
        growth: &Growth<'_>,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Self, GrowError> {
        let mut transaction = Self::from_files(meta, Vec::new());
        let touched = transaction.take_in_all(&mut [], growth, ids)?;
        for path in &touched.own {
            if let Some(file) = transaction.file_mut(path) {
                file.take_snapshot();
            }
        }
        transaction.revision = 1;
        Ok(transaction)
    }

    /// Takes in a further call's operations, which were resolved on the session's proposed view.
    ///
    /// `earlier`: the session's other unsettled transactions, oldest first. Returns, for each transaction
    /// that changed, its id and the record to store; this one's comes last.
    ///
    /// # Errors
    ///
    /// [`GrowError`]; nothing has changed then.
    pub fn grow(
        &mut self,
        earlier: &mut [&mut Transaction],
        growth: &Growth<'_>,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Vec<(String, Record)>, GrowError> {
        let touched = self.take_in_all(earlier, growth, ids)?;
        self.revision += 1;
        let mut records = Vec::new();
        for (transaction, paths) in earlier.iter_mut().zip(touched.earlier) {
            if !paths.is_empty() {
                transaction.revision += 1;
                records.push((transaction.id().to_owned(), transaction.grown(&paths)));
            }
        }
        records.push((self.id().to_owned(), self.grown(&touched.own)));
        Ok(records)
    }

    /// Lets the operations become hunks, here and in the `earlier` transactions.
    fn take_in_all(
        &mut self,
        earlier: &mut [&mut Transaction],
        growth: &Growth<'_>,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Touched, GrowError> {
        for operation in &growth.resolved.operations {
            if let OperationKind::Rename { to } = &operation.kind
                && self.by_path.contains_key(to)
            {
                return Err(GrowError::Taken {
                    path: operation.path.clone(),
                    to: to.clone(),
                });
            }
        }
        let mut touched = Touched {
            own: BTreeSet::new(),
            earlier: vec![BTreeSet::new(); earlier.len()],
            renames: BTreeMap::new(),
        };
        for (at, file) in self.files().enumerate() {
            touched
                .renames
                .extend(file.new_path().map(|to| (to.to_owned(), at)));
        }
        for operation in &growth.resolved.operations {
            let origin = self.origin(operation, growth);
            self.take_in(operation, growth, &origin, earlier, &mut touched, ids);
        }
        let incomplete = &growth.resolved.incomplete;
        for path in incomplete {
            if let Some(file) = self.file_mut(path)
                && !file.flags.iter().any(|flag| flag == "incomplete")
            {
                file.flags.push("incomplete".into());
            }
        }
        Ok(touched)
    }

    fn grown(&mut self, paths: &BTreeSet<String>) -> Record {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            if let Some(file) = self.file_mut(path) {
                file.take_snapshot();
                files.push(file.clone());
            }
        }
        Record::Grown(files)
    }

    fn origin(&self, operation: &Operation, growth: &Growth<'_>) -> Origin {
        let spans = &operation.spans;
        Origin {
            turn: self.meta.turn_id.clone(),
            transaction: Some(self.id().to_owned()),
            call: growth.call.map(str::to_owned),
            // A reason for the whole is said once, with the whole; a hunk says its own.
            rationale: operation
                .rationale
                .clone()
                .or_else(|| growth.resolved.rationale.clone())
                .filter(|_| spans.iter().all(|span| span.rationale.is_none())),
            rationales: spans
                .iter()
                .filter_map(|span| Some((span.lines.clone(), span.rationale.clone()?)))
                .collect(),
            rung: if spans.is_empty() {
                operation.rung
            } else {
                redline_edits::MatchRung::Exact
            },
            rungs: spans
                .iter()
                .map(|span| (span.lines.clone(), span.rung))
                .collect(),
        }
    }

    fn take_in(
        &mut self,
        operation: &Operation,
        growth: &Growth<'_>,
        origin: &Origin,
        earlier: &mut [&mut Transaction],
        touched: &mut Touched,
        ids: &mut dyn FnMut() -> HunkId,
    ) {
        let known = self.by_path.get(&operation.path).copied().or_else(|| {
            let at = *touched.renames.get(&operation.path)?;
            self.files[at].moves_to(&operation.path).then_some(at)
        });
        let remade;
        let (known, operation) = match (known, &operation.kind) {
            (Some(at), OperationKind::Rename { to }) if self.files[at].is_being_made() => {
                // Not made yet, so it is made under its new name.
                Arc::make_mut(&mut self.files[at]).withdraw_all();
                touched.own.insert(self.files[at].path.clone());
                remade = Operation {
                    path: to.clone(),
                    kind: OperationKind::Create,
                    before: None,
                    ..operation.clone()
                };
                (None, &remade)
            }
            (known, _) => (known, operation),
        };
        let at = match known {
            Some(at) => {
                Arc::make_mut(&mut self.files[at]).compose(operation);
                at
            }
            None => self.push(new_file(operation, growth)),
        };
        touched.own.insert(self.files[at].path.clone());
        let to = self.files[at].new_path().map(str::to_owned);
        touched.renames.extend(to.map(|to| (to, at)));
        let Some(after) = proposed_text(operation) else {
            return;
        };
        // The session's earlier hunks here take part, each keeping its transaction.
        let path = self.files[at].path.clone();
        let mut parts: Vec<&mut FileReview> = Vec::new();
        for (transaction, touched) in earlier.iter_mut().zip(&mut touched.earlier) {
            if let Some(file) = transaction.file_mut(&path)
                && file.hunks.iter().any(|hunk| hunk.state.is_open())
            {
                touched.insert(path.clone());
                parts.push(file);
            }
        }
        let file = Arc::make_mut(&mut self.files[at]);
        if known.is_none()
            && let Some(part) = parts.first()
        {
            // What it was resolved on: the path as it stands without what is pending.
            file.text = part.text.clone();
        }
        propose(file, parts, after, origin, ids);
    }

    fn push(&mut self, file: FileReview) -> usize {
        let at = self.files.len();
        Arc::make_mut(&mut self.by_path).insert(file.path.clone(), at);
        self.files.push(Arc::new(file));
        at
    }
}

/// Lets all hunks of the session in one file take in an edit together.
fn propose(
    file: &mut FileReview,
    mut earlier: Vec<&mut FileReview>,
    after: &str,
    origin: &Origin,
    ids: &mut dyn FnMut() -> HunkId,
) {
    let text = file.text.clone();
    if earlier.is_empty() {
        file.hunks.propose(&text, after, origin, ids);
        return;
    }
    let mut records: Vec<HunkRecord> = Vec::new();
    let mut owned: Vec<BTreeSet<HunkId>> = Vec::new();
    for part in &mut earlier {
        part.reanchor(&text);
        let own = part.hunks.snapshot(&text);
        owned.push(own.iter().map(|record| record.hunk.id.clone()).collect());
        records.extend(own);
    }
    records.extend(file.hunks.snapshot(&text));
    // Records of one text always fit it; should they not, the edit is taken in alone.
    let Ok((mut all, _)) = HunkSet::restore(&text, records) else {
        file.hunks.propose(&text, after, origin, ids);
        return;
    };
    all.propose(&text, after, origin, ids);
    let records = all.snapshot(&text);
    let mut rest: Vec<HunkRecord> = Vec::new();
    let mut parts: Vec<Vec<HunkRecord>> = vec![Vec::new(); earlier.len()];
    for record in records {
        match owned.iter().position(|ids| ids.contains(&record.hunk.id)) {
            Some(part) => parts[part].push(record),
            None => rest.push(record),
        }
    }
    for (part, records) in earlier.into_iter().zip(parts) {
        if let Ok((hunks, _)) = HunkSet::restore(&text, records) {
            part.hunks = hunks;
        }
    }
    if let Ok((hunks, _)) = HunkSet::restore(&text, rest) {
        file.hunks = hunks;
    }
}

/// The text that a file is to have, when the operation changes text.
fn proposed_text(operation: &Operation) -> Option<&str> {
    match (&operation.kind, &operation.before, &operation.after) {
        (OperationKind::Delete, Some(_), _) => Some(""),
        (OperationKind::SetMode { .. }, ..) => None,
        (_, _, after) => after.as_deref(),
    }
}

fn new_file(operation: &Operation, growth: &Growth<'_>) -> FileReview {
    let before: Before = match (&operation.before, &operation.kind) {
        (Some(text), _) => Before::Text(text.as_str().into()),
        (None, OperationKind::Create) => Before::Missing,
        (None, _) => Before::Opaque {
            revision: growth
                .opaque
                .iter()
                .find(|(path, _)| *path == operation.path)
                .map(|(_, revision)| revision.clone())
                .unwrap_or_default(),
        },
    };
    let text = match &before {
        Before::Text(text) => Rope::from_str(text),
        Before::Missing | Before::Opaque { .. } => Rope::new(),
    };
    let mut file = FileReview {
        path: operation.path.clone(),
        operation: operation.kind.clone(),
        before,
        flags: operation.flags.clone(),
        mode: operation.mode,
        bom: operation.bom,
        text,
        hunks: HunkSet::new(),
        revision: 1,
        unsaved: BTreeSet::new(),
        undone: BTreeSet::new(),
        prune: Vec::new(),
        exact: None,
        applied: None,
        own_state: None,
        moved: false,
    };
    file.own_state = file.own_operation(operation).then_some(FileState::Pending);
    file
}

impl FileReview {
    /// Whether the file's operation waits to move it to `path`.
    fn moves_to(&self, path: &str) -> bool {
        self.new_path() == Some(path) && self.own_state == Some(FileState::Pending)
    }

    /// Whether an operation has to be decided beyond its hunks: it would show no line otherwise.
    fn own_operation(&self, operation: &Operation) -> bool {
        match &operation.kind {
            OperationKind::Edit => operation.mode.is_some(),
            OperationKind::Create => operation.after.as_deref().is_none_or(str::is_empty),
            OperationKind::Delete => operation.before.as_deref().is_none_or(str::is_empty),
            OperationKind::Rename { .. } | OperationKind::SetMode { .. } => true,
        }
    }

    /// Joins a further operation to the one that is there.
    fn compose(&mut self, operation: &Operation) {
        for flag in &operation.flags {
            if !self.flags.contains(flag) {
                self.flags.push(flag.clone());
            }
        }
        self.flags.retain(|flag| flag != "incomplete");
        self.mode = operation.mode.or(self.mode);
        self.revision += 1;
        let kind = match (&self.operation, &operation.kind) {
            // Never made, so nothing is left to delete.
            (OperationKind::Create, OperationKind::Delete) if self.is_being_made() => {
                self.withdraw_all();
                return;
            }
            (OperationKind::Create, _) if self.is_being_made() => OperationKind::Create,
            (OperationKind::Rename { to }, OperationKind::Edit) => {
                OperationKind::Rename { to: to.clone() }
            }
            (OperationKind::Delete, OperationKind::Create) => OperationKind::Edit,
            (_, kind) => kind.clone(),
        };
        if kind != self.operation || operation.mode.is_some() {
            self.operation = kind;
            self.own_state = self.own_operation(operation).then_some(FileState::Pending);
        }
    }

    /// Whether it is to be created, and is not yet.
    fn is_being_made(&self) -> bool {
        self.operation == OperationKind::Create && !self.is_settled()
    }

    fn withdraw_all(&mut self) {
        let open: Vec<HunkId> = self
            .hunks
            .iter()
            .filter(|hunk| hunk.state.is_open())
            .map(|hunk| hunk.id.clone())
            .collect();
        for id in open {
            // Open hunks can always be withdrawn.
            let _ = self.hunks.withdraw(&id);
        }
        if self.own_state.is_some() {
            self.own_state = Some(FileState::Withdrawn);
        }
    }
}
