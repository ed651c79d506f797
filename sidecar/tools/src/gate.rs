//! The gate: whether a mutation may run now.
//!
//! Owns the decision and its rules. Must not know how approvals are stored, which model asks, or which editor answers.
//!
//! ```text
//! keeper     the seam to whoever holds the approvals
//! ```

mod keeper;

pub use keeper::{Admission, Claim, ClosedGate, GatedCall, Gatekeeper, Start};
