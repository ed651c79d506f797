//! Plans in plain LSP: the question, the code actions, the diagnostic.
//!
//! Owns: what they say. Must not know: how a decision is carried out.

use redline_protocol::v1::{DecidePlanParams, Plan, PlanDecision};
use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, Diagnostic, DiagnosticSeverity,
    NumberOrString, Position, Range,
};

use super::actions::command;
use super::diagnostics::SOURCE;
use super::profile::ClientProfile;

/// Most characters of a title in one line.
const MAX_TITLE_CHARS: usize = 80;

/// One sentence: what is to be decided. The plan itself stands in its document.
pub(crate) fn question(plan: &Plan) -> String {
    format!("follow the plan \u{201c}{}\u{201d}?", title(plan))
}

fn title(plan: &Plan) -> String {
    let clean = plan.title.chars().filter(|c| !c.is_control());
    let mut text: String = clean.clone().take(MAX_TITLE_CHARS).collect();
    if clean.count() > MAX_TITLE_CHARS {
        text.push('…');
    }
    text
}

/// Accept and reject.
pub(crate) fn actions(plan: &Plan, profile: &ClientProfile) -> Vec<CodeActionOrCommand> {
    [
        ("Accept", command::ACCEPT_PLAN, PlanDecision::Accept),
        ("Reject", command::REJECT_PLAN, PlanDecision::Reject),
    ]
    .map(|(verb, name, decision)| {
        let title = format!("{verb} the plan \u{201c}{}\u{201d}", title(plan));
        let params = DecidePlanParams {
            plan_id: Some(plan.id.clone()),
            revision: Some(plan.revision),
            decision,
            reason: None,
        };
        let command = Command {
            title: title.clone(),
            command: name.to_owned(),
            arguments: serde_json::to_value(params).ok().map(|params| vec![params]),
        };
        if !profile.action_literals {
            return CodeActionOrCommand::Command(command);
        }
        CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic(plan)]),
            command: Some(command),
            ..CodeAction::default()
        })
    })
    .to_vec()
}

/// A plan has no place of its own: it stands at the head of the document, and is severe enough to be seen.
pub(crate) fn diagnostic(plan: &Plan) -> Diagnostic {
    Diagnostic {
        range: Range::new(Position::new(0, 0), Position::new(0, 1)),
        severity: Some(DiagnosticSeverity::WARNING),
        code: Some(NumberOrString::String("plan".to_owned())),
        source: Some(SOURCE.to_owned()),
        message: format!("redline waits for you: {}\n{}", question(plan), plan.id),
        ..Diagnostic::default()
    }
}
