//! The project's own files and the user's trust in them, as the hub has them now.
//!
//! Owns: which reading counts, who is told of what waits, and the user's decisions on it.
//! Must not know: how the files are read or trust is kept ([`crate::project`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use redline_protocol::v1;
use redline_tools::gate::Mode;
use tower_lsp::ls_types::MessageType;

use super::event::{ClientId, Reply};
use super::opening::{self, Kept};
use super::work::Done;
use super::{Hub, respond};
use crate::config::{Config, width};
use crate::failure::Failure;
use crate::lsp::outbox::Message;
use crate::project::{Asking, Reading};

/// The project's files were read, for whoever asked.
pub(crate) struct Looked {
    reading: Reading,
    answer: Option<(Vec<Asking>, Reply<v1::TrustResult>)>,
}

/// The user decided on files of the project.
pub(crate) struct TrustDecided {
    outcome: Result<Vec<Asking>, Failure>,
    reading: Reading,
    /// What a store holds that counts from now on.
    store: Option<Kept>,
    reply: Reply<v1::TrustResult>,
}

impl Hub {
    /// What holds in this project: the user's configuration, and what of the project's may change it.
    pub(super) fn config(&self) -> Arc<Config> {
        Arc::new(self.project.project.under(&(self.process.config)()))
    }

    /// Protects what the configuration names, as it is now.
    pub(super) fn protect(&self) {
        let protected = &self.config().permissions.protected;
        // Each list parses; it is the two together that may be too much, and then those before hold.
        if let Err(error) = self.workspace.root().protect(protected) {
            tracing::warn!(%error, "the protected paths were not changed");
        }
    }

    /// The mode that new sessions begin with: what the user chose for this workspace, else what is configured.
    pub(super) fn default_mode(&self) -> Mode {
        self.chosen_mode
            .unwrap_or_else(|| self.config().permissions.mode())
    }

    /// Reads the project's files again, off the hub's thread.
    pub(super) fn look_at_project(&self) {
        let files = self.project_files.clone();
        self.worker.run("the project's files", move || {
            Some(Done::Project(Box::new(Looked {
                reading: files.read(),
                answer: None,
            })))
        });
    }

    pub(super) fn looked_at_project(&mut self, looked: Looked) {
        self.take_reading(looked.reading);
        if let Some((asking, reply)) = looked.answer {
            respond(reply, Ok(wire(asking)));
        }
    }

    /// Takes in what was read; what waits now and did not before is told once.
    pub(super) fn take_reading(&mut self, reading: Reading) {
        let user = (self.process.config)();
        let before: BTreeSet<&str> = self.project.project.waits(&user).into_iter().collect();
        let mode_before = self.default_mode();
        if !self.project.take(reading) {
            return;
        }
        self.protect();
        self.narrow_modes(mode_before);
        let project = &self.project.project;
        for conversation in self.sessions.open.values_mut() {
            conversation.env.use_dotenv(project.dot_env());
        }
        let is_new = |path: &&str| !before.contains(path);
        if project.waits(&user).iter().any(is_new)
            && let Some(notice) = project.waiting_notice(&user)
        {
            let text = format!("Redline: {notice}");
            for client in self.clients.values() {
                if client.profile.diagnostics {
                    let (level, text) = (MessageType::WARNING, text.clone());
                    client.outbox.push(Message::Show { level, text });
                }
            }
        }
    }

    pub(super) fn list_trust(&self, reply: Reply<v1::TrustResult>) {
        let files = self.project_files.clone();
        let user = (self.process.config)();
        self.worker.run("list what waits for trust", move || {
            let reading = files.read();
            let asking = files.asking(reading.project(), &user);
            let answer = Some((asking, reply));
            Some(Done::Project(Box::new(Looked { reading, answer })))
        });
    }

    pub(super) fn decide_trust(
        &self,
        client: ClientId,
        params: v1::DecideTrustParams,
        reply: Reply<v1::TrustResult>,
    ) {
        if let Err(failure) = self.may_answer(client) {
            return respond(reply, Err(failure));
        }
        let files = self.project_files.clone();
        let user = (self.process.config)();
        let workspace = self.workspace.clone();
        self.worker.run("trust", move || {
            let was_own = opening::is_own(&workspace);
            let decided = match params.revoke {
                true => files.revoke(),
                false => {
                    let items = params.items.into_iter();
                    let named: Vec<_> = items.map(|item| (item.path, item.revision)).collect();
                    files.grant(&named, &user, crate::clock::now_ms())
                }
            };
            let reading = files.read();
            let asking = files.asking(reading.project(), &user);
            let store = (!was_own && opening::is_own(&workspace))
                .then(|| opening::kept(&workspace, workspace.recover()));
            Some(Done::Trust(Box::new(TrustDecided {
                outcome: decided.map(|()| asking),
                reading,
                store,
                reply,
            })))
        });
    }

    pub(super) fn trust_decided(&mut self, decided: TrustDecided) {
        self.take_reading(decided.reading);
        if let Some(store) = decided.store {
            self.take_over(store);
        }
        respond(decided.reply, decided.outcome.map(wire));
    }

    /// Sessions that began with the default of `before` follow it to a narrower one: it may have come from what is not trusted
    /// any more.
    fn narrow_modes(&mut self, before: Mode) {
        let now = self.default_mode();
        if width(now) >= width(before) {
            return;
        }
        let open = self.sessions.open.iter();
        let of_before = open.filter(|(_, conversation)| conversation.mode == before);
        let ids: Vec<String> = of_before.map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.change_mode(&id, now);
        }
    }
}

fn wire(asking: Vec<Asking>) -> v1::TrustResult {
    let items = asking.into_iter().map(|file| v1::TrustItem {
        path: file.path.to_owned(),
        widens: file.widens,
        revision: file.revision,
        trusted: file.is_trusted,
    });
    v1::TrustResult {
        items: items.collect(),
    }
}
