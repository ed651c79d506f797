//! Transactions: sets of operations under review together.
//!
//! Owns the model that a hub holds in memory ([`Transaction`], [`FileReview`]), what may be decided
//! on it ([`select`]), its growth by the edits of a turn ([`grow`]), and its durable form
//! ([`store`], [`format`]). The model is pure: no clock, no disk, ids from a source passed in.
//!
//! **Invariant:** what is pending is never part of any text on disk or in an editor. A file's
//! [`HunkSet`] is anchored to `text`, the text as it stands without the pending hunks.
//! **Invariant:** a clone is cheap (files are shared), so that blocking work runs on a snapshot.

mod decide;
mod file;
mod format;
mod grow;
mod load;
mod model;
mod patch;
mod record;
mod select;
mod store;

pub use file::{Before, FileReview, FileState, Standing};
pub(crate) use file::{Exact, line_of};
pub(crate) use format::LogLine;
pub use grow::{GrowError, Growth};
pub(crate) use load::line_of_record;
pub use model::{Fate, Purpose, Totals, Transaction, TransactionMeta, TransactionState};
pub(crate) use record::Applied;
pub use record::{Concerns, Record, SettledFile, SettledHunk, Settlement};
pub(crate) use select::SelectedFile;
pub use select::{DecisionRequest, LineRange, SelectError, Selection};
pub use store::{SetAside, Transactions};
