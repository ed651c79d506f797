//! Redline's resource boundary: the project's files, and what is kept beside them.
//!
//! It owns the rooted paths and every effect on them, the durable store with its lock and journal, the
//! transactions and their commits, listing and search, and the start of processes. It must not know an
//! agent, a model, an editor, a terminal or the network.
//!
//! **Invariant:** nothing here reads the clock, the environment or the home directory; they are passed in.
//! **Invariant:** no other crate touches project files.
//!
//! In reading order:
//! `boundary` paths and the handles that reach them ·
//! `read` what a path holds ·
//! `effect` staged changes and their undoing ·
//! `store` `.agentic`, its seal and its lock ·
//! `journal` what happened, checked ·
//! `uri` what editors call a file ·
//! `walk`, `list`, `search` finding files and text ·
//! `private` what belongs to the user alone ·
//! `process` starting programs.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that touches files and starts processes"
)]

mod boundary;
mod effect;
mod handle;
mod journal;
mod list;
mod private;
mod process;
mod read;
mod revision;
mod search;
mod sources;
mod store;
#[cfg(test)]
mod testing;
mod uri;
mod walk;

pub use boundary::{Batch, PathError, PathRules, Place, RootOptions, WorkspacePath, WorkspaceRoot};
pub use effect::{Area, Effect, Expect, FaultPlan, Faults, FsError, NewMode, Stage, Staged};
pub use handle::{Kind, Stat};
pub use journal::{Finding, Follower, Journal, JournalOptions, Record, Report};
pub use list::{Listed, ListedKind, Listing, list};
pub use private::{PrivateError, PrivateStore};
pub use process::{Detached, spawn_detached};
pub use read::{Entry, FileEntry};
pub use search::{Case, Found, Match, Query, search};
pub use sources::{Clock, Ids};
pub use store::{SealKey, Store, StoreError, StoreLock, StorePath, StoreState};
pub use uri::{path_to_uri, uri_to_path};
pub use walk::{Overlay, Scope, SearchError};
