//! What the library does not take for itself: the time and new ids.

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
}

/// Makes new ids.
pub trait Ids: Send + Sync {
    /// A new id: `prefix` (`tx_`, `ck_`, …) and a ULID.
    fn next(&self, prefix: &str) -> String;
}

impl<F: Fn() -> u64 + Send + Sync> Clock for F {
    fn now_ms(&self) -> u64 {
        self()
    }
}
