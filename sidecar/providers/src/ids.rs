//! Call ids that are unique in a conversation: servers reuse theirs, in one answer and across answers.

use std::collections::HashSet;

use crate::{ChatRequest, Message};

/// The ids that are taken.
#[derive(Debug, Default)]
pub(crate) struct Ids(HashSet<String>);

impl Ids {
    /// Those of the conversation so far.
    pub(crate) fn of(request: &ChatRequest) -> Self {
        let ids = request.messages.iter().flat_map(Message::call_ids);
        Self(ids.map(str::to_owned).collect())
    }

    /// Returns `wanted`, or `wanted#2`, `wanted#3`, … when it is taken.
    pub(crate) fn unique(&mut self, wanted: String) -> String {
        if self.0.insert(wanted.clone()) {
            return wanted;
        }
        let mut number = 2u64;
        loop {
            let candidate = format!("{wanted}#{number}");
            if self.0.insert(candidate.clone()) {
                return candidate;
            }
            number += 1;
        }
    }
}
