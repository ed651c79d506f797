//! The highest revision of the approvals, kept where no project reaches: an older state that is put back into the
//! project, seal and all, would bring back permissions that were spent.

use crate::private::PrivateStore;

/// The choice that it is kept as.
const NAME: &str = "approvals-revision";

/// Where the revision of one workspace is kept. Without it nothing breaks, and only rollbacks within the life of a
/// process are noticed: so what fails here is passed over.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    private: PrivateStore,
    agent: String,
    workspace: String,
}

impl Mark {
    pub(super) fn new(private: PrivateStore, agent: &str, workspace: &str) -> Self {
        Self {
            private,
            agent: agent.to_owned(),
            workspace: workspace.to_owned(),
        }
    }

    /// The revision that was written last, as far as it is known.
    pub(super) fn read(&self) -> u64 {
        let kept = self.private.choice(&self.agent, &self.workspace, NAME);
        let kept = kept.ok().flatten();
        kept.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Keeps the revision that was written. Called after the state itself is on the disk: a crash in between leaves a
    /// lower mark, which refuses nothing.
    pub(super) fn write(&self, revision: u64) {
        let revision = revision.to_string();
        let _ = self
            .private
            .choose(&self.agent, &self.workspace, NAME, &revision);
    }
}
