//! Who stands at the gate: the seam between a tool call and the durable approvals behind it.

use serde_json::{Map, Value};

use crate::{Envelope, ErrorCode, Operation, OperationHash, ToolError};

/// Decides, with the policy, the plans and the approvals behind it, whether an operation runs now.
///
/// Implemented by whoever composes a session. Methods may block (they wait for a lock and a disk) and are called
/// on worker threads.
pub trait Gatekeeper: Send + Sync {
    /// Decides on `operation`, which is what `call` would do as the workspace stands at this moment.
    ///
    /// An approval that lets it through is claimed durably before this returns.
    fn admit(&self, call: &GatedCall<'_>, operation: &Operation) -> Admission;

    /// Ends a claim: spent once anything began, back to the user's approval when nothing did.
    fn settle(&self, claim: Claim, start: Start);
}

/// The call that asks to pass.
#[derive(Debug, Clone, Copy)]
pub struct GatedCall<'a> {
    /// Id of the session.
    pub session: &'a str,
    /// Id of the turn; a denial lasts for it.
    pub turn: &'a str,
    /// Id of the call, unique in the conversation.
    pub call_id: &'a str,
    /// Name of the tool.
    pub tool: &'a str,
    /// Its arguments as they were asked for: what a later run repeats.
    pub arguments: &'a Map<String, Value>,
    /// The approval whose decision this call carries out.
    pub resumes: Option<&'a str>,
}

/// The gate's answer to a call.
#[derive(Debug)]
pub enum Admission {
    /// It runs now; with the claim on the approval that let it through, if one did.
    Run(Option<Claim>),
    /// It waits for the user: the `pending_approval` envelope.
    Staged(Box<Envelope>),
    /// It does not run.
    Refused(ToolError),
}

/// The hold on one approval, for one run of its operation. It cannot be copied: one claim, one run.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a claim ends with `Gatekeeper::settle`"]
pub struct Claim {
    /// `approval_…`.
    pub approval: String,
    /// The operation that it is for.
    pub operation: OperationHash,
}

/// Whether anything began of an operation that was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Something did, whatever came of it.
    Began,
    /// Nothing did.
    NotBegun,
}

/// The gate where nobody can be asked: nothing that changes anything passes.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClosedGate;

impl Gatekeeper for ClosedGate {
    fn admit(&self, call: &GatedCall<'_>, operation: &Operation) -> Admission {
        Admission::Refused(ToolError::new(
            ErrorCode::ApprovalRequired,
            format!(
                "{}: {} needs an approval, and nobody can give one here",
                call.tool, operation.summary
            ),
        ))
    }

    fn settle(&self, _claim: Claim, _start: Start) {}
}
