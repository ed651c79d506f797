//! What a session runs with: models, environment, trust.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

wire! {
/// Params of `redline/model/list`.
#[derive(Default)]
pub struct ListModelsParams {}
}

wire! {
/// One model that can be asked.
pub struct Model {
    /// `PROVIDER/MODEL`.
    pub id: String,
    /// For people.
    pub name: String,
    /// It is the configured one.
    pub configured: bool,
    /// `ready`, `missing NAME` or `rejected`.
    pub credentials: String,
    /// Whether its endpoint answers; absent when nobody asked yet.
    #[serde(default)]
    pub reachable: Option<bool>,
    /// Tokens that its context holds; absent when it is not known.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// It calls tools; absent when it is not known.
    #[serde(default)]
    pub tools: Option<bool>,
    /// It reasons; absent when it is not known.
    #[serde(default)]
    pub reasoning: Option<bool>,
    /// It reads images; absent when it is not known.
    #[serde(default)]
    pub images: Option<bool>,
    /// It makes several calls in one step; absent when it is not known.
    #[serde(default)]
    pub parallel_calls: Option<bool>,
}
}

wire! {
/// Result of `redline/model/list`.
pub struct ListModelsResult {
    /// The configured one first.
    pub models: Vec<Model>,
    /// What could not be asked, and why.
    #[serde(default)]
    pub notices: Vec<String>,
}
}

wire! {
/// Params of `redline/env/list`.
#[derive(Default)]
pub struct ListEnvParams {}
}

wire! {
/// One variable of the environment that commands run in.
pub struct EnvVariable {
    /// Its name.
    pub name: String,
    /// Its value; `***` for one that looks like a secret.
    pub value: String,
    /// Where it comes from: `inherited` (from the client), `.env`, `options` or `set`.
    pub source: String,
}
}

wire! {
/// Params of `redline/env/patch`; running turns take it at their next step.
#[derive(Default)]
pub struct PatchEnvParams {
    /// Variables to set.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Variables to take out.
    #[serde(default)]
    pub unset: Vec<String>,
}
}

wire! {
/// Result of `redline/env/list` and `redline/env/patch`.
pub struct EnvResult {
    /// By name.
    pub variables: Vec<EnvVariable>,
}
}

wire! {
/// Params of `redline/trust/list`.
#[derive(Default)]
pub struct ListTrustParams {}
}

wire! {
/// Something of the project that would widen what may happen here.
pub struct TrustItem {
    /// The file, from the workspace root.
    pub path: String,
    /// What it would do, one line each.
    pub widens: Vec<String>,
    /// Its content's hash: a decision is for exactly this content.
    pub revision: String,
    /// It was trusted, with this content.
    pub trusted: bool,
}
}

wire! {
/// Params of `redline/trust/decide`.
#[derive(Default)]
pub struct DecideTrustParams {
    /// Paths with the revisions shown; empty means all that waits.
    #[serde(default)]
    pub items: Vec<TrustRef>,
    /// Take trust back instead.
    #[serde(default)]
    pub revoke: bool,
}
}

wire! {
/// One file as it was shown.
pub struct TrustRef {
    /// The file, from the workspace root.
    pub path: String,
    /// The revision shown; absent means the present one.
    #[serde(default)]
    pub revision: Option<String>,
}
}

wire! {
/// Result of `redline/trust/list` and `redline/trust/decide`.
pub struct TrustResult {
    /// By path.
    pub items: Vec<TrustItem>,
}
}
