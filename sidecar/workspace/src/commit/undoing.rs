//! What a commit of an undo or redo means beyond its files.

use serde::{Deserialize, Serialize};

use super::{CommitError, CommitRequest};
use crate::transaction::{Concerns, FileState};
use crate::undo::Standing;
use crate::workspace::Workspace;

/// The part of an undo or redo that is more than a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Undoing {
    /// The checkpoint that is taken back or put back.
    pub(super) of: String,
    /// The transaction is stored with this commit, and forgotten if it fails; else it was under review.
    pub(super) makes: bool,
    /// With this commit all of it is done.
    pub(super) completes: bool,
}

/// What committing `request` means beyond its files, and for which transactions. Call it under the lock.
///
/// # Errors
///
/// [`CommitError::Outdated`] when what it was worked out on is not what stands any more.
pub(super) fn of(
    workspace: &Workspace,
    request: &CommitRequest,
) -> Result<(Option<Undoing>, Concerns), CommitError> {
    let transaction = &request.transaction;
    let Some(of) = transaction.meta().purpose.of() else {
        return Ok((None, Concerns::new()));
    };
    let standing = workspace.standing(transaction)?;
    if standing == Standing::Stale {
        return Err(CommitError::Outdated { of: of.to_owned() });
    }
    let completes = standing == Standing::Open && !leaves_open(request);
    let concerns = if completes {
        workspace.concerns(transaction)?
    } else {
        Concerns::new()
    };
    let undoing = Undoing {
        of: of.to_owned(),
        makes: !workspace.transactions().is_stored(transaction.id())?,
        completes,
    };
    Ok((Some(undoing), concerns))
}

/// Whether something in the transaction waits for a decision once `request` is done.
pub(super) fn leaves_open(request: &CommitRequest) -> bool {
    request.transaction.files().any(|file| {
        let selected = request
            .selection
            .files
            .iter()
            .find(|selected| selected.path == file.path);
        let hunks = selected.map_or(&[][..], |selected| &selected.hunks);
        let rest = file
            .hunks
            .iter()
            .any(|hunk| hunk.state.is_open() && !hunks.contains(&hunk.id));
        let own_open = file.operation_state().is_some_and(FileState::is_open);
        rest || (own_open && !selected.is_some_and(|selected| selected.operation))
    })
}
