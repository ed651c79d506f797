//! What is known of a model: from its endpoint where that says it, else from the built-in catalog.

pub(crate) mod list;

use serde::Serialize;

use crate::catalog;
use crate::price::Price;

/// A model that an endpoint offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelInfo {
    /// The endpoint's name of it, as requests say it.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// The longest prompt and answer together, in tokens, as the endpoint runs it.
    pub context_window: Option<u64>,
    /// The longest answer, in tokens.
    pub max_output_tokens: Option<u64>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// For local servers: whether it is in memory.
    pub loaded: Option<bool>,
    /// What the endpoint itself says that its tokens cost.
    #[serde(skip)]
    pub price: Option<Price>,
}

/// What a model can do; `None` where nobody says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// It calls tools.
    pub tools: Option<bool>,
    /// It calls several at once.
    pub parallel_calls: Option<bool>,
    /// It reasons before it answers.
    pub reasoning: Option<bool>,
    /// It reads images.
    pub images: Option<bool>,
}

impl ModelInfo {
    /// A model of which only its name is known.
    pub(crate) fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Fills in what the endpoint did not say and the catalog knows.
    pub(crate) fn completed(mut self) -> Self {
        if let Some(known) = catalog::known(&self.id) {
            self.context_window = self.context_window.or(known.context_window);
            self.max_output_tokens = self.max_output_tokens.or(known.max_output_tokens);
            let can = &mut self.capabilities;
            can.reasoning = can.reasoning.or(Some(known.reasoning));
            can.images = can.images.or(Some(known.images));
            // Every model of the catalog does, and several at once.
            can.tools = can.tools.or(Some(true));
            can.parallel_calls = can.parallel_calls.or(Some(true));
        }
        self
    }
}
