//! `redline approvals`, `approve` and `deny`: what waits for a yes, and the answer.
//!
//! Owns: how an operation that waits reads on a terminal. Must not know: whether it may run; the hub decides that
//! again when it does.

use redline_protocol::v1::{
    Approval, ApprovalDecision, ApprovalState, DecideApprovalParams, ListApprovalsParams,
    ListApprovalsResult, OperationClass, method,
};
use serde_json::json;

use super::{
    Context,
    args::Answer,
    client::Client,
    shapes::snake,
    terminal::{Paint, Style, clean, wrap},
};
use crate::failure::{Failure, exit};

/// Prints the approvals that wait; with `settled` also those of before.
pub(crate) fn list(context: &mut Context<'_>, settled: bool) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let listed = ask(&mut client, settled);
    client.close();
    let approvals = listed?;
    if context.terminal.json {
        let object = json!({ "approvals": snake(&approvals)? });
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    if approvals.is_empty() {
        context.terminal.say("no approval waits\n");
    }
    let (paint, width) = (context.terminal.paint, context.terminal.width);
    let texts: Vec<String> = approvals
        .iter()
        .map(|each| text(each, paint, width))
        .collect();
    context.terminal.say(&texts.join("\n"));
    Ok(exit::DONE)
}

/// Says yes or no to one.
pub(crate) fn decide(
    context: &mut Context<'_>,
    answer: Answer,
    decision: ApprovalDecision,
) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let params = DecideApprovalParams {
        approval_id: answer.id,
        decision,
        reason: answer.reason,
    };
    let decided = client.request::<Approval>(method::APPROVAL_DECIDE, &params);
    client.close();
    let approval = decided?;
    if context.terminal.json {
        let object = snake(&approval)?;
        context.terminal.object(&object);
    } else {
        let word = state_word(approval.state);
        let summary = clean(&approval.summary);
        context
            .terminal
            .say(&format!("{word}: {summary}\n{}\n", approval.id));
        if approval.state == ApprovalState::Approved && approval.turn_id.is_none() {
            // Nobody waits for it, so it does not run by itself.
            context.terminal.say(&format!(
                "its turn ended with its sidecar; go on, and it runs when the agent makes the call again:\n\
                 redline ask --session {} \"go on\"\n",
                approval.session_id
            ));
        }
    }
    Ok(exit::DONE)
}

/// Asks which approvals wait.
pub(crate) fn ask(client: &mut Client, settled: bool) -> Result<Vec<Approval>, Failure> {
    let params = ListApprovalsParams { settled };
    let listed: ListApprovalsResult = client.request(method::APPROVAL_LIST, &params)?;
    Ok(listed.approvals)
}

/// One approval for people: what would happen, why it is asked, and what it is about.
pub(crate) fn text(approval: &Approval, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    for (at, line) in wrap(&approval.summary, "", width).iter().enumerate() {
        let style = if at == 0 { Style::Title } else { Style::Dim };
        paint.push(&mut out, style, line);
        out.push('\n');
    }
    let reach = match approval.class {
        OperationClass::Reversible => "undo brings it back",
        OperationClass::Workspace => "stays inside the project",
        OperationClass::Outside => "may reach outside the project",
    };
    let state = state_word(approval.state);
    out.push_str(&format!("{state} · {reach} · {}\n", clean(&approval.tool)));
    if let Some(command) = &approval.command {
        let words: Vec<String> = command.iter().map(|word| format!("{word:?}")).collect();
        out.push_str(&clean(&format!("  runs   {}", words.join(" "))));
        out.push('\n');
    }
    let facts = [
        ("file", approval.program.as_slice()),
        ("in", approval.cwd.as_slice()),
        ("paths", &approval.paths),
        ("hosts", &approval.hosts),
    ];
    for (name, values) in facts.into_iter().filter(|(_, values)| !values.is_empty()) {
        out.push_str(&clean(&format!("  {name:<6} {}", values.join(", "))));
        out.push('\n');
    }
    if approval.state == ApprovalState::Pending && approval.turn_id.is_none() {
        out.push_str("  its turn ended with its sidecar: approved, it runs when the agent makes the call again\n");
    }
    let why = [Some(&approval.why), approval.reason.as_ref()];
    for said in why.into_iter().flatten().filter(|said| !said.is_empty()) {
        for line in wrap(said, "  ", width) {
            paint.push(&mut out, Style::Dim, &line);
            out.push('\n');
        }
    }
    paint.push(&mut out, Style::Dim, &approval.id);
    out.push('\n');
    out
}

fn state_word(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Pending => "waits",
        ApprovalState::Approved => "approved",
        ApprovalState::Denied => "denied",
        ApprovalState::Spent => "approved, and used",
        ApprovalState::Expired => "expired",
        ApprovalState::Void => "void: what it was about has changed",
        ApprovalState::Withdrawn => "withdrawn: its turn has ended",
    }
}

#[cfg(test)]
mod tests {
    use redline_protocol::v1::MutationKind;

    use super::*;

    #[test]
    fn an_approval_shows_exactly_what_would_run() {
        let approval = Approval {
            id: "approval_1".to_owned(),
            session_id: "se_1".to_owned(),
            turn_id: Some("turn_1".to_owned()),
            tool_call_id: None,
            tool: "workspace_command".to_owned(),
            kind: MutationKind::Command,
            class: OperationClass::Outside,
            summary: "run curl \u{1b}[2J example.org".to_owned(),
            why: "curl reaches the network".to_owned(),
            command: Some(vec!["curl".to_owned(), "a b".to_owned()]),
            program: Some("/usr/bin/curl".to_owned()),
            cwd: None,
            paths: Vec::new(),
            hosts: vec!["example.org".to_owned()],
            state: ApprovalState::Pending,
            created_at: 0,
            expires_at: 1,
            decided_by: None,
            decided_at: None,
            reason: None,
        };
        assert_eq!(
            text(&approval, Paint::new(false), 80),
            "run curl ^[[2J example.org\n\
             waits · may reach outside the project · workspace_command\n\
             \u{20} runs   \"curl\" \"a b\"\n\
             \u{20} file   /usr/bin/curl\n\
             \u{20} hosts  example.org\n\
             \u{20} curl reaches the network\n\
             approval_1\n"
        );
    }
}
