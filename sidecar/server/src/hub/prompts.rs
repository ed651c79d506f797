//! A prompt as it comes from a client: what the user decides in it, its text, and what stands around it.
//!
//! Owns: carrying out `/accept`, `/deny`, `/mode` and `/plan` before any model sees the prompt, and the excerpt of
//! the document that it is about.
//! Must not know: how a turn runs.

use std::sync::Arc;

use redline_agent::{Document, PromptContext, Selection, excerpt};
use redline_protocol::v1;
use redline_tools::gate::{Directive, Mode, Subject, read_prompt};
use redline_workspace::{Approval, ApprovalState, Plan, PlanState, Voice, Workspace};
use tower_lsp::ls_types::MessageType;

use super::event::{ClientId, Reply};
use super::sessions::busy;
use super::work::Done;
use super::{Hub, approvals, plans, respond};
use crate::failure::Failure;
use crate::lsp::outbox::Message;

/// Bytes of the open document that a prompt carries.
const EXCERPT_BYTES: usize = 6000;

/// A decision in a prompt.
struct Ruling {
    voice: Voice,
    subject: Subject,
    reason: Option<String>,
}

/// A prompt whose decisions are carried out.
struct Prompted {
    client: ClientId,
    session: String,
    /// What is left for the model.
    text: String,
    place: Option<v1::PromptContext>,
    /// What was done so far, for people.
    said: Vec<String>,
    reply: Reply<v1::PromptResult>,
}

/// The decisions of a prompt were carried out, or were not.
pub(crate) struct Directed {
    prompt: Prompted,
    approvals: Vec<Arc<Approval>>,
    plans: Vec<Plan>,
    /// The first that was refused; those after it were not tried.
    refused: Option<Failure>,
}

impl Hub {
    /// Carries out what the user decides in a prompt, then starts a turn with what is left of it.
    pub(super) fn read_prompt(
        &mut self,
        client: ClientId,
        session: String,
        params: v1::PromptParams,
        reply: Reply<v1::PromptResult>,
    ) {
        let (text, linked) = prompt_text(&params);
        let prompt = read_prompt(&text);
        let prompted = Prompted {
            client,
            session,
            text: prompt.text,
            place: params.context.or(linked),
            said: Vec::new(),
            reply,
        };
        if prompt.directives.is_empty() {
            return self.go_on(prompted);
        }
        if let Err(failure) = self.may_direct(&prompted, &prompt.directives) {
            return respond(prompted.reply, Err(failure));
        }
        self.direct(prompted, prompt.directives);
    }

    /// Nothing of a prompt is carried out when a part of it cannot be.
    fn may_direct(&self, prompt: &Prompted, directives: &[Directive]) -> Result<(), Failure> {
        self.may_answer(prompt.client)?;
        for directive in directives {
            if let Directive::UnknownMode(unknown) = directive {
                return Err(Failure::usage(unknown.to_string(), "say `/mode manual`"));
            }
        }
        let conversation = self.sessions.open.get(&prompt.session);
        let runs = conversation.is_some_and(|open| open.running.is_some());
        match runs && !prompt.text.trim().is_empty() {
            true => Err(busy(&prompt.session)),
            false => Ok(()),
        }
    }

    fn direct(&mut self, mut prompt: Prompted, directives: Vec<Directive>) {
        let mut rulings = Vec::new();
        for directive in directives {
            match directive {
                Directive::Mode(mode) => {
                    self.change_mode(&prompt.session, mode);
                    prompt.said.push(format!("the mode is {mode} now"));
                }
                Directive::TellMode => {
                    let conversation = self.sessions.open.get(&prompt.session);
                    let mode = conversation.map_or(Mode::default(), |open| open.mode);
                    prompt.said.push(format!("the mode is {mode}"));
                }
                Directive::Decide {
                    accept,
                    subject,
                    reason,
                } => rulings.push(Ruling {
                    voice: if accept { Voice::Yes } else { Voice::No },
                    subject,
                    reason,
                }),
                // Refused before anything was done.
                Directive::UnknownMode(_) => {}
            }
        }
        if rulings.is_empty() {
            return self.go_on(prompt);
        }
        let by = self.name_of(prompt.client);
        let workspace = self.workspace.clone();
        self.worker.run("decisions of a prompt", move || {
            let mut directed = Directed {
                prompt,
                approvals: Vec::new(),
                plans: Vec::new(),
                refused: None,
            };
            for ruling in rulings {
                if let Err(failure) = directed.carry_out(&workspace, &ruling, &by) {
                    directed.refused = Some(failure);
                    break;
                }
            }
            Some(Done::Directed(Box::new(directed)))
        });
    }

    pub(super) fn directed(&mut self, directed: Directed) {
        for approval in directed.approvals {
            self.approval_changed(approval);
        }
        for plan in directed.plans {
            self.plan_changed(plan);
        }
        match directed.refused {
            // What is left of the prompt may rest on what was refused.
            Some(failure) => respond(directed.prompt.reply, Err(failure)),
            None => self.go_on(directed.prompt),
        }
    }

    /// Starts a turn with what is left of a prompt, and answers.
    fn go_on(&mut self, prompt: Prompted) {
        let Prompted {
            client,
            session,
            text,
            place,
            said,
            reply,
        } = prompt;
        let message = (!said.is_empty()).then(|| said.join("; "));
        if let Some(message) = &message {
            let draws = self.clients.get(&client);
            if !draws.is_some_and(|each| each.profile.session) {
                let (level, text) = (MessageType::INFO, format!("Redline: {message}"));
                self.tell(client, Message::Show { level, text });
            }
        }
        if text.trim().is_empty() {
            let answer = match message {
                None => Err(Failure::new(
                    "INVALID_ARGUMENTS",
                    "the prompt is empty",
                    "say what you want to be changed",
                )),
                message => Ok(v1::PromptResult {
                    session_id: session,
                    turn_id: String::new(),
                    message,
                }),
            };
            return respond(reply, answer);
        }
        let started = self.start_turn(client, &session, text, place.as_ref());
        respond(
            reply,
            started.map(|started| v1::PromptResult { message, ..started }),
        );
    }

