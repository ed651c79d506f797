//! Starting processes.

mod detached;

pub use detached::{Detached, spawn_detached};
