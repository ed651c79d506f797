//! Code actions on hunks: which are offered, what they are called, what they carry.
//!
//! Owns: titles, order, and the choice between an edit, a literal with a command and a bare command.
//! Must not know: how a decision is carried out.
//!
//! Accepting a hunk or a file in a document that is open there is an edit and no command, so that the
//! editor's own preview and undo work; the change that comes back is the decision.

use redline_protocol::v1::{DecideParams, DocumentHunk, FileRef, HunkRef, HunkState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, Diagnostic, WorkspaceEdit,
};

use super::diagnostics::{anchor_line, one_line, summary};
use super::profile::ClientProfile;

/// Names of the commands, all of them unique to us, since some editors refuse a name that two
/// servers offer.
pub(crate) mod command {
    pub(crate) const ACCEPT: &str = "redline.accept";
    pub(crate) const REJECT: &str = "redline.reject";
    pub(crate) const SPLIT: &str = "redline.split";
    pub(crate) const WITHDRAW: &str = "redline.keepMine";
    pub(crate) const REPROPOSE: &str = "redline.proposeAgain";
    pub(crate) const SHOW_SIDES: &str = "redline.showSides";
    pub(crate) const SHOW_DIFF: &str = "redline.showDiff";
    pub(crate) const UNDO: &str = "redline.undo";
    pub(crate) const REDO: &str = "redline.redo";
    pub(crate) const ASK: &str = "redline.ask";
    pub(crate) const CANCEL: &str = "redline.cancel";
    pub(crate) const ASK_COMMENT: &str = "redline.askComment";
    pub(crate) const PROMPT: &str = "redline.prompt";
    pub(crate) const REVIEW: &str = "redline.review";
    pub(crate) const STATUS: &str = "redline.status";
    pub(crate) const APPROVE: &str = "redline.approve";
    pub(crate) const DENY: &str = "redline.deny";
    pub(crate) const ACCEPT_PLAN: &str = "redline.acceptPlan";
    pub(crate) const REJECT_PLAN: &str = "redline.rejectPlan";
    pub(crate) const MODE: &str = "redline.mode";
    pub(crate) const TRUST: &str = "redline.trust";

    pub(crate) const OPEN: &str = "redline.open";

    /// All of them, as `initialize` announces.
    pub(crate) const ALL: [&str; 22] = [
        ACCEPT,
        REJECT,
        SPLIT,
        WITHDRAW,
        REPROPOSE,
        SHOW_SIDES,
        SHOW_DIFF,
        UNDO,
        REDO,
        ASK,
        ASK_COMMENT,
        PROMPT,
        CANCEL,
        REVIEW,
        STATUS,
        APPROVE,
        DENY,
        ACCEPT_PLAN,
        REJECT_PLAN,
        MODE,
        TRUST,
        OPEN,
    ];
}

/// Longest title, in characters: longer ones are cut by menus.
const MAX_TITLE_CHARS: usize = 62;
/// Most hunks that one request gets actions for.
const MAX_HUNKS: usize = 20;

/// What an action that resolves to an edit carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResolveData {
    pub(crate) uri: String,
    pub(crate) transaction_id: String,
    /// The hunks to accept, with the revisions shown; none means all of the file.
    pub(crate) hunks: Vec<HunkRef>,
    /// For all of the file: the transaction revision that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<u64>,
}

/// A prompt in a comment, as its code action names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommentPlace {
    pub(crate) uri: String,
    /// Zero-based.
    pub(crate) line: u32,
    /// What the comment says.
    pub(crate) text: String,
}

/// The action that sends a prompt in a comment.
pub(crate) fn ask_comment(place: &CommentPlace, profile: &ClientProfile) -> CodeActionOrCommand {
    let title = title("Ask Redline:", &place.text);
    let command = Command {
        title: title.clone(),
        command: command::ASK_COMMENT.to_owned(),
        arguments: Some(vec![serde_json::to_value(place).unwrap_or_default()]),
    };
    if !profile.action_literals {
        return CodeActionOrCommand::Command(command);
    }
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        command: Some(command),
        ..CodeAction::default()
    })
}

/// What a transaction holds in the document, as a file or whole action names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFile {
    pub(crate) pending: usize,
    pub(crate) conflicts: usize,
    /// What waits in the whole transaction, conflicts left out.
    pub(crate) all_pending: usize,
    /// Conflicts in the whole transaction.
    pub(crate) all_conflicts: usize,
    pub(crate) revision: u64,
    /// The file is only edited, so that its acceptance can be an edit.
    pub(crate) edit_only: bool,
}

