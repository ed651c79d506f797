//! Whether a turn still waits for an approval: one whose sidecar ended waits for nothing any more.
//!
//! Owns: telling that, for sessions of this hub and of other processes. Must not know: how approvals are kept.

use std::collections::BTreeMap;

use redline_agent::SessionStore;
use redline_workspace::Approval;

use super::Hub;

/// What is known of the sessions at one moment. It looks at other processes' sessions on the disk: not for the hub's
/// own thread.
pub(super) struct Waited {
    /// Sessions of this hub, with the turn that runs.
    own: BTreeMap<String, Option<String>>,
    store: SessionStore,
}

impl Waited {
    /// The turn that waits for `approval`, if there is one.
    pub(super) fn turn(&self, approval: &Approval) -> Option<String> {
        let is_running = match self.own.get(&approval.session) {
            Some(running) => running.as_ref() == Some(&approval.turn),
            None => self.store.is_open(&approval.session),
        };
        is_running.then(|| approval.turn.clone())
    }
}

impl Hub {
    /// What is known of the sessions now.
    pub(super) fn waited(&self) -> Waited {
        let open = self.sessions.open.iter();
        let own = open.map(|(id, conversation)| {
            let running = conversation.running.as_ref();
            (id.clone(), running.map(|running| running.turn_id.clone()))
        });
        Waited {
            own: own.collect(),
            store: self.session_store(),
        }
    }
}
