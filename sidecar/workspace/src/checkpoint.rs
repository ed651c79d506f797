//! Checkpoints: what a turn changed, kept so that it can be taken back as one.
//!
//! A checkpoint belongs to a turn, or to a transaction that no turn made, and grows with each of
//! its commits; never is anything read that no commit touched, so its cost does not know the size
//! of the workspace. Owns the stored form ([`format`]) and what taking back means ([`reverse`]).
//! The undo itself is a transaction like any other (see [`crate::undo`]).

mod format;
mod reverse;
mod segment;
mod store;
mod target;

pub(crate) use format::{Change, Edit, Entry, Header, VERSION, What, apply};
pub use reverse::Refusal;
pub(crate) use reverse::{Buried, Contest, Contested, Reversal, reverse};
pub use store::CheckpointSummary;
pub(crate) use store::{Checkpoint, Checkpoints};
pub(crate) use target::{Now, Target};
