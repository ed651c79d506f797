//! Whether a failed call may be made again by itself, and after how long.

use std::time::Duration;

use crate::ProviderError;

/// Limits of automatic retries. Pure: the caller waits, and the caller brings the randomness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// How often to ask again after the first try.
    pub max_retries: u32,
    /// First wait; it doubles with each further one.
    pub base: Duration,
    /// Longest wait that back-off alone reaches.
    pub max_backoff: Duration,
    /// Longest wait that a server may ask for; a longer one is left to the user.
    pub max_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            base: Duration::from_millis(500),
            max_backoff: Duration::from_secs(8),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// No automatic retries.
    pub const NEVER: Self = Self {
        max_retries: 0,
        base: Duration::ZERO,
        max_backoff: Duration::ZERO,
        max_retry_after: Duration::ZERO,
    };

    /// Returns how long to wait before trying again, or `None` when it is not to be tried again.
    ///
    /// `retries_so_far` counts from 0. `jitter` is in `0.0..=1.0`; up to a quarter of a back-off is
    /// taken off by it, never of a wait that the server named. An error after something was shown
    /// (`partial`) is never retried: the user would see it twice.
    pub fn wait(
        &self,
        retries_so_far: u32,
        error: &ProviderError,
        jitter: f64,
    ) -> Option<Duration> {
        if !error.retryable || error.partial || retries_so_far >= self.max_retries {
            return None;
        }
        if let Some(asked) = error.retry_after {
            return (asked <= self.max_retry_after).then_some(asked);
        }
        let doubled = self
            .base
            .saturating_mul(1u32.checked_shl(retries_so_far).unwrap_or(u32::MAX));
        let backoff = doubled.min(self.max_backoff);
        Some(backoff.mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn error(retry_after_ms: Option<u64>) -> ProviderError {
        let mut error = ProviderError::new(ErrorKind::Overloaded, "busy");
        error.retry_after = retry_after_ms.map(Duration::from_millis);
        error
    }

    #[test]
    fn backs_off_twice_as_long_each_time_up_to_the_limit() {
        let policy = RetryPolicy {
            max_retries: 10,
            ..RetryPolicy::default()
        };
        let waits: Vec<_> = (0..7)
            .map(|n| {
                policy
                    .wait(n, &error(None), 0.0)
                    .map(|wait| wait.as_millis())
            })
            .collect();
        let expected = [500, 1000, 2000, 4000, 8000, 8000, 8000].map(Some);
        assert_eq!(waits, expected);
        assert_eq!(policy.wait(40, &error(None), 0.0), None);
        assert_eq!(
            policy.wait(0, &error(None), 1.0),
            Some(Duration::from_millis(375))
        );
    }

    #[test]
    fn the_servers_own_wait_is_kept_to_the_millisecond_or_left_to_the_user() {
        let policy = RetryPolicy::default();
        assert_eq!(
            policy.wait(0, &error(Some(250)), 1.0),
            Some(Duration::from_millis(250))
        );
        assert_eq!(policy.wait(0, &error(Some(61_000)), 0.0), None);
    }

    #[test]
    fn nothing_is_tried_again_after_something_was_shown_or_when_it_cannot_help() {
        let policy = RetryPolicy::default();
        let mut shown = error(None);
        shown.partial = true;
        assert_eq!(policy.wait(0, &shown, 0.0), None);
        assert_eq!(
            policy.wait(0, &ProviderError::new(ErrorKind::Auth, "no"), 0.0),
            None
        );
        assert_eq!(policy.wait(3, &error(None), 0.0), None);
    }
}
