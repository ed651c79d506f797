//! Model providers: vendor streams in, one vocabulary of events out.
//!
//! Owns the wire formats of the vendors, HTTP to them, the classification of their errors, and the
//! `replay` provider, which plays a recording. Must not know workspaces, tools' meanings, sessions,
//! the environment, the clock or the home directory: credentials, URLs and recordings are passed in.
//!
//! ```text
//! request     what is asked: model, messages, tools         event     what comes back
//! history     repairs of a conversation before it is sent   error     kinds of failure, retry facts
//! provider    the trait and its stream                      retry     whether and when to ask again
//! endpoint    one URL: asks, adapts, reads, emits            http      one request, time limits, what the body really is
//! stream      from bytes to events: framing, assembling     draft     what the answers of all vendors share
//! anthropic   Messages                                      responses OpenAI Responses
//! chat        OpenAI Chat Completions                       ollama    Ollama's own API
//! replay      a recorded turn from a file                   adapter   the four by name
//! registry    what the endpoints offer, and whether       model     what is known of a model, from its endpoint
//!             they answer; local servers                  catalog   or from the built-in table
//! count       how many tokens a request holds             price     what an answer cost
//! ```
//!
//! An adapter is `wire` (the JSON as servers really send it), `request` (from a conversation to a body) and `assemble` (from
//! the stream's JSON to a draft); everything else is shared.
//!
//! **Invariant:** every stream ends with exactly one [`Event::Done`]; a broken one has an
//! [`Event::Error`] before it. A tool call is [`Event::ToolCallReady`] only when it arrived whole.
//! **Invariant:** dropping the stream closes the connection; nothing runs in the background.
//! **Invariant:** a [`Secret`] is never printed, and never part of an error message.

mod adapter;
mod alias;
pub mod anthropic;
mod base_url;
mod catalog;
pub mod chat;
pub mod count;
mod draft;
mod endpoint;
mod error;
mod event;
pub mod history;
mod http;
mod ids;
mod lenient;
mod model;
pub mod ollama;
mod price;
mod provider;
pub mod registry;
pub mod replay;
mod request;
pub mod responses;
mod retry;
mod secret;
mod stream;
mod think;

pub use adapter::{AnswerDecoder, Api, ApiOptions};
pub use base_url::BaseUrlError;
pub use catalog::{TABLE_DATE, known_window};
pub use endpoint::Connection;
pub use error::{ErrorKind, ProviderError};
pub use event::{
    Arguments, ArgumentsErrorKind, EditOp, Event, OpaqueBlock, PlanStep, ReasoningKind, StopReason,
    ToolCall, Usage,
};
pub use http::{HttpOptions, Timeouts};
pub use model::{Capabilities, ModelInfo};
pub use price::{Price, PriceBook, Rates};
pub use provider::{EventStream, Provider};
pub use request::{AssistantPart, ChatRequest, Message, ToolChoice, ToolSpec};
pub use retry::RetryPolicy;
pub use secret::Secret;
