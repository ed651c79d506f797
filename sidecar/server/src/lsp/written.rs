//! Large results, as JSON text past the framework.
//!
//! Owns: which results go this way, and how one is carried through the framework's service.
//! Must not know: what is in them.
//!
//! The framework keeps every result as a tree of JSON values. For a transaction of a thousand files
//! that tree costs several times what writing its text does. So a handler of [`METHODS`] gives its
//! result as a [`Written`]: to the framework it is one string, which it hands through untouched, and
//! the transport puts the string's text where the result goes.

use redline_protocol::v1::method;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Response};

/// Requests whose handlers answer with a [`Written`].
pub(crate) const METHODS: [&str; 9] = [
    method::STATUS,
    method::TRANSACTION_LIST,
    method::TRANSACTION_GET,
    method::TRANSACTION_PROPOSE,
    method::TRANSACTION_ACCEPT,
    method::TRANSACTION_REJECT,
    method::TRANSACTION_AMEND,
    method::TRANSACTION_SPLIT,
    method::TRANSACTION_REPROPOSE,
];

/// A result that is JSON text already.
pub(crate) struct Written(String);

impl Written {
    /// Writes `result` down.
    pub(crate) fn of(result: &impl Serialize) -> Result<Self, Error> {
        serde_json::to_string(result).map(Self).map_err(|error| {
            tracing::error!(%error, "a result could not be serialized");
            Error::internal_error()
        })
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The body of the response to a request of [`METHODS`].
pub(crate) fn body(response: Response) -> serde_json::Result<Vec<u8>> {
    let (id, result) = response.into_parts();
    match result {
        Ok(Value::String(written)) => {
            let id = serde_json::to_string(&id)?;
            Ok(format!(r#"{{"jsonrpc":"2.0","result":{written},"id":{id}}}"#).into_bytes())
        }
        result => serde_json::to_vec(&Response::from_parts(id, result)),
    }
}
