//! Starting processes that outlive us; what is started for a session is in [`crate::job`].

mod detached;
mod inherit;

pub use detached::{Detached, spawn_detached};
pub(crate) use inherit::leave_files_behind;
