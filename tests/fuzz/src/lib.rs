//! What every fuzz target checks; the ordinary tests play the seeds through the same functions.

pub mod edits;
pub mod streams;
