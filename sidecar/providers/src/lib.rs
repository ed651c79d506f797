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
//! sse         framing of event streams                      http      one POST, time limits, what the body really is
//! chat        OpenAI Chat Completions                       replay    a recorded turn from a file
//! ```
//!
//! **Invariant:** every stream ends with exactly one [`Event::Done`]; a broken one has an
//! [`Event::Error`] before it. A tool call is [`Event::ToolCallReady`] only when it arrived whole.
//! **Invariant:** dropping the stream closes the connection; nothing runs in the background.
//! **Invariant:** a [`Secret`] is never printed, and never part of an error message.

mod base_url;
pub mod chat;
mod error;
mod event;
pub mod history;
mod http;
mod lenient;
mod provider;
pub mod replay;
mod request;
mod retry;
mod secret;
mod sse;

pub use base_url::{BaseUrlError, join_chat_completions};
pub use error::{ErrorKind, ProviderError};
pub use event::{
    Arguments, ArgumentsErrorKind, EditOp, Event, PlanStep, ReasoningKind, StopReason, ToolCall,
    Usage,
};
pub use http::{HttpOptions, Timeouts};
pub use provider::{EventStream, Provider};
pub use request::{AssistantPart, ChatRequest, Message, ToolChoice, ToolSpec};
pub use retry::RetryPolicy;
pub use secret::Secret;
