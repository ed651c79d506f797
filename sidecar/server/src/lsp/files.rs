//! Operations of whole files in plain LSP: the diagnostic and the code actions.
//!
//! Owns: what is said of a rename, a deletion, a new mode or a new empty file, which have no lines to stand at.
//! Must not know: the hub; a value in, a value out.

use redline_protocol::v1::{DecideParams, FileRef};
use serde_json::{Value, json};
use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, Diagnostic, DiagnosticSeverity,
    NumberOrString, Position, Range,
};

use super::actions::{command, title};
use super::diagnostics::{SOURCE, one_line};
use super::profile::ClientProfile;

/// One file's own operation that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileOperation {
    pub(crate) transaction_id: String,
    /// Revision of the transaction.
    pub(crate) revision: u64,
    /// From the workspace root; for a rename the path before.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    /// Why it cannot be done any more.
    pub(crate) conflict: Option<String>,
    pub(crate) rationale: Option<String>,
}

/// What would happen to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Create,
    Delete,
    Rename { to: String },
    SetMode { mode: u32 },
}

impl FileOperation {
    /// `rename to src/b.rs`.
    pub(crate) fn verb(&self) -> String {
        match &self.kind {
            Kind::Create => "create an empty file".to_owned(),
            Kind::Delete => "delete".to_owned(),
            Kind::Rename { to } => format!("rename to {to}"),
            Kind::SetMode { mode } => format!("set mode {mode:04o}"),
        }
    }

    /// `redline · rename to src/b.rs · why`.
    pub(crate) fn message(&self) -> String {
        let mut text = match &self.conflict {
            None => format!("redline · this file: {}", self.verb()),
            Some(reason) => format!("Conflict · this file: {} · {reason}", self.verb()),
        };
        if let Some(rationale) = one_line(self.rationale.as_deref()) {
            text.push_str(" · ");
            text.push_str(&rationale);
        }
        text
    }

    /// It stands on the first line, since it has no line of its own.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        Diagnostic {
            range: Range::new(Position::new(0, 0), Position::new(0, 1)),
            severity: Some(DiagnosticSeverity::HINT),
            code: Some(NumberOrString::String("file".to_owned())),
            source: Some(SOURCE.to_owned()),
            message: self.message(),
            ..Diagnostic::default()
        }
    }

    /// Accept and reject; what can no longer be done is not offered.
    pub(crate) fn actions(&self, profile: &ClientProfile) -> Vec<CodeActionOrCommand> {
        let decide = serde_json::to_value(DecideParams {
            transaction_id: Some(self.transaction_id.clone()),
            files: vec![FileRef {
                path: self.path.clone(),
                revision: Some(self.revision),
            }],
            ..DecideParams::default()
        })
        .unwrap_or_default();
        let show = json!({"transactionId": self.transaction_id});
        let accept = (self.conflict.is_none())
            .then(|| ("Accept file", command::ACCEPT, decide.clone()))
            .into_iter();
        let others = [
            ("Reject file", command::REJECT, decide.clone()),
            ("Show diff", command::SHOW_DIFF, show),
        ];
        accept
            .chain(others)
            .map(|(verb, name, argument)| self.action(profile, verb, name, argument))
            .collect()
    }

    fn action(
        &self,
        profile: &ClientProfile,
        verb: &str,
        name: &str,
        argument: Value,
    ) -> CodeActionOrCommand {
        let title = title(verb, &format!("{} · {}", self.path, self.verb()));
        let command = Command {
            title: title.clone(),
            command: name.to_owned(),
            arguments: Some(vec![argument]),
        };
        if !profile.action_literals {
            return CodeActionOrCommand::Command(command);
        }
        CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![self.diagnostic()]),
            command: Some(command),
            ..CodeAction::default()
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::profile::tests::full;
    use super::*;

    fn rename() -> FileOperation {
        FileOperation {
            transaction_id: "tx_1".to_owned(),
            revision: 3,
            path: "src/a.rs".to_owned(),
            kind: Kind::Rename {
                to: "src/b.rs".to_owned(),
            },
            conflict: None,
            rationale: Some("a better name\nfor all".to_owned()),
        }
    }

    fn titles(operation: &FileOperation, profile: &ClientProfile) -> Vec<String> {
        let actions = operation.actions(profile);
        let title = |action: &CodeActionOrCommand| match action {
            CodeActionOrCommand::Command(command) => command.title.clone(),
            CodeActionOrCommand::CodeAction(action) => action.title.clone(),
        };
        actions.iter().map(title).collect()
    }

    #[test]
    fn an_operation_is_said_in_one_line() {
        let messages = [
            Kind::Create,
            Kind::Delete,
            Kind::SetMode { mode: 0o755 },
            rename().kind,
        ]
        .map(|kind| FileOperation { kind, ..rename() }.message());
        assert_eq!(
            messages,
            [
                "redline · this file: create an empty file · a better name",
                "redline · this file: delete · a better name",
                "redline · this file: set mode 0755 · a better name",
                "redline · this file: rename to src/b.rs · a better name",
            ]
        );
    }

    #[test]
    fn a_conflict_offers_no_acceptance() {
        assert_eq!(
            titles(&rename(), &full()),
            [
                "Accept file src/a.rs · rename to src/b.rs",
                "Reject file src/a.rs · rename to src/b.rs",
                "Show diff src/a.rs · rename to src/b.rs",
            ]
        );
        let conflict = FileOperation {
            conflict: Some("src/b.rs exists".to_owned()),
            ..rename()
        };
        assert_eq!(titles(&conflict, &full()).len(), 2);
        let bare = ClientProfile {
            action_literals: false,
            ..full()
        };
        let all_commands = rename()
            .actions(&bare)
            .iter()
            .all(|action| matches!(action, CodeActionOrCommand::Command(_)));
        assert!(all_commands);
    }
}
