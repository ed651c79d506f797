//! The first phase: everything checked, everything durable, nothing changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;

use serde_json::json;

use super::draft::{Content, Draft, NewFile, TextAfter, draft, is_at_or_below};
use super::plan::{self, Plan, Step};
use super::undoing::{self, Undoing};
use super::{CommitError, CommitRequest, Delivery};
use crate::boundary::{Batch, Spellings, WorkspacePath};
use crate::checkpoint::{Change, What};
use crate::effect::{Area, FsError, Stage, Staged};
use crate::handle::Folder;
use crate::receipt::{Outcome, Receipt};
use crate::store::{StoreError, StoreLock, StorePath};
use crate::transaction::{Concerns, FileReview, LogLine, Purpose, line_of_record};
use crate::workspace::Workspace;

/// Where commits under way keep their plans and files.
pub(super) const COMMITS: &str = "commits";
/// The plan's file, while the commit is under way.
pub(super) const PLAN: &str = "plan.json";
/// What is staged before the plan is written: path and name of each file.
pub(super) const STAGING: &str = "staging.json";
/// Locked as long as the process that commits is alive.
pub(super) const OWNER: &str = "owner";

/// A commit that is ready: staged, journaled, nothing of the project changed.
///
/// Dropping it without [`Prepared::finish`] or [`Prepared::abort`] leaves it to the next recovery.
#[derive(Debug)]
pub struct Prepared {
    pub(super) workspace: Workspace,
    pub(super) plan: Plan,
    pub(super) area: Area,
    pub(super) folder: StorePath,
    /// What it means for other transactions, by id.
    pub(super) concerns: Concerns,
    pub(super) texts: Vec<TextAfter>,
    /// Held on when no editor has to be waited for.
    pub(super) lock: Option<StoreLock>,
    pub(super) _owner: File,
    pub(super) delivered: bool,
    deliveries: Vec<Delivery>,
}

impl Prepared {
    /// The receipt as it will read when everything was done.
    pub fn receipt(&self) -> &Receipt {
        &self.plan.receipt
    }

    /// Edits to deliver to the editor before [`Prepared::finish`]; often none.
    pub fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }
}

/// Checks and stages a commit.
///
/// Blocks: call it from a worker thread. `request` is what the hub knew when the decision was made.
///
/// # Errors
///
/// [`CommitError`]; nothing was touched, and nothing of it is left in the store.
pub fn prepare(workspace: &Workspace, request: &CommitRequest) -> Result<Prepared, CommitError> {
    if request.transaction.is_incomplete() {
        let arriving = |file: &&FileReview| file.flags.iter().any(|flag| flag == "incomplete");
        let file = request.transaction.files().find(arriving);
        let what = file
            .map_or(request.transaction.id(), |file| &file.path)
            .to_owned();
        return Err(CommitError::Incomplete { what });
    }
    let lock = workspace.lock("accept")?;
    let batch = workspace.root().batch();
    let (undoing, concerns) = undoing::of(workspace, request)?;
    check_spellings(&batch, request)?;
    let mut draft = draft(&batch, request)?;
    if !draft.conflicts.is_empty() {
        return Err(CommitError::Conflict {
            conflicts: draft.conflicts,
        });
    }
    check_published(workspace, request, &draft.steps)?;
    let folder = StorePath::new(format!("{COMMITS}/{}", request.receipt_id))?;
    let area = workspace.store().area(&folder)?;
    let makes = undoing.as_ref().is_some_and(|undoing| undoing.makes);
    let filling = Filling {
        workspace,
        request,
        batch: &batch,
        area: &area,
        folder: &folder,
        lock: &lock,
        undoing,
        concerns: &concerns,
    };
    match filling.fill(&mut draft) {
        Ok((plan, owner)) => {
            let has_documents = plan.has_documents;
            Ok(Prepared {
                workspace: workspace.clone(),
                plan,
                area,
                folder,
                concerns,
                texts: draft.texts,
                lock: (!has_documents).then_some(lock),
                _owner: owner,
                delivered: !has_documents,
                deliveries: draft.deliveries,
            })
        }
        Err(error) => {
            drop_staged(&batch, &area, &draft.new_files);
            let _ = workspace.store().remove(&folder);
            if makes {
                let _ = workspace.transactions().forget(request.transaction.id());
            }
            Err(error)
        }
    }
}

/// Refuses what the file system would take for one file: two paths of the commit, or one and another on the disk.
fn check_spellings(batch: &Batch, request: &CommitRequest) -> Result<(), CommitError> {
    let mut spellings = Spellings::default();
    for path in request.selection.paths() {
        let file = request.transaction.file(path);
        for path in std::iter::once(path).chain(file.and_then(FileReview::new_path)) {
            spellings.add(batch, &batch.root().admit(path)?)?;
        }
    }
    Ok(())
}

/// What a commit's folder is filled from.
struct Filling<'a> {
    workspace: &'a Workspace,
    request: &'a CommitRequest,
    batch: &'a Batch,
    area: &'a Area,
    folder: &'a StorePath,
    lock: &'a StoreLock,
    undoing: Option<Undoing>,
    concerns: &'a Concerns,
}

