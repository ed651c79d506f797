//! What a client may ask of the agent's side of a hub.
//!
//! Owns: the list, with the reply channel of each. Must not know: how anything is answered.

use redline_protocol::v1;

use super::event::Reply;
use crate::failure::Failure;

macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident: $params:ident => $answer:ty;)*) => {
        /// A request about sessions, approvals, plans, jobs and what they run with.
        pub(crate) enum AgentRequest {
            $($(#[$doc])* $name(v1::$params, Reply<$answer>),)*
        }

        impl AgentRequest {
            /// Answers with a failure, whatever was asked.
            pub(crate) fn refuse(self, failure: &Failure) {
                match self {
                    // Whoever asked may be gone.
                    $(Self::$name(_, reply) => drop(reply.send(Err(failure.clone()))),)*
                }
            }
        }
    };
}

requests! {
    NewSession: NewSessionParams => v1::NewSessionResult;
    LoadSession: LoadSessionParams => v1::LoadSessionResult;
    ListSessions: ListSessionsParams => v1::ListSessionsResult;
    ForkSession: ForkSessionParams => v1::NewSessionResult;
    ArchiveSession: ArchiveSessionParams => v1::SessionInfo;
    Prompt: PromptParams => v1::PromptResult;
    Cancel: CancelParams => ();
    SetMode: SetModeParams => v1::SetModeResult;
    SetModel: SetModelParams => v1::SetModelResult;
    ExportTurn: ExportTurnParams => v1::ExportTurnResult;
    ListApprovals: ListApprovalsParams => v1::ListApprovalsResult;
    DecideApproval: DecideApprovalParams => v1::Approval;
    ListPlans: ListPlansParams => v1::ListPlansResult;
    DecidePlan: DecidePlanParams => v1::Plan;
    ListJobs: ListJobsParams => v1::ListJobsResult;
    JobOutput: JobOutputParams => v1::JobOutputResult;
    CancelJob: CancelJobParams => v1::Job;
    ListModels: ListModelsParams => v1::ListModelsResult;
    ListEnv: ListEnvParams => v1::EnvResult;
    PatchEnv: PatchEnvParams => v1::EnvResult;
    ListTrust: ListTrustParams => v1::TrustResult;
    DecideTrust: DecideTrustParams => v1::TrustResult;
}
