//! A plan as a document for people.
//!
//! What it would let through stands before anything that the agent wrote, and whatever the agent wrote is one line, or stands
//! quoted at the end: no text of a plan can pass for its scope or its state.

use std::fmt::Write as _;

use super::{Plan, PlanState};

pub(super) fn render(plan: &Plan) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {}\n", one_line(&plan.title));
    let _ = writeln!(text, "**{}** · {}\n", state(plan), plan.id);
    let _ = writeln!(text, "## What it would let the agent do unasked\n");
    let scope = &plan.scope;
    let _ = writeln!(text, "- kinds of change: {}", list(&scope.kinds));
    let _ = writeln!(text, "- files: {}", list(&scope.paths));
    let commands: Vec<String> = scope
        .commands
        .iter()
        .map(|tokens| shown_command(tokens))
        .collect();
    let _ = writeln!(text, "- commands that begin with: {}", list(&commands));
    let _ = writeln!(text, "- hosts: {}", list(&scope.hosts));
    let _ = writeln!(
        text,
        "\nNothing else; and never above the ceiling of your configuration.\n"
    );
    let _ = writeln!(text, "## Steps\n");
    for (at, step) in plan.steps.iter().enumerate() {
        let mark = if step.done { 'x' } else { ' ' };
        let _ = writeln!(text, "{}. [{mark}] {}", at + 1, one_line(&step.text));
    }
    if !plan.body.trim().is_empty() {
        let _ = writeln!(text, "\n## In the agent's words\n");
        for line in plan.body.lines() {
            let line = without_controls(line);
            let _ = writeln!(text, "{}", format!("> {line}").trim_end());
        }
    }
    text
}

fn state(plan: &Plan) -> String {
    let by = |word: &str| match &plan.decided {
        Some(decided) => match &decided.reason {
            Some(reason) => format!("{word} by {}: {}", one_line(&decided.by), one_line(reason)),
            None => format!("{word} by {}", one_line(&decided.by)),
        },
        None => word.to_owned(),
    };
    match plan.state {
        PlanState::Proposed => "It waits for your decision".to_owned(),
        PlanState::Approved => by("Approved"),
        PlanState::Rejected => by("Rejected"),
        PlanState::Completed => by("Completed; approved"),
        PlanState::Superseded => "Superseded by another plan".to_owned(),
    }
}

fn list(items: &[String]) -> String {
    match items {
        [] => "none".to_owned(),
        items => items
            .iter()
            .map(|item| code(item))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// A text as a code span; with a fence that is longer than any run of backticks in it.
fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match longest {
        0 => format!("{fence}{text}{fence}"),
        _ => format!("{fence} {text} {fence}"),
    }
}

/// Tokens so that one with a blank in it is told from two.
fn shown_command(tokens: &[String]) -> String {
    let shown = tokens.iter().map(|token| {
        let is_plain = !token.is_empty()
            && !token.contains(|c: char| c.is_whitespace() || "'\"\\$`".contains(c));
        if is_plain {
            token.clone()
        } else {
            format!("{token:?}")
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn one_line(text: &str) -> String {
    without_controls(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Without what could hide or turn around a part of the text.
fn without_controls(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| {
            !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        })
        .collect()
}
