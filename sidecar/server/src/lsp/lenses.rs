//! Hunks as code lenses and inlay hints, for plain clients that show these.
//!
//! Owns: what they say, and where they stand. Neither is relied on: diagnostics and code actions carry the review.
//! Must not know: the hub; a value in, a value out.

use redline_protocol::v1::{DocumentHunk, HunkState};
use serde_json::Value;
use tower_lsp::ls_types::{
    CodeLens, Command, InlayHint, InlayHintLabel, InlayHintTooltip, Position, Range,
};

use super::actions::{command, decide_hunk};
use super::diagnostics::{anchor_line, diagnostic, summary};

/// Lenses of one hunk, above its first line: what it is with its acceptance, then the rest.
pub(crate) fn lenses(shown: &DocumentHunk) -> Vec<CodeLens> {
    let decide = decide_hunk(shown);
    let of = |title: String, name: &str| lens(first_line(shown), title, name, decide.clone());
    match shown.hunk.state {
        HunkState::Pending if shown.hunk.incomplete => Vec::new(),
        HunkState::Pending => vec![
            of(format!("Accept {}", summary(shown)), command::ACCEPT),
            of("Reject".to_owned(), command::REJECT),
            of("Show diff".to_owned(), command::SHOW_DIFF),
        ],
        HunkState::Conflict => vec![
            of("Propose again".to_owned(), command::REPROPOSE),
            of("Keep mine".to_owned(), command::WITHDRAW),
            of("Show the three sides".to_owned(), command::SHOW_SIDES),
        ],
        HunkState::Accepted | HunkState::Rejected | HunkState::Withdrawn => Vec::new(),
    }
}

/// A lens at the head of the document, for what has no place of its own.
pub(crate) fn at_head(command: &Command) -> CodeLens {
    CodeLens {
        range: Range::default(),
        command: Some(command.clone()),
        data: None,
    }
}

fn lens(line: u32, title: String, name: &str, argument: Value) -> CodeLens {
    let at = Position::new(line, 0);
    CodeLens {
        range: Range::new(at, at),
        command: Some(Command {
            title,
            command: name.to_owned(),
            arguments: Some(vec![argument]),
        }),
        data: None,
    }
}

/// The hint of one hunk, at the end of its first line; where its added lines are read is the tooltip.
pub(crate) fn hint(shown: &DocumentHunk, line_length: impl Fn(u32) -> u32) -> Option<InlayHint> {
    let label = match shown.hunk.state {
        HunkState::Pending => format!("◀ {}", summary(shown)),
        HunkState::Conflict => format!("◀ conflict {}", summary(shown)),
        HunkState::Accepted | HunkState::Rejected | HunkState::Withdrawn => return None,
    };
    let line = first_line(shown);
    Some(InlayHint {
        position: Position::new(line, line_length(line)),
        label: InlayHintLabel::String(label),
        kind: None,
        text_edits: None,
        tooltip: diagnostic(shown, &line_length)
            .map(|diagnostic| InlayHintTooltip::String(diagnostic.message)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    })
}

/// The first line that a hunk takes away, or the line before an insertion.
fn first_line(shown: &DocumentHunk) -> u32 {
    shown.range.start.line.min(anchor_line(shown))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::diagnostics::tests::shown;
    use super::*;

    fn titles(shown: &DocumentHunk) -> Vec<(u32, String, String)> {
        let of = |lens: CodeLens| {
            let command = lens.command.unwrap();
            (lens.range.start.line, command.title, command.command)
        };
        lenses(shown).into_iter().map(of).collect()
    }

    #[test]
    fn lenses_stand_at_the_first_line_of_a_hunk() {
        let hunk = shown(27, 29, &["a", "b"], &["x"]);
        let expected = [
            ("Accept 3/4 −28..29 +1 · use one reader", "redline.accept"),
            ("Reject", "redline.reject"),
            ("Show diff", "redline.showDiff"),
        ];
        let expected = expected.map(|(title, name)| (27, title.to_owned(), name.to_owned()));
        assert_eq!(titles(&hunk), expected);
        assert_eq!(titles(&shown(5, 5, &[], &["x"]))[0].0, 4);
    }

    #[test]
    fn a_conflict_offers_no_acceptance_and_what_is_settled_nothing() {
        let mut hunk = shown(7, 8, &["old"], &["new"]);
        hunk.hunk.state = HunkState::Conflict;
        assert_eq!(titles(&hunk)[0].1, "Propose again");
        hunk.hunk.state = HunkState::Rejected;
        assert!(titles(&hunk).is_empty() && hint(&hunk, |_| 9).is_none());
    }

    #[test]
    fn a_hint_ends_the_first_line() {
        let found = hint(&shown(27, 29, &["a", "b"], &["x"]), |line| line).unwrap();
        assert_eq!(found.position, Position::new(27, 27));
        let InlayHintLabel::String(label) = found.label else {
            panic!("a text");
        };
        assert_eq!(label, "◀ 3/4 −28..29 +1 · use one reader");
    }
}
