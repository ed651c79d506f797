//! Records in the durable store that give permissions: each carries a code that only this user's sidecars can make.
//!
//! ```text
//! {"seal": "<code in hex>", "record": { … }}
//! ```
//!
//! A process that may write the workspace may write `.agentic` too where no sandbox keeps it out; what it writes there is
//! not taken for the user's word.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::store::Store;

#[derive(Serialize, Deserialize)]
struct Sealed<'a> {
    seal: String,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// The bytes of a record. `purpose` tells kinds of records apart: one is never taken for another.
pub(crate) fn seal<T: Serialize>(
    store: &Store,
    purpose: &str,
    record: &T,
) -> Result<Vec<u8>, serde_json::Error> {
    let record = serde_json::value::to_raw_value(record)?;
    let seal = store.code(purpose, record.get().as_bytes());
    let mut bytes = serde_json::to_vec(&Sealed {
        seal: seal.to_hex().to_string(),
        record: &record,
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a record; what is wrong with it otherwise.
pub(crate) fn open<T: DeserializeOwned>(
    store: &Store,
    purpose: &str,
    bytes: &[u8],
) -> Result<T, String> {
    let sealed: Sealed<'_> = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is not a sealed record: {error}"))?;
    let code = store.code(purpose, sealed.record.get().as_bytes());
    // Comparing hashes, not text, takes the same time wherever they differ.
    if !blake3::Hash::from_hex(&sealed.seal).is_ok_and(|seal| seal == code) {
        return Err("its seal is not this user's: somebody else wrote or changed it".to_owned());
    }
    serde_json::from_str(sealed.record.get())
        .map_err(|error| format!("its record does not parse: {error}"))
}
