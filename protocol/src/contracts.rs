//! Generates the contracts of other languages from the wire types.
//!
//! One table, `messages`, names every method with its params and result; all types are reached
//! from it. Nothing here touches a disk: [`files`] returns paths and texts, `cargo codegen` writes
//! them, and a test fails when what is committed differs.

mod json;
mod lua;
mod typescript;

use crate::v1::{self, method};
use schemars::JsonSchema;
use std::collections::BTreeMap;
use ts_rs::TS;

/// Who sends a message, and whether it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Sent by the client, answered by the server.
    Request,
    /// Sent by the server, not answered.
    Notification,
}

/// One row of the table: a method and the names of its types.
struct Message {
    constant: &'static str,
    method: &'static str,
    kind: Kind,
    params: &'static str,
    /// Absent for notifications, and for requests that are answered with null.
    result: Option<&'static str>,
}

/// Meets every type of the table, in its order.
trait Visitor {
    fn visit<T: TS + JsonSchema + 'static>(&mut self);
}

macro_rules! messages {
    ($($kind:ident $constant:ident: $params:ident $(=> $result:ident)?;)*) => {
        fn messages() -> Vec<Message> {
            vec![$(Message {
                constant: stringify!($constant),
                method: method::$constant,
                kind: Kind::$kind,
                params: stringify!($params),
                result: [$(stringify!($result))?].first().copied(),
            }),*]
        }

        fn visit(visitor: &mut impl Visitor) {
            visitor.visit::<v1::ClientCapabilities>();
            $(
                visitor.visit::<v1::$params>();
                $(visitor.visit::<v1::$result>();)?
            )*
        }
    };
}

messages! {
    Request STATUS: StatusParams => StatusResult;
    Request TRANSACTION_LIST: ListTransactionsParams => ListTransactionsResult;
    Request TRANSACTION_GET: GetTransactionParams => Transaction;
    Request TRANSACTION_PROPOSE: ProposeParams => Transaction;
    Request TRANSACTION_ACCEPT: DecideParams => DecideResult;
    Request TRANSACTION_REJECT: DecideParams => DecideResult;
    Request TRANSACTION_AMEND: AmendParams => Transaction;
    Request TRANSACTION_SPLIT: SplitParams => Transaction;
    Request TRANSACTION_REPROPOSE: ReproposeParams => Transaction;
    Request CHECKPOINT_LIST: CheckpointListParams => CheckpointListResult;
    Request CHECKPOINT_RESTORE: RestoreParams => RestoreResult;
    Request SESSION_NEW: NewSessionParams => NewSessionResult;
    Request SESSION_LOAD: LoadSessionParams => LoadSessionResult;
    Request SESSION_LIST: ListSessionsParams => ListSessionsResult;
    Request SESSION_FORK: ForkSessionParams => NewSessionResult;
    Request SESSION_ARCHIVE: ArchiveSessionParams => SessionInfo;
    Request SESSION_PROMPT: PromptParams => PromptResult;
    Request SESSION_CANCEL: CancelParams;
    Request SESSION_SET_MODE: SetModeParams => SetModeResult;
    Request SESSION_SET_MODEL: SetModelParams => SetModelResult;
    Request TURN_EXPORT: ExportTurnParams => ExportTurnResult;
    Request APPROVAL_LIST: ListApprovalsParams => ListApprovalsResult;
    Request APPROVAL_DECIDE: DecideApprovalParams => Approval;
    Request PLAN_LIST: ListPlansParams => ListPlansResult;
    Request PLAN_DECIDE: DecidePlanParams => Plan;
    Request JOB_LIST: ListJobsParams => ListJobsResult;
    Request JOB_OUTPUT: JobOutputParams => JobOutputResult;
    Request JOB_CANCEL: CancelJobParams => Job;
    Request MODEL_LIST: ListModelsParams => ListModelsResult;
    Request ENV_LIST: ListEnvParams => EnvResult;
    Request ENV_PATCH: PatchEnvParams => EnvResult;
    Request TRUST_LIST: ListTrustParams => TrustResult;
    Request TRUST_DECIDE: DecideTrustParams => TrustResult;
    Notification SESSION_UPDATE: SessionUpdateNotification;
    Notification APPROVAL_CHANGED: ApprovalChangedNotification;
    Notification PLAN_CHANGED: PlanChangedNotification;
    Notification JOB_CHANGED: JobChangedNotification;
    Notification SIDECAR_REPLACED: SidecarReplacedNotification;
    Notification TRANSACTION_CHANGED: TransactionChangedNotification;
}

/// First line of every generated file.
const NOTICE: &str = "Generated from the wire types of protocol/ by `cargo codegen`; do not edit.";

/// Returns every generated file: path from the top of the repository, and text.
#[must_use]
pub fn files() -> BTreeMap<&'static str, String> {
    let schema = json::schema();
    BTreeMap::from([
        (
            "clients/nvim/lua/redline/protocol.lua",
            lua::module(&schema),
        ),
        ("protocol/schema/json/v1.json", json::text(&schema)),
        ("protocol/schema/ts/v1.ts", typescript::module()),
    ])
}

/// The methods that the table knows, so that a test can hold it against [`v1::method`].
#[must_use]
pub fn methods() -> Vec<&'static str> {
    messages()
        .into_iter()
        .map(|message| message.method)
        .collect()
}