    pub(super) fn prompt_context(
        &self,
        client: ClientId,
        place: Option<&v1::PromptContext>,
    ) -> PromptContext {
        let mut context = PromptContext {
            open_paths: self.documents.paths().map(str::to_owned).collect(),
            ..PromptContext::default()
        };
        let Some(place) = place else { return context };
        let Some(path) = self.path_of(&place.uri) else {
            return context;
        };
        let Some(copy) = self.documents.leading(&path, Some(client)) else {
            return context;
        };
        context.open_paths.retain(|open| *open != path);
        let text = copy.rope.to_string();
        let line = place.range.map_or(0, |range| range.start.line as usize);
        let (start_line, shown, total_lines) = excerpt(&text, line + 1, EXCERPT_BYTES);
        context.document = Some(Document {
            path: path.clone(),
            cursor_line: line + 1,
            start_line,
            total_lines,
            text: shown,
        });
        if let Some(range) = place.range
            && range.start != range.end
        {
            let byte = |at: v1::Position| {
                let at = redline_edits::LineCol {
                    line: at.line,
                    character: at.character,
                };
                redline_edits::to_byte(&copy.rope, at, copy.encoding)
            };
            let (start, end) = (byte(range.start), byte(range.end));
            let ends_before = range.end.character == 0 && range.end.line > range.start.line;
            context.selection = Some(Selection {
                path,
                start_line: line + 1,
                end_line: range.end.line as usize + usize::from(!ends_before),
                text: text
                    .get(start..end.max(start))
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
        context
    }
}

impl Directed {
    /// Decides on what a ruling is about, one after the other.
    fn carry_out(
        &mut self,
        workspace: &Workspace,
        ruling: &Ruling,
        by: &str,
    ) -> Result<(), Failure> {
        let ids = match &ruling.subject {
            Subject::Ids(ids) => ids.clone(),
            subject => {
                let waiting = self.waiting(workspace)?;
                match (subject, waiting.as_slice()) {
                    (_, []) => {
                        return Err(Failure::new(
                            "NOTHING_PENDING",
                            "nothing of this conversation waits for a decision",
                            "`redline approvals` lists what waits elsewhere",
                        ));
                    }
                    (Subject::TheOne, [_, _, ..]) => {
                        return Err(Failure::new(
                            "INVALID_ARGUMENTS",
                            format!("{} wait: {}", waiting.len(), waiting.join(", ")),
                            "name the ones that are meant, or say `all`",
                        ));
                    }
                    _ => waiting,
                }
            }
        };
        ids.iter()
            .try_for_each(|id| self.decide(workspace, id, ruling, by))
    }

    /// What of the prompt's conversation waits for a decision.
    fn waiting(&self, workspace: &Workspace) -> Result<Vec<String>, Failure> {
        let session = &self.prompt.session;
        let kept = workspace.approvals().waiting();
        let kept = kept.map_err(approvals::failure)?;
        let own = kept.iter().filter(|each| each.session == *session);
        let mut ids: Vec<String> = own.map(|each| each.id.clone()).collect();
        let (plans, _) = workspace.plans().list().map_err(plans::failure)?;
        let own = plans
            .iter()
            .filter(|plan| plan.session == *session && plan.state == PlanState::Proposed);
        ids.extend(own.map(|plan| plan.id.clone()));
        Ok(ids)
    }

    fn decide(
        &mut self,
        workspace: &Workspace,
        id: &str,
        ruling: &Ruling,
        by: &str,
    ) -> Result<(), Failure> {
        let reason = ruling.reason.as_deref();
        let word = match ruling.voice {
            Voice::Yes => "accepted",
            Voice::No => "denied",
        };
        let about = if id.starts_with("plan_") {
            let kept = workspace.plans();
            let decided = kept.decide(id, None, ruling.voice, by, reason);
            self.plans.extend(kept.get(id).ok());
            let plan = decided.map_err(plans::failure)?;
            format!("the plan {}", plan.title)
        } else {
            let kept = workspace.approvals();
            let decided = kept.decide(id, ruling.voice, by, reason);
            // Also one that was refused may have become void by it.
            let now = kept.get(id).ok();
            self.approvals.extend(now.filter(|approval| {
                approval.state_at(crate::clock::now_ms()) != ApprovalState::Waiting
            }));
            decided.map_err(approvals::failure)?.shown.summary.clone()
        };
        self.prompt.said.push(format!("{word}: {about}"));
        Ok(())
    }
}

/// The text of a prompt, and the first document that its blocks link.
pub(super) fn prompt_text(params: &v1::PromptParams) -> (String, Option<v1::PromptContext>) {
    let mut texts = Vec::new();
    let mut linked = None;
    for block in &params.prompt {
        match block {
            v1::ContentBlock::Text { text } => texts.push(text.as_str()),
            v1::ContentBlock::ResourceLink { uri, .. } => {
                linked.get_or_insert_with(|| v1::PromptContext {
                    uri: uri.clone(),
                    range: None,
                });
            }
        }
    }
    texts.push(&params.text);
    texts.retain(|text| !text.trim().is_empty());
    (texts.join("\n\n"), linked)
}