impl Filling<'_> {
    /// Stages the files, writes the plan, journals `prepared`.
    fn fill(self, draft: &mut Draft) -> Result<(Plan, File), CommitError> {
        let Self {
            workspace,
            request,
            folder,
            ..
        } = self;
        let store = workspace.store();
        let here = store.make_folder(folder)?;
        let fail = |error| store.io(folder.as_str(), "claiming", error);
        let owner = here.open_lock(OWNER, 0o600).map_err(fail)?;
        owner.try_lock().map_err(|error| fail(error.into()))?;
        note_staging(workspace, &here, folder, draft)?;
        stage(workspace, self.batch, self.area, draft)?;
        let mut steps =
            plan::order(std::mem::take(&mut draft.steps)).map_err(|paths| FsError::Exists {
                path: paths.join(", "),
            })?;
        let folders = missing_folders(self.batch, &mut steps)?;
        note_made(&mut draft.changes, &folders);
        let meta = request.transaction.meta();
        let checkpoint_id = match &meta.purpose {
            Purpose::Proposal => meta.checkpoint_id(),
            Purpose::Undo { .. } => &meta.id,
            Purpose::Redo { of } => of,
        }
        .to_owned();
        if self.undoing.as_ref().is_some_and(|undoing| undoing.makes) {
            workspace
                .transactions()
                .create_locked(self.lock, &request.transaction)?;
        }
        for (name, text) in &draft.kept_texts {
            let kept = kept_name(&request.receipt_id, name);
            workspace
                .checkpoints()
                .keep_text(&checkpoint_id, &kept, text)?;
        }
        let plan = Plan {
            version: plan::VERSION,
            receipt: receipt(request, draft),
            steps,
            checkpoint_id,
            title: meta.title.clone(),
            undoing: self.undoing,
            changes: std::mem::take(&mut draft.changes),
            log: vec![LogLine::Settled {
                receipt_id: Some(request.receipt_id.clone()),
                hunks: std::mem::take(&mut draft.hunks),
                files: std::mem::take(&mut draft.files),
                applied: draft.texts.iter().map(TextAfter::applied).collect(),
            }],
            others: self
                .concerns
                .iter()
                .map(|(id, record)| (id.clone(), line_of_record(record, 0)))
                .collect(),
            settles: settles(request),
            prune: std::mem::take(&mut draft.prune),
            has_documents: !draft.deliveries.is_empty(),
        };
        let bytes = serde_json::to_vec(&plan)
            .map_err(|error| store.io(folder.as_str(), "writing the plan", error.into()))?;
        store.write(&folder.join(PLAN)?, &bytes)?;
        journal_prepared(workspace, self.lock, &plan)?;
        Ok((plan, owner))
    }
}

/// Notes with each change the folders that are made for it.
fn note_made(changes: &mut [Change], folders: &[String]) {
    for change in changes {
        let at = match &change.what {
            What::Renamed { to, .. } => to.as_str(),
            What::Created { .. } => change.path.as_str(),
            What::Disk { .. } | What::Deleted { .. } | What::Document { .. } => continue,
        };
        change.made = folders
            .iter()
            .filter(|folder| is_at_or_below(at, folder))
            .cloned()
            .collect();
    }
}

/// Whether nothing in the transaction waits once `request` is done: neither a decision nor a save.
fn settles(request: &CommitRequest) -> bool {
    let is_open = |path: &str| {
        let mut documents = request.documents.iter();
        documents.any(|document| document.path == path)
    };
    let has_hunks = |path: &str| {
        let mut files = request.selection.files.iter();
        files.any(|selected| selected.path == path && !selected.hunks.is_empty())
    };
    let waits_for_save = |file: &FileReview| {
        !file.unsaved.is_empty() || (has_hunks(&file.path) && is_open(file.current_path()))
    };
    !undoing::leaves_open(request) && !request.transaction.files().any(waits_for_save)
}

/// The name under which a displaced file is kept: unique in its checkpoint.
pub(super) fn kept_name(receipt_id: &str, name: &str) -> String {
    format!("{receipt_id}-{name}")
}

/// Names what is about to be staged: some of it may have to wait beside its target, where nobody would look for
/// it if the process died before the plan is written. It need not reach the disk, only the system.
fn note_staging(
    workspace: &Workspace,
    here: &Folder,
    folder: &StorePath,
    draft: &Draft,
) -> Result<(), CommitError> {
    let staged: Vec<(&str, &str)> = draft
        .new_files
        .iter()
        .map(|file| (file.path.as_str(), file.name.as_str()))
        .collect();
    let store = workspace.store();
    let fail = |error| store.io(folder.as_str(), "staging", error);
    let mut file = here.create_file(STAGING, 0o600).map_err(fail)?;
    serde_json::to_vec(&staged)
        .map_err(std::io::Error::from)
        .and_then(|bytes| file.write_all(&bytes))
        .map_err(fail)?;
    Ok(())
}

