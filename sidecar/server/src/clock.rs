//! The clock and new ids: taken from the system here and passed down.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the server is where the clock is read"
)]
pub(crate) fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

/// New ids, for what is given a source of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewIds;

impl redline_workspace::Ids for NewIds {
    fn next(&self, prefix: &str) -> String {
        new_id(prefix)
    }
}

/// A new id: `prefix` and a ULID, larger than every one that this process made before.
pub(crate) fn new_id(prefix: &str) -> String {
    use std::sync::{Mutex, PoisonError};
    static LAST: Mutex<ulid::Ulid> = Mutex::new(ulid::Ulid::nil());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let fresh = ulid::Ulid::new();
    // Two ids of one millisecond would be in no order: the later one counts on.
    let next = if fresh > *last {
        fresh
    } else {
        last.increment().unwrap_or(fresh)
    };
    *last = next;
    format!("{prefix}{next}")
}
