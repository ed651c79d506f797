//! The workspace of a hub, opened: what an interrupted run left is recovered, what is unsettled is loaded.
//!
//! Owns: what a hub finds when it begins, and when a store comes to be the user's own later.
//! Must not know: how it is kept (`redline_workspace`).

use std::sync::Arc;

use redline_protocol::v1;
use redline_tools::gate::Mode;
use redline_workspace::{
    Approval, EditorSaves, JobOptions, Jobs, JournalOptions, Plan, Recovery, RecoveryAction,
    RootOptions, SealKey, StoreState, Transaction, Trust, Workspace, WorkspaceOptions,
};

use super::chosen::MODE;
use super::compose::AGENT;
use super::{Hub, HubOptions};
use crate::failure::Failure;
use crate::project::{Current, ProjectFiles};

/// A workspace as it was found.
pub(super) struct Opened {
    pub(super) workspace: Workspace,
    pub(super) kept: Kept,
    pub(super) approvals: Vec<Arc<Approval>>,
    pub(super) plans: Vec<Plan>,
    pub(super) jobs: Jobs,
    /// The mode that the user chose for this workspace.
    pub(super) mode: Option<Mode>,
    pub(super) digest_key: [u8; 32],
    pub(super) project_files: ProjectFiles,
    pub(super) project: Current,
}

/// What the durable store holds that is not settled.
pub(super) struct Kept {
    pub(super) transactions: Vec<Transaction>,
    pub(super) recovery: Vec<v1::Recovery>,
    pub(super) notices: Vec<String>,
}

/// Opens the workspace of a hub: recovers what an interrupted commit left, loads what is unsettled.
pub(super) fn open_workspace(
    options: &HubOptions,
    saves: Arc<dyn EditorSaves>,
) -> Result<Opened, Failure> {
    let key: SealKey = options
        .process
        .private
        .seal_key()
        .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    let digest_key = key.derive("digests of envs");
    let (workspace, recoveries) = Workspace::open(
        &options.root,
        WorkspaceOptions {
            root: RootOptions {
                faults: options.process.faults.clone(),
                ..RootOptions::default()
            },
            key,
            clock: Arc::new(crate::clock::now_ms),
            journal: JournalOptions::default(),
        },
    )
    .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    workspace.approvals().remember_in(
        options.process.private.as_ref().clone(),
        AGENT,
        &workspace.root().id(),
    );
    let mut kept = kept(&workspace, recoveries);
    let (jobs, orphans) = Jobs::open(
        workspace.clone(),
        JobOptions {
            started: Some(super::jobs::announcer(options.handle.clone())),
            saves,
            ..JobOptions::new(
                Arc::new(crate::clock::now_ms),
                Arc::new(crate::clock::NewIds),
            )
        },
    );
    kept.notices.extend(orphans.iter().map(|job| {
        format!(
            "{} ({}) was running when the sidecar ended; what was left of it was ended",
            job.id, job.program.asked
        )
    }));
    let trust = Trust::new(options.process.private.as_ref().clone());
    let project_files = ProjectFiles::new(workspace.clone(), trust);
    let mut project = Current::default();
    project.take(project_files.read());
    Ok(Opened {
        approvals: open_approvals(&workspace, &mut kept.notices),
        plans: open_plans(&workspace, &mut kept.notices),
        mode: chosen_mode(options, &workspace),
        workspace,
        kept,
        jobs,
        digest_key,
        project_files,
        project,
    })
}

/// Whether the store is one that this user made or trusted.
pub(super) fn is_own(workspace: &Workspace) -> bool {
    matches!(workspace.store().state(), Ok(StoreState::Sealed))
}

/// What is unsettled in the store, once what was interrupted is recovered.
pub(super) fn kept(workspace: &Workspace, recoveries: Vec<Recovery>) -> Kept {
    let mut notices = Vec::new();
    let transactions = match workspace.transactions().list_unsettled() {
        Ok((transactions, aside)) => {
            notices.extend(aside.into_iter().map(|aside| {
                format!(
                    "{} is damaged ({}); it was set aside as {}",
                    aside.id, aside.reason, aside.path
                )
            }));
            transactions
        }
        // It is told of with the rest of what came with the project.
        Err(_) if !is_own(workspace) => Vec::new(),
        Err(error) => {
            notices.push(format!("{}: {error}. {}", error.code(), error.hint()));
            Vec::new()
        }
    };
    let recovery = recoveries
        .into_iter()
        .map(|recovery| v1::Recovery {
            transaction_id: recovery.transaction_id,
            action: match recovery.action {
                RecoveryAction::RolledBack => "rolled_back",
                RecoveryAction::Finished => "finished",
                _ => "reported",
            }
            .to_owned(),
            message: recovery.message,
        })
        .collect();
    Kept {
        transactions,
        recovery,
        notices,
    }
}

fn open_approvals(workspace: &Workspace, notices: &mut Vec<String>) -> Vec<Arc<Approval>> {
    if !is_own(workspace) {
        return Vec::new();
    }
    match workspace.approvals().open() {
        Ok(waiting) => waiting,
        Err(error) => {
            notices.push(format!("{}: {error}. {}", error.code(), error.hint()));
            Vec::new()
        }
    }
}

fn open_plans(workspace: &Workspace, notices: &mut Vec<String>) -> Vec<Plan> {
    if !is_own(workspace) {
        return Vec::new();
    }
    match workspace.plans().list() {
        Ok((plans, damaged)) => {
            notices.extend(damaged.into_iter().map(|one| {
                format!(
                    "{} is damaged ({}); it was set aside as {}",
                    one.id, one.reason, one.aside
                )
            }));
            plans
        }
        Err(error) => {
            notices.push(format!("{}: {error}. {}", error.code(), error.hint()));
            Vec::new()
        }
    }
}

fn chosen_mode(options: &HubOptions, workspace: &Workspace) -> Option<Mode> {
    let id = workspace.root().id();
    let chosen = options.process.private.choice(AGENT, &id, MODE);
    chosen.ok().flatten()?.parse().ok()
}

impl Hub {
    /// Takes in what a store holds that the user has just made their own. Its approvals and plans are not among it: they are
    /// sealed one by one, and nobody else's count.
    pub(super) fn take_over(&mut self, kept: Kept) {
        self.recovery.extend(kept.recovery);
        self.notices.extend(kept.notices);
        for transaction in kept.transactions {
            self.adopt(transaction);
        }
    }
}
