//! How large a context Ollama is asked for.
//!
//! Its own default is far below what models can read, and a longer prompt is cut without a word. The
//! model's whole window is no answer either: memory is taken for all of it at once. So the context
//! grows in steps with the conversation, up to the window, and never shrinks again, since each change
//! makes the server load the model anew.

/// The smallest context that is asked for, in tokens.
const SMALLEST: u64 = 16 * 1024;

/// Room for the answer where the caller sets no limit, in tokens.
const ANSWER: u64 = 8 * 1024;

/// What is known of one model's context. Sizes in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The longest that the model was made for.
    pub(super) window: Option<u64>,
    /// What the model's own file sets.
    pub(super) own: Option<u64>,
    /// What was asked for last.
    pub(super) asked: Option<u64>,
}

impl Context {
    /// The context for a prompt of about `prompt` tokens and an answer of at most `answer`.
    pub(super) fn fit(&self, prompt: u64, answer: Option<u64>) -> u64 {
        // The estimate may be a fifth too low.
        let needed = prompt
            .saturating_add(prompt / 5)
            .saturating_add(answer.unwrap_or(ANSWER));
        let mut size = SMALLEST;
        while size < needed && size <= u64::MAX / 2 {
            size *= 2;
        }
        let at_least = self.own.into_iter().chain(self.asked).max().unwrap_or(0);
        size.max(at_least).min(self.window.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_in_steps_up_to_the_window_and_never_shrinks() {
        let model = Context {
            window: Some(100_000),
            ..Context::default()
        };
        assert_eq!(model.fit(100, None), 16_384);
        assert_eq!(model.fit(10_000, None), 32_768);
        assert_eq!(model.fit(90_000, None), 100_000);
        let grown = Context {
            asked: Some(65_536),
            ..model
        };
        assert_eq!(grown.fit(100, None), 65_536);
        let small = Context {
            window: Some(2_048),
            ..Context::default()
        };
        assert_eq!(small.fit(100, Some(100)), 2_048);
        let own = Context {
            own: Some(40_000),
            ..Context::default()
        };
        assert_eq!(own.fit(100, None), 40_000);
        assert!(Context::default().fit(u64::MAX, None) > 1 << 62);
    }
}
