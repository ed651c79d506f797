//! A client joins a conversation: what happened before is told again, then what happens now.
//!
//! Owns: that nothing is told twice and nothing is left out, and who is told.
//! Must not know: how records are kept (`redline_agent`).

use redline_agent::{History, Past, TurnEvent};
use redline_protocol::v1::{self, SessionState, SessionUpdate};
use redline_workspace::SessionError;

use super::event::{ClientId, Event, Reply};
use super::present_agent::wire_mode;
use super::sessions::{Conversation, Then, info, session_failure};
use super::turns::TurnNote;
use super::updates::{self, Narrator};
use super::{Hub, respond};
use crate::lsp::outbox::Message;

/// A session that is open here, read again for a client that joins it.
pub(crate) struct Rejoined {
    client: ClientId,
    params: v1::LoadSessionParams,
    past: Result<Past, SessionError>,
    reply: Reply<v1::LoadSessionResult>,
}

impl Hub {
    pub(super) fn load_session(
        &mut self,
        client: ClientId,
        params: v1::LoadSessionParams,
        reply: Reply<v1::LoadSessionResult>,
    ) {
        if !self.sessions.open.contains_key(&params.session_id) {
            let id = params.session_id.clone();
            return self.open_session(client, id, Then::Load(params, reply));
        }
        self.read_again(client, params, reply);
    }

    /// Reads a session that is open here, off the hub's thread.
    fn read_again(
        &self,
        client: ClientId,
        params: v1::LoadSessionParams,
        reply: Reply<v1::LoadSessionResult>,
    ) {
        let store = self.session_store();
        let hub = self.handle.clone();
        self.runtime.spawn_blocking(move || {
            let past = store.read(&params.session_id);
            hub.send(Event::Turn(TurnNote::Read(Box::new(Rejoined {
                client,
                params,
                past,
                reply,
            }))));
        });
    }

    pub(super) fn loaded(
        &mut self,
        client: ClientId,
        params: &v1::LoadSessionParams,
        past: &Past,
        reply: Reply<v1::LoadSessionResult>,
    ) {
        if params.replay.unwrap_or(true) {
            self.replay(client, &params.session_id, past);
        }
        let cwd = self.root.display().to_string();
        let state = self.sessions.open.get(&params.session_id);
        let state = state.map_or(SessionState::Idle, Conversation::state);
        let session = info(&past.summary, state, &cwd, false);
        let repaired = past.repaired.clone();
        respond(reply, Ok(v1::LoadSessionResult { session, repaired }));
    }

    /// A client joins a session that is open here already.
    pub(super) fn rejoined(&mut self, rejoined: Rejoined) {
        let Rejoined {
            client,
            params,
            past,
            reply,
        } = rejoined;
        let mut past = match past {
            Ok(past) => past,
            // Never prompted, so never written: there is nothing to replay.
            Err(SessionError::NotFound { .. }) => self.unwritten(&params.session_id),
            Err(error) => return respond(reply, Err(session_failure(error))),
        };
        // What members were told is told again from the record, and the rest as it comes: nothing twice, nothing
        // left out. While it was read more may have been told, and then it is read once more.
        let open = self.sessions.open.get(&params.session_id);
        if let Some((turn, seq)) = open.and_then(|open| open.shown.clone()) {
            let is_last = |event: &TurnEvent| event.turn_id == turn && event.seq == seq;
            match past.events.iter().rposition(is_last) {
                Some(last) => past.events.truncate(last + 1),
                None => return self.read_again(client, params, reply),
            }
        }
        self.sessions.join(&params.session_id, client);
        self.loaded(client, &params, &past, reply);
    }

    fn unwritten(&self, id: &str) -> Past {
        let conversation = self.sessions.open.get(id);
        Past {
            summary: conversation
                .map(|conversation| conversation.recorder.summary())
                .unwrap_or_default(),
            events: Vec::new(),
            history: History::default(),
            repaired: None,
        }
    }

    /// Sends a client all that happened before, in the order in which it happened.
    fn replay(&self, client: ClientId, session_id: &str, past: &Past) {
        let takes = |client: &super::Client| client.profile.session;
        if !self.clients.get(&client).is_some_and(takes) {
            return;
        }
        let turns = past.events.chunk_by(|a, b| a.turn_id == b.turn_id);
        for turn in turns {
            let turn_id = turn[0].turn_id.clone();
            let mut narrator = Narrator::new(turn_id.clone());
            let mut told = Vec::new();
            for event in turn {
                updates::join(&mut told, narrator.tell(event));
            }
            self.tell_session(client, session_id, Some(turn_id), told);
        }
        let conversation = self.sessions.open.get(session_id);
        let mut now = vec![SessionUpdate::ReplayComplete {}];
        if let Some(conversation) = conversation {
            now.push(SessionUpdate::CurrentModeUpdate {
                current_mode_id: wire_mode(conversation.mode),
            });
            now.push(SessionUpdate::CurrentModelUpdate {
                current_model_id: conversation.model.id(),
            });
        }
        self.tell_session(client, session_id, None, now);
    }

    fn tell_session(
        &self,
        client: ClientId,
        session_id: &str,
        turn_id: Option<String>,
        updates: Vec<SessionUpdate>,
    ) {
        let session_id = session_id.to_owned();
        self.tell(
            client,
            Message::Session(v1::SessionUpdateNotification {
                session_id,
                turn_id,
                updates,
            }),
        );
    }

    /// Tells all who take part in a session, and draw it.
    pub(super) fn tell_members(
        &self,
        session_id: &str,
        turn_id: Option<&str>,
        updates: &[SessionUpdate],
    ) {
        let Some(conversation) = self.sessions.open.get(session_id) else {
            return;
        };
        for &member in &conversation.members {
            let draws = self.clients.get(&member);
            if draws.is_some_and(|client| client.profile.session) {
                let turn_id = turn_id.map(str::to_owned);
                self.tell_session(member, session_id, turn_id, updates.to_vec());
            }
        }
    }
}
