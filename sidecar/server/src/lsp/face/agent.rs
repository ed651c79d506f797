//! Requests about the agent's side: sessions, approvals, jobs, and what they run with.
//!
//! Owns: nothing but their way to the hub.

use redline_protocol::v1;
use tower_lsp::jsonrpc::Result;

use super::Face;
use crate::hub::event::Request;
use crate::hub::requests::AgentRequest;

macro_rules! ask_hub {
    ($($handler:ident: $request:ident($params:ident) => $answer:ty;)*) => {
        impl Face {
            $(pub(crate) async fn $handler(&self, params: v1::$params) -> Result<$answer> {
                self.ask(|reply| Request::Agent(AgentRequest::$request(params, reply)))
                    .await
            })*
        }
    };
}

ask_hub! {
    new_session: NewSession(NewSessionParams) => v1::NewSessionResult;
    load_session: LoadSession(LoadSessionParams) => v1::LoadSessionResult;
    list_sessions: ListSessions(ListSessionsParams) => v1::ListSessionsResult;
    fork_session: ForkSession(ForkSessionParams) => v1::NewSessionResult;
    archive_session: ArchiveSession(ArchiveSessionParams) => v1::SessionInfo;
    prompt: Prompt(PromptParams) => v1::PromptResult;
    set_mode: SetMode(SetModeParams) => v1::SetModeResult;
    set_model: SetModel(SetModelParams) => v1::SetModelResult;
    export_turn: ExportTurn(ExportTurnParams) => v1::ExportTurnResult;
    list_approvals: ListApprovals(ListApprovalsParams) => v1::ListApprovalsResult;
    decide_approval: DecideApproval(DecideApprovalParams) => v1::Approval;
    list_plans: ListPlans(ListPlansParams) => v1::ListPlansResult;
    decide_plan: DecidePlan(DecidePlanParams) => v1::Plan;
    list_jobs: ListJobs(ListJobsParams) => v1::ListJobsResult;
    job_output: JobOutput(JobOutputParams) => v1::JobOutputResult;
    cancel_job: CancelJob(CancelJobParams) => v1::Job;
    list_models: ListModels(ListModelsParams) => v1::ListModelsResult;
    list_env: ListEnv(ListEnvParams) => v1::EnvResult;
    patch_env: PatchEnv(PatchEnvParams) => v1::EnvResult;
    list_trust: ListTrust(ListTrustParams) => v1::TrustResult;
    decide_trust: DecideTrust(DecideTrustParams) => v1::TrustResult;
    cancel: Cancel(CancelParams) => ();
}
