//! Changing project files, one effect at a time: staged, published, removed, renamed, each of them undoable.
//!
//! New bytes are written beside the durable store (an [`Area`]) when that is the same mount, so that
//! whoever watches the project sees only finished files; else beside their target under a temporary name.
//! Publishing lets the new file and the old one change places in one step, then looks at what came out: a
//! file that somebody else changed in between goes back, untouched. What is displaced stays in the area
//! until the caller is done with it, so undoing moves files and rewrites none.
//!
//! Order on disk: bytes fsynced, then the caller's journal, then names, then one fsync for each folder.

mod area;
mod attributes;
mod back;
mod error;
mod faults;
mod folders;
mod keep;
mod links;
mod names;
mod stage;

#[cfg(test)]
mod mounts;
#[cfg(test)]
mod tests;

pub use area::Area;
pub use error::FsError;
pub use faults::{Effect, FaultPlan, Faults};
pub use names::Expect;
pub use stage::{NewMode, Stage, Staged};