/// Writes and syncs the new files; their modes are known then, and go into the steps.
fn stage(
    workspace: &Workspace,
    batch: &Batch,
    area: &Area,
    draft: &mut Draft,
) -> Result<(), CommitError> {
    let mut loaded: Vec<Option<Vec<u8>>> = Vec::with_capacity(draft.new_files.len());
    for file in &draft.new_files {
        loaded.push(match &file.content {
            Content::Bytes(_) => None,
            Content::Kept {
                checkpoint_id,
                name,
            } => Some(workspace.checkpoints().kept_bytes(checkpoint_id, name)?),
        });
    }
    let stages: Vec<Stage<'_>> = draft
        .new_files
        .iter()
        .zip(&loaded)
        .map(|(file, loaded)| Stage {
            path: &file.path,
            bytes: match (&file.content, loaded) {
                (Content::Bytes(bytes), _) => bytes,
                (Content::Kept { .. }, Some(bytes)) => bytes,
                (Content::Kept { .. }, None) => &[],
            },
            name: &file.name,
            mode: file.mode,
            like: file.like.as_ref(),
            over_read_only: false,
        })
        .collect();
    let staged = batch.stage(area, &stages)?;
    let staged: BTreeMap<&str, &Staged> =
        staged.iter().map(|one| (one.path.as_str(), one)).collect();
    for step in &mut draft.steps {
        if let Step::Publish { path, after, .. } = step
            && let Some(staged) = staged.get(path.as_str())
        {
            after.mode = staged.mode;
        }
    }
    for change in &mut draft.changes {
        let (at, after) = match &mut change.what {
            What::Disk { after, .. } | What::Created { after } => (&change.path, after),
            What::Renamed { to, after, .. } => (&*to, after),
            What::Deleted { .. } | What::Document { .. } => continue,
        };
        if let Some(staged) = staged.get(at.as_str()).filter(|_| !after.symlink) {
            after.mode = staged.mode;
        }
    }
    Ok(())
}

/// Notes in each step the folders that have to be made for it. Returns all of them, outermost first.
fn missing_folders(batch: &Batch, steps: &mut [Step]) -> Result<Vec<String>, CommitError> {
    let mut made: BTreeSet<String> = BTreeSet::new();
    for step in steps {
        let Some((target, folders)) = step.target_mut() else {
            continue;
        };
        let path: WorkspacePath = batch.root().admit(target)?;
        if batch.place_of_link(&path)?.has_parent() {
            continue;
        }
        let nearest = batch.nearest_folder(&path)?.path.clone();
        let below = path.folder();
        for (at, _) in below.match_indices('/').chain([(below.len(), "")]) {
            let folder = &below[..at];
            if folder.len() > nearest.len() && made.insert(folder.to_owned()) {
                folders.push(folder.to_owned());
            }
        }
    }
    Ok(made.into_iter().collect())
}

/// Refuses to write what somebody else holds unsaved in another process.
fn check_published(
    workspace: &Workspace,
    request: &CommitRequest,
    steps: &[Step],
) -> Result<(), CommitError> {
    if steps.is_empty() {
        return Ok(());
    }
    let published = crate::unsaved::others(workspace.store(), &request.hub_id)?;
    for step in steps {
        let hit = published
            .iter()
            .find(|document| is_at_or_below(&document.path, step.path()));
        if let Some(document) = hit {
            return Err(CommitError::DirtyBuffer {
                path: step.path().to_owned(),
                document: document.path.clone(),
                elsewhere: true,
            });
        }
    }
    Ok(())
}

fn receipt(request: &CommitRequest, draft: &mut Draft) -> Receipt {
    Receipt {
        id: request.receipt_id.clone(),
        transaction_id: request.transaction.id().to_owned(),
        turn_id: request.transaction.meta().turn_id.clone(),
        action: request.transaction.meta().purpose.action(),
        decided_by: request.decided_by.clone(),
        decided_at: request.decided_at,
        shown: std::mem::take(&mut draft.shown),
        files: draft.files.iter().map(|file| file.path.clone()).collect(),
        reason: None,
        results: std::mem::take(&mut draft.results),
        outcome: Outcome::Complete,
    }
}

pub(super) fn drop_staged(batch: &Batch, area: &Area, files: &[NewFile]) {
    for file in files {
        batch.discard(area, &file.path, &file.name);
    }
}

/// Journals the start of the second phase. One record tells who decided what; the receipt in full is in the plan.
pub(super) fn journal_prepared(
    workspace: &Workspace,
    lock: &StoreLock,
    plan: &Plan,
) -> Result<(), StoreError> {
    let receipt = serde_json::to_vec(&plan.receipt)
        .map(|bytes| crate::revision::revision(&bytes))
        .unwrap_or_default();
    let paths: Vec<&str> = plan
        .receipt
        .results
        .iter()
        .map(|result| result.path.as_str())
        .collect();
    workspace.journal().append(
        lock,
        "prepared",
        &json!({
            "transaction_id": plan.receipt.transaction_id,
            "receipt_id": plan.receipt.id,
            "action": plan.receipt.action,
            "decided_by": plan.receipt.decided_by,
            "hunks": plan.receipt.shown.len(),
            "paths": paths,
            "receipt_revision": receipt,
            "delivered": !plan.has_documents,
        }),
    )?;
    Ok(())
}
