//! Approvals in plain LSP: the question, the code actions, the diagnostic.
//!
//! Owns: what they say. Must not know: how a decision is carried out.

use redline_protocol::v1::{Approval, ApprovalDecision, DecideApprovalParams};
use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, Diagnostic, DiagnosticSeverity,
    NumberOrString, Position, Range,
};

use super::actions::command;
use super::diagnostics::SOURCE;
use super::profile::ClientProfile;

/// Most characters of what would happen in one line.
const MAX_SUMMARY_CHARS: usize = 200;

/// One sentence: what would happen, and why it is asked about.
pub(crate) fn question(approval: &Approval) -> String {
    format!("run `{}`? {}", summary(approval), approval.why)
}

fn summary(approval: &Approval) -> String {
    let clean = approval.summary.chars().filter(|c| !c.is_control());
    let mut text: String = clean.clone().take(MAX_SUMMARY_CHARS).collect();
    if clean.count() > MAX_SUMMARY_CHARS {
        text.push('…');
    }
    text
}

/// Approve and deny.
pub(crate) fn actions(approval: &Approval, profile: &ClientProfile) -> Vec<CodeActionOrCommand> {
    [
        ("Approve", command::APPROVE, ApprovalDecision::Approve),
        ("Deny", command::DENY, ApprovalDecision::Deny),
    ]
    .map(|(verb, name, decision)| action(approval, profile, verb, name, decision))
    .to_vec()
}

fn action(
    approval: &Approval,
    profile: &ClientProfile,
    verb: &str,
    name: &str,
    decision: ApprovalDecision,
) -> CodeActionOrCommand {
    let title = format!("{verb} `{}`", summary(approval));
    let params = DecideApprovalParams {
        approval_id: Some(approval.id.clone()),
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
        diagnostics: Some(vec![diagnostic(approval)]),
        command: Some(command),
        ..CodeAction::default()
    })
}

/// An approval has no place of its own: it stands at the head of the document, and is severe enough to be seen.
pub(crate) fn diagnostic(approval: &Approval) -> Diagnostic {
    Diagnostic {
        range: Range::new(Position::new(0, 0), Position::new(0, 1)),
        severity: Some(DiagnosticSeverity::WARNING),
        code: Some(NumberOrString::String("approval".to_owned())),
        source: Some(SOURCE.to_owned()),
        message: format!(
            "redline waits for you: {}\n{}",
            question(approval),
            approval.id
        ),
        ..Diagnostic::default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use redline_protocol::v1::{ApprovalState, MutationKind, OperationClass};

    use super::*;

    fn approval() -> Approval {
        Approval {
            id: "approval_1".to_owned(),
            session_id: "se_1".to_owned(),
            turn_id: None,
            tool_call_id: None,
            tool: "workspace_command".to_owned(),
            kind: MutationKind::Command,
            class: OperationClass::Outside,
            summary: format!("git push \u{1b}[31m{}", "x".repeat(300)),
            why: "in mode manual every change is asked about".to_owned(),
            command: None,
            program: None,
            cwd: None,
            paths: Vec::new(),
            hosts: Vec::new(),
            state: ApprovalState::Pending,
            created_at: 1,
            expires_at: 2,
            decided_by: None,
            decided_at: None,
            reason: None,
        }
    }

    #[test]
    fn what_a_model_wrote_is_shown_without_control_characters_and_cut() {
        let text = question(&approval());
        assert!(text.starts_with("run `git push [31mxxx"), "{text}");
        assert!(
            text.contains("…` in `") || text.contains("…`? in mode manual"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'));
        let shown = diagnostic(&approval()).message;
        assert!(shown.ends_with("\napproval_1"), "{shown}");
    }
}
