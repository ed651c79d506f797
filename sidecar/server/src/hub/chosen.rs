//! What users choose for sessions: the mode, the model.
//!
//! Owns: when a choice counts, and that it is kept. Must not know: what a mode lets through, or how a model is asked.

use redline_protocol::v1::{self, SessionUpdate};
use redline_tools::gate::Mode;
use redline_workspace::SessionError;

use super::compose::AGENT;
use super::event::{ClientId, Reply};
use super::present_agent::{mode_of, mode_word, wire_mode};
use super::sessions::unknown_session;
use super::{Hub, respond};
use crate::failure::Failure;

/// The name under which the workspace's mode is kept.
pub(super) const MODE: &str = "mode";

impl Hub {
    pub(super) fn set_mode(
        &mut self,
        client: ClientId,
        params: &v1::SetModeParams,
        reply: Reply<v1::SetModeResult>,
    ) {
        let mode = mode_of(params.mode_id);
        let changed = match &params.session_id {
            _ if self.may_answer(client).is_err() => self.may_answer(client),
            Some(id) if !self.sessions.open.contains_key(id) => Err(unknown_session(id)),
            Some(id) => {
                self.change_mode(&id.clone(), mode);
                Ok(())
            }
            None => {
                self.set_default_mode(mode);
                let all: Vec<String> = self.sessions.open.keys().cloned().collect();
                all.iter().for_each(|id| self.change_mode(id, mode));
                Ok(())
            }
        };
        let mode_id = params.mode_id;
        respond(reply, changed.map(|()| v1::SetModeResult { mode_id }));
    }

    /// The mode that new sessions begin with, also after a restart.
    fn set_default_mode(&mut self, mode: Mode) {
        self.chosen_mode = Some(mode);
        let private = self.process.private.clone();
        let workspace = self.workspace.root().id();
        self.runtime.spawn_blocking(move || {
            if let Err(error) = private.choose(AGENT, &workspace, MODE, mode_word(mode)) {
                tracing::warn!(%error, "the mode was not kept");
            }
        });
    }

    /// The mode of a session, from its next step on.
    pub(super) fn change_mode(&mut self, id: &str, mode: Mode) {
        let Some(conversation) = self.sessions.open.get_mut(id) else {
            return;
        };
        conversation.mode = mode;
        let recorder = conversation.recorder.clone();
        self.keep("mode", move || recorder.set_mode(mode_word(mode)));
        let current_mode_id = wire_mode(mode);
        let update = SessionUpdate::CurrentModeUpdate { current_mode_id };
        self.tell_members(id, None, &[update]);
    }

    pub(super) fn set_model(
        &mut self,
        client: ClientId,
        params: v1::SetModelParams,
        reply: Reply<v1::SetModelResult>,
    ) {
        let changed = self.change_model(client, params);
        respond(reply, changed);
    }

    fn change_model(
        &mut self,
        client: ClientId,
        params: v1::SetModelParams,
    ) -> Result<v1::SetModelResult, Failure> {
        let current = self.sessions.current(client).cloned();
        let id = params.session_id.or(current).ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                "this client has no session yet",
                "begin one with a prompt, or name one",
            )
        })?;
        let config = self.config();
        let conversation = self
            .sessions
            .open
            .get_mut(&id)
            .ok_or_else(|| unknown_session(&id))?;
        let open = self
            .process
            .models
            .open(&config, Some(&params.model_id), &conversation.keys);
        let model = open?;
        let model_id = model.id();
        conversation.model = model;
        let recorder = conversation.recorder.clone();
        let kept = model_id.clone();
        self.keep("model", move || recorder.set_model(&kept));
        let current_model_id = model_id.clone();
        let update = SessionUpdate::CurrentModelUpdate { current_model_id };
        self.tell_members(&id, None, &[update]);
        Ok(v1::SetModelResult {
            session_id: id,
            model_id,
        })
    }

    /// Keeps something of a session, off the hub's thread; it is in force already.
    fn keep(
        &self,
        what: &'static str,
        write: impl FnOnce() -> Result<(), SessionError> + Send + 'static,
    ) {
        self.runtime.spawn_blocking(move || {
            if let Err(error) = write() {
                tracing::warn!(%error, what, "a session's change was not kept");
            }
        });
    }

    pub(super) fn list_models(&self, client: ClientId, reply: Reply<v1::ListModelsResult>) {
        let models = self
            .process
            .models
            .list(self.config(), &self.env_of(client));
        self.runtime
            .spawn(async move { respond(reply, Ok(models.await)) });
    }
}
