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
    let sealed: Sealed<'_>;
    let (seal, record) = match as_written(bytes) {
        Some(parts) => parts,
        None => {
            sealed = serde_json::from_slice(bytes)
                .map_err(|error| format!("it is not a sealed record: {error}"))?;
            (sealed.seal.as_str(), sealed.record.get())
        }
    };
    let code = store.code(purpose, record.as_bytes());
    // Comparing hashes, not text, takes the same time wherever they differ.
    if !blake3::Hash::from_hex(seal).is_ok_and(|seal| seal == code) {
        return Err("its seal is not this user's: somebody else wrote or changed it".to_owned());
    }
    serde_json::from_str(record).map_err(|error| format!("its record does not parse: {error}"))
}

/// Seal and record of bytes that look as [`seal`] writes them, found without a pass over the record, which may be large.
/// What only looks so does not have the seal.
fn as_written(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let rest = text.strip_prefix("{\"seal\":\"")?;
    let (seal, rest) = rest.split_at_checked(2 * blake3::OUT_LEN)?;
    let record = rest.strip_prefix("\",\"record\":")?;
    Some((seal, record.strip_suffix("}\n")?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn a_record_is_opened_as_it_was_written_and_as_an_editor_would_write_it() {
        let scratch = Scratch::new(&[]);
        let store = scratch.store();
        store.ensure().unwrap();
        let record = vec!["a \" quote".to_owned(), "}\n".to_owned()];
        let bytes = seal(&store, "tests", &record).unwrap();
        assert!(as_written(&bytes).is_some());
        assert_eq!(
            open::<Vec<String>>(&store, "tests", &bytes),
            Ok(record.clone())
        );
        let text = String::from_utf8(bytes).unwrap();
        let spaced = text.replacen("{\"seal\":", "{ \"seal\" : ", 1);
        assert_eq!(as_written(spaced.as_bytes()), None);
        assert_eq!(
            open::<Vec<String>>(&store, "tests", spaced.as_bytes()),
            Ok(record)
        );
        // More after the record, another record, another purpose: none has the seal.
        let more = text.replacen("}\n", ",\"x\":1}\n", 1);
        let other = text.replacen("quote", "quota", 1);
        for wrong in [more, other] {
            assert!(open::<Vec<String>>(&store, "tests", wrong.as_bytes()).is_err());
        }
        assert!(open::<Vec<String>>(&store, "others", text.as_bytes()).is_err());
    }
}