/// One document's side of a request for code actions.
pub(crate) struct Offer<'a> {
    pub(crate) uri: &'a str,
    pub(crate) path: &'a str,
    pub(crate) profile: &'a ClientProfile,
    /// Zero-based first and last line asked about.
    pub(crate) lines: (u32, u32),
    /// Hunks of the document at and around these lines, by place.
    pub(crate) hunks: &'a [DocumentHunk],
    /// What a transaction holds in this document.
    pub(crate) in_file: &'a dyn Fn(&str) -> Option<InFile>,
    /// The edit that accepts these hunks in this document, for clients that do not resolve.
    pub(crate) edit: &'a dyn Fn(&ResolveData) -> Option<WorkspaceEdit>,
    /// The diagnostic shown for a hunk.
    pub(crate) diagnostic: &'a dyn Fn(&DocumentHunk) -> Option<Diagnostic>,
}

/// The actions, in the order of a menu.
pub(crate) fn offer(offer: &Offer<'_>) -> Vec<CodeActionOrCommand> {
    let mut actions = Vec::new();
    let touched: Vec<&DocumentHunk> = offer
        .hunks
        .iter()
        .filter(|shown| touches(shown, offer.lines))
        .take(MAX_HUNKS)
        .collect();
    for shown in &touched {
        match shown.hunk.state {
            HunkState::Pending if shown.hunk.incomplete => {}
            HunkState::Pending => pending(offer, shown, &mut actions),
            HunkState::Conflict => conflict(offer, shown, &mut actions),
            HunkState::Accepted | HunkState::Rejected | HunkState::Withdrawn => {}
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for shown in &touched {
        let id = shown.transaction_id.as_str();
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        if touched
            .iter()
            .any(|other| other.transaction_id == id && other.hunk.state == HunkState::Pending)
        {
            whole(offer, shown, &mut actions);
        }
    }
    actions
}

/// Whether the cursor's lines are those that the hunk is shown at.
fn touches(shown: &DocumentHunk, (first, last): (u32, u32)) -> bool {
    let start = shown.range.start.line.min(anchor_line(shown));
    let end = shown.range.start.line.max(anchor_line(shown));
    start <= last && first <= end
}

fn pending(offer: &Offer<'_>, shown: &DocumentHunk, actions: &mut Vec<CodeActionOrCommand>) {
    let name = hunk_name(shown);
    let accept = ResolveData {
        uri: offer.uri.to_owned(),
        transaction_id: shown.transaction_id.clone(),
        hunks: vec![hunk_ref(shown)],
        revision: None,
    };
    let decide = decide_hunk(shown);
    let diagnostic = (offer.diagnostic)(shown);
    actions.push(edit_or_command(
        offer,
        title("Accept hunk", &name),
        accept,
        decide.clone(),
        diagnostic.clone(),
    ));
    let mut plain = |verb: &str, command: &str, argument: Value| {
        actions.push(by_command(
            offer,
            title(verb, &name),
            command,
            argument,
            diagnostic.clone(),
        ));
    };
    plain("Reject hunk", command::REJECT, decide.clone());
    if shown.hunk.added.len() + shown.hunk.removed.len() > 1 {
        plain("Split hunk", command::SPLIT, decide.clone());
    }
    plain("Show diff", command::SHOW_DIFF, decide);
}

fn conflict(offer: &Offer<'_>, shown: &DocumentHunk, actions: &mut Vec<CodeActionOrCommand>) {
    let diagnostic = (offer.diagnostic)(shown);
    for (title, command) in [
        ("Propose again", command::REPROPOSE),
        ("Keep mine", command::WITHDRAW),
        ("Show the three sides", command::SHOW_SIDES),
    ] {
        actions.push(by_command(
            offer,
            title.to_owned(),
            command,
            decide_hunk(shown),
            diagnostic.clone(),
        ));
    }
}

fn whole(offer: &Offer<'_>, shown: &DocumentHunk, actions: &mut Vec<CodeActionOrCommand>) {
    let id = &shown.transaction_id;
    let Some(in_file) = (offer.in_file)(id) else {
        return;
    };
    let file = serde_json::to_value(DecideParams {
        transaction_id: Some(id.clone()),
        files: vec![FileRef {
            path: offer.path.to_owned(),
            revision: Some(in_file.revision),
        }],
        ..DecideParams::default()
    })
    .unwrap_or_default();
    let all = json!({"transactionId": id, "revision": in_file.revision});
    let file_name = format!("{} ({})", offer.path, hunks(in_file.pending));
    let accepted = format!("({})", hunks(in_file.all_pending));
    let rejected = format!("({})", hunks(in_file.all_pending + in_file.all_conflicts));
    let command = |verb: &str, name: &str, command: &str, argument: &Value| {
        by_command(offer, title(verb, name), command, argument.clone(), None)
    };
    // With a conflict about, nothing that would take it along is offered.
    if in_file.conflicts == 0 {
        actions.push(if in_file.edit_only {
            let accept = ResolveData {
                uri: offer.uri.to_owned(),
                transaction_id: id.clone(),
                hunks: Vec::new(),
                revision: Some(in_file.revision),
            };
            edit_or_command(
                offer,
                title("Accept file", &file_name),
                accept,
                file.clone(),
                None,
            )
        } else {
            command("Accept file", &file_name, command::ACCEPT, &file)
        });
    }
    actions.push(command("Reject file", &file_name, command::REJECT, &file));
    if in_file.conflicts == 0 && in_file.all_conflicts == 0 {
        actions.push(command(
            "Accept transaction",
            &accepted,
            command::ACCEPT,
            &all,
        ));
    }
    actions.push(command(
        "Reject transaction",
        &rejected,
        command::REJECT,
        &all,
    ));
}

fn hunks(n: usize) -> String {
    if n == 1 {
        "1 hunk".to_owned()
    } else {
        format!("{n} hunks")
    }
}

fn hunk_ref(shown: &DocumentHunk) -> HunkRef {
    HunkRef {
        id: shown.hunk.id.clone(),
        revision: Some(shown.hunk.revision),
    }
}

pub(super) fn decide_hunk(shown: &DocumentHunk) -> Value {
    serde_json::to_value(DecideParams {
        transaction_id: Some(shown.transaction_id.clone()),
        hunks: vec![hunk_ref(shown)],
        ..DecideParams::default()
    })
    .unwrap_or_default()
}

pub(super) fn hunk_name(shown: &DocumentHunk) -> String {
    match one_line(shown.hunk.rationale.as_deref()) {
        Some(_) => summary(shown),
        None => {
            let text = shown.hunk.added.first().or(shown.hunk.removed.first());
            match text {
                Some(text) => format!("{} · {}", summary(shown), text.trim()),
                None => summary(shown),
            }
        }
    }
}

pub(crate) fn title(verb: &str, name: &str) -> String {
    let whole = format!("{verb} {name}");
    if whole.chars().count() <= MAX_TITLE_CHARS {
        return whole;
    }
    let cut: String = whole.chars().take(MAX_TITLE_CHARS - 1).collect();
    format!("{}…", cut.trim_end())
}

/// An acceptance as an edit where the client takes one, else as a command.
fn edit_or_command(
    offer: &Offer<'_>,
    title: String,
    accept: ResolveData,
    decide: Value,
    diagnostic: Option<Diagnostic>,
) -> CodeActionOrCommand {
    let profile = offer.profile;
    // Who takes no edits from us can only be given one to apply itself, versions or not.
    let takes_edits = profile.document_changes || !profile.apply_edit;
    if !profile.action_literals || !takes_edits {
        return by_command(offer, title, command::ACCEPT, decide, diagnostic);
    }
    let action = CodeAction {
        title: title.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: diagnostic.clone().map(|diagnostic| vec![diagnostic]),
        ..CodeAction::default()
    };
    if profile.resolves_edit && profile.action_data {
        return CodeActionOrCommand::CodeAction(CodeAction {
            data: serde_json::to_value(accept).ok(),
            ..action
        });
    }
    match (offer.edit)(&accept) {
        Some(edit) => CodeActionOrCommand::CodeAction(CodeAction {
            edit: Some(edit),
            ..action
        }),
        None => by_command(offer, title, command::ACCEPT, decide, diagnostic),
    }
}

fn by_command(
    offer: &Offer<'_>,
    title: String,
    command: &str,
    argument: Value,
    diagnostic: Option<Diagnostic>,
) -> CodeActionOrCommand {
    let command = Command {
        title: title.clone(),
        command: command.to_owned(),
        arguments: Some(vec![argument]),
    };
    if !offer.profile.action_literals {
        return CodeActionOrCommand::Command(command);
    }
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: diagnostic.map(|diagnostic| vec![diagnostic]),
        command: Some(command),
        ..CodeAction::default()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use tower_lsp::ls_types::WorkspaceEdit;

    use super::super::diagnostics::tests::shown;
    use super::super::profile::tests::full as profile;
    use super::*;

    fn offered(
        profile: &ClientProfile,
        hunks: &[DocumentHunk],
        line: u32,
    ) -> Vec<CodeActionOrCommand> {
        offered_beside(profile, hunks, line, 0)
    }

    /// What is offered where as many conflicts wait in other files of the transaction.
    fn offered_beside(
        profile: &ClientProfile,
        hunks: &[DocumentHunk],
        line: u32,
        conflicts_elsewhere: usize,
    ) -> Vec<CodeActionOrCommand> {
        let conflicts = hunks
            .iter()
            .filter(|shown| shown.hunk.state == HunkState::Conflict)
            .count();
        offer(&Offer {
            uri: "file:///w/a.rs",
            path: "a.rs",
            profile,
            lines: (line, line),
            hunks,
            in_file: &|_| {
                Some(InFile {
                    pending: hunks.len() - conflicts,
                    conflicts,
                    all_pending: 4,
                    all_conflicts: conflicts + conflicts_elsewhere,
                    revision: 7,
                    edit_only: true,
                })
            },
            edit: &|_| Some(WorkspaceEdit::default()),
            diagnostic: &|_| None,
        })
    }

    fn titles(actions: &[CodeActionOrCommand]) -> Vec<String> {
        actions
            .iter()
            .map(|action| match action {
                CodeActionOrCommand::Command(command) => format!("command {}", command.title),
                CodeActionOrCommand::CodeAction(action) => {
                    let carries = match (&action.data, &action.edit, &action.command) {
                        (Some(_), None, None) => "data",
                        (None, Some(_), None) => "edit",
                        (None, None, Some(_)) => "command",
                        _ => "nothing sensible",
                    };
                    format!("{carries}: {}", action.title)
                }
            })
            .collect()
    }

    #[test]
    fn a_conflict_in_another_file_keeps_the_whole_from_being_accepted() {
        let hunks = [shown(3, 4, &["old"], &["new", "newer"])];
        let whole = |elsewhere| {
            let mut titles = titles(&offered_beside(&profile(), &hunks, 3, elsewhere));
            titles.retain(|title| title.contains("transaction"));
            titles
        };
        assert_eq!(
            whole(0),
            [
                "command: Accept transaction (4 hunks)",
                "command: Reject transaction (4 hunks)"
            ]
        );
        assert_eq!(whole(1), ["command: Reject transaction (5 hunks)"]);
    }

    #[test]
    fn each_client_gets_what_it_takes() {
        let hunks = [shown(3, 4, &["old"], &["new", "newer"])];
        let full = titles(&offered(&profile(), &hunks, 3));
        assert_eq!(
            full,
            [
                "data: Accept hunk 3/4 −4 +2 · use one reader",
                "command: Reject hunk 3/4 −4 +2 · use one reader",
                "command: Split hunk 3/4 −4 +2 · use one reader",
                "command: Show diff 3/4 −4 +2 · use one reader",
                "data: Accept file a.rs (1 hunk)",
                "command: Reject file a.rs (1 hunk)",
                "command: Accept transaction (4 hunks)",
                "command: Reject transaction (4 hunks)",
            ]
        );
        let unresolving = ClientProfile {
            resolves_edit: false,
            ..profile()
        };
        assert!(titles(&offered(&unresolving, &hunks, 3))[0].starts_with("edit: Accept hunk"));
        let bare = ClientProfile {
            action_literals: false,
            ..profile()
        };
        assert!(
            titles(&offered(&bare, &hunks, 3))
                .iter()
                .all(|title| title.starts_with("command "))
        );
    }

    #[test]
    fn a_conflict_offers_no_accept() {
        let mut conflict = shown(3, 4, &["old"], &["new"]);
        conflict.hunk.state = HunkState::Conflict;
        assert_eq!(
            titles(&offered(&profile(), &[conflict], 3)),
            [
                "command: Propose again",
                "command: Keep mine",
                "command: Show the three sides",
            ]
        );
    }

    #[test]
    fn titles_fit_a_menu() {
        let mut long = shown(3, 4, &["old"], &["new"]);
        long.hunk.rationale = Some("w".repeat(200));
        for action in offered(&profile(), &[long], 3) {
            let title = match action {
                CodeActionOrCommand::Command(command) => command.title,
                CodeActionOrCommand::CodeAction(action) => action.title,
            };
            assert!(title.chars().count() <= MAX_TITLE_CHARS, "{title}");
        }
    }

    #[test]
    fn nothing_is_offered_elsewhere() {
        let hunks = [shown(3, 4, &["old"], &["new"])];
        assert!(offered(&profile(), &hunks, 9).is_empty());
    }

    #[test]
    fn an_insertion_is_reached_from_the_line_before_and_after() {
        let hunks = [shown(5, 5, &[], &["new"])];
        for line in [4, 5] {
            assert!(!offered(&profile(), &hunks, line).is_empty(), "{line}");
        }
    }
}
