//! The env that a session's commands run in, and what the user changes of it.
//!
//! Owns: composing a session's env from its client's, and patches that hold for all sessions of the workspace.
//! Must not know: how layers combine or secrets are masked; `redline_workspace` does.
//!
//! A change counts from the next step of a running turn on: [`super::steps`] takes the snapshot.

use std::collections::BTreeMap;

use redline_protocol::v1;
use redline_workspace::{EnvSnapshot, SessionEnv, is_secret_name};

use super::event::{ClientId, Reply};
use super::present_agent::env_source;
use super::{Hub, respond};
use crate::failure::Failure;

/// What stands for the value of a secret.
const MASK: &str = "***";

impl Hub {
    /// The env of a session that `client` opens: its own variables, and what was set for the workspace.
    pub(super) fn session_env(
        &self,
        client: ClientId,
        own: Option<BTreeMap<String, String>>,
    ) -> SessionEnv {
        let mut env = match own {
            Some(own) => SessionEnv::new(own),
            None => SessionEnv::new(self.env_of(client).iter()),
        };
        env.use_dotenv(self.project.project.dot_env());
        // They were checked when they were set.
        let patched = env.patch_env(self.env_patch.clone());
        debug_assert!(patched.is_ok());
        env
    }

    /// The env of the session that the client uses, else of the next one that it begins.
    fn env_shown(&self, client: ClientId) -> std::sync::Arc<EnvSnapshot> {
        let current = self.sessions.current(client);
        let conversation = current.and_then(|id| self.sessions.open.get(id));
        match conversation {
            Some(conversation) => conversation.env.snapshot(),
            None => self.session_env(client, None).snapshot(),
        }
    }

    pub(super) fn list_env(&self, client: ClientId, reply: Reply<v1::EnvResult>) {
        respond(reply, Ok(shown(&self.env_shown(client))));
    }

    pub(super) fn patch_env(
        &mut self,
        client: ClientId,
        params: v1::PatchEnvParams,
        reply: Reply<v1::EnvResult>,
    ) {
        let patched = self.may_answer(client).and_then(|()| self.patch(params));
        respond(reply, patched.map(|()| shown(&self.env_shown(client))));
    }

    fn patch(&mut self, params: v1::PatchEnvParams) -> Result<(), Failure> {
        let set = params
            .set
            .into_iter()
            .map(|(name, value)| (name, Some(value)));
        let unset = params.unset.into_iter().map(|name| (name, None));
        let changes: BTreeMap<String, Option<String>> = set.chain(unset).collect();
        // All or none: what one session refuses, each does.
        let mut probe = SessionEnv::default();
        probe
            .patch_env(changes.clone())
            .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
        for conversation in self.sessions.open.values_mut() {
            let patched = conversation.env.patch_env(changes.clone());
            debug_assert!(patched.is_ok());
        }
        self.env_patch.extend(changes);
        Ok(())
    }
}

fn shown(env: &EnvSnapshot) -> v1::EnvResult {
    let variables = env.iter().map(|(name, value, source)| v1::EnvVariable {
        name: name.to_owned(),
        value: if is_secret_name(name) {
            MASK.to_owned()
        } else {
            value.to_owned()
        },
        source: env_source(source).to_owned(),
    });
    v1::EnvResult {
        variables: variables.collect(),
    }
}
