//! Decisions that a user writes at the start of a prompt. They are handled before any model sees the prompt.
//!
//! ```text
//! prompt     = { directive newline } text
//! directive  = ("/accept" | "/deny") [ids | "all"] [reason]      decides on what waits: approvals and plans
//!            | "/mode" [word]                                    switches the mode; without a word, tells it
//!            | "/plan" [text]                                    switches to mode plan; text is prompt
//! ```
//!
//! A directive is a whole line, from its first character on, before any other text: what stands later, after a blank, or in
//! another spelling (`/accepted`, `/Mode`, ` /accept`) is text like all text.

use super::{Mode, UnknownWord};

/// A prompt, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What the user decided, in order.
    pub directives: Vec<Directive>,
    /// What is left for the model; may be empty.
    pub text: String,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directive {
    /// `/accept` and `/deny`.
    Decide {
        /// Yes or no.
        accept: bool,
        /// On what.
        subject: Subject,
        /// Why.
        reason: Option<String>,
    },
    /// `/mode WORD`, `/plan`.
    Mode(Mode),
    /// `/mode` alone: the user wants to be told.
    TellMode,
    /// `/mode` with another word. Nothing is to be done but to say so.
    UnknownMode(UnknownWord),
}

/// What a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The one that waits; where several do, the user has to say which.
    TheOne,
    /// All that wait.
    All,
    /// These, by their ids.
    Ids(Vec<String>),
}

/// Takes the directives off a prompt. Whatever the text is, nothing of it is lost.
pub fn read_prompt(text: &str) -> Prompt {
    let mut prompt = Prompt::default();
    let mut rest = text;
    loop {
        let (line, after) = match rest.split_once('\n') {
            Some((line, after)) => (line.strip_suffix('\r').unwrap_or(line), after),
            None => (rest, ""),
        };
        let (word, arguments) = match line.split_once([' ', '\t']) {
            Some((word, arguments)) => (word, arguments.trim()),
            None => (line, ""),
        };
        match word {
            "/accept" | "/deny" => prompt
                .directives
                .push(decision(word == "/accept", arguments)),
            "/mode" => prompt.directives.push(match arguments {
                "" => Directive::TellMode,
                word => match word.parse() {
                    Ok(mode) => Directive::Mode(mode),
                    Err(unknown) => Directive::UnknownMode(unknown),
                },
            }),
            "/plan" => {
                prompt.directives.push(Directive::Mode(Mode::Plan));
                if !arguments.is_empty() {
                    prompt.text = match after.is_empty() {
                        true => arguments.to_owned(),
                        false => format!("{arguments}\n{after}"),
                    };
                    return prompt;
                }
            }
            // Blank lines between directives, or before them, say nothing.
            "" if line.is_empty() && !after.is_empty() && begins_with_directive(after) => {}
            _ => {
                prompt.text = rest.to_owned();
                return prompt;
            }
        }
        rest = after;
        if rest.is_empty() {
            return prompt;
        }
    }
}

fn begins_with_directive(text: &str) -> bool {
    let line = text.trim_start_matches(['\n', '\r']);
    let word = line
        .split([' ', '\t', '\n', '\r'])
        .next()
        .unwrap_or_default();
    matches!(word, "/accept" | "/deny" | "/mode" | "/plan")
}

fn decision(accept: bool, arguments: &str) -> Directive {
    let is_id = |word: &str| word.starts_with("approval_") || word.starts_with("plan_");
    let mut rest = arguments;
    let mut ids = Vec::new();
    let mut is_all = false;
    loop {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let word = word.trim_end_matches(',');
        if is_id(word) {
            ids.push(word.to_owned());
        } else if word == "all" && ids.is_empty() && !is_all {
            is_all = true;
        } else {
            break;
        }
        rest = after.trim_start();
        if is_all {
            break;
        }
    }
    let subject = match (is_all, ids.is_empty()) {
        (true, _) => Subject::All,
        (false, true) => Subject::TheOne,
        (false, false) => Subject::Ids(ids),
    };
    Directive::Decide {
        accept,
        subject,
        reason: (!rest.is_empty()).then(|| rest.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decide(accept: bool, subject: Subject, reason: Option<&str>) -> Directive {
        Directive::Decide {
            accept,
            subject,
            reason: reason.map(str::to_owned),
        }
    }

    fn ids(ids: &[&str]) -> Subject {
        Subject::Ids(ids.iter().map(|&id| id.to_owned()).collect())
    }

    #[test]
    fn directives_stand_at_the_start_and_are_whole_lines() {
        use Subject::{All, TheOne};
        for (text, directives, left) in [
            ("/accept", vec![decide(true, TheOne, None)], ""),
            (
                "/deny use the other one",
                vec![decide(false, TheOne, Some("use the other one"))],
                "",
            ),
            (
                "/accept approval_1",
                vec![decide(true, ids(&["approval_1"]), None)],
                "",
            ),
            (
                "/accept approval_1, plan_2 go on\nand then this",
                vec![decide(true, ids(&["approval_1", "plan_2"]), Some("go on"))],
                "and then this",
            ),
            ("/deny all", vec![decide(false, All, None)], ""),
            (
                "/deny all of this",
                vec![decide(false, All, Some("of this"))],
                "",
            ),
            (
                "/mode auto\r\n/accept\r\nGo",
                vec![Directive::Mode(Mode::Auto), decide(true, TheOne, None)],
                "Go",
            ),
            ("/mode", vec![Directive::TellMode], ""),
            ("/mode\nx", vec![Directive::TellMode], "x"),
            ("/plan", vec![Directive::Mode(Mode::Plan)], ""),
            (
                "/plan make it faster\nand smaller",
                vec![Directive::Mode(Mode::Plan)],
                "make it faster\nand smaller",
            ),
            (
                "\n\n/accept\n\n/mode manual\n\nx",
                vec![decide(true, TheOne, None), Directive::Mode(Mode::Manual)],
                "\nx",
            ),
        ] {
            let prompt = read_prompt(text);
            assert_eq!(
                (prompt.directives, prompt.text.as_str()),
                (directives, left),
                "{text:?}"
            );
        }
        let Directive::UnknownMode(error) = &read_prompt("/mode yolo").directives[0] else {
            panic!("a fault");
        };
        assert_eq!(error.to_string(), "`yolo` is none of manual, plan, auto");
    }

    #[test]
    fn everything_else_is_text() {
        for text in [
            "",
            "hello",
            " /accept",
            "\t/mode auto",
            "/accepted",
            "/Accept",
            "/etc/hosts is empty",
            "please /accept",
            "say\n/accept",
            "```\n/accept\n```",
            "/",
            "/ mode auto",
            "\u{feff}/accept",
            "\n\nhello",
            "\u{200b}/deny",
        ] {
            let prompt = read_prompt(text);
            assert_eq!(
                (prompt.directives, prompt.text.as_str()),
                (vec![], text),
                "{text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost_and_what_is_left_is_no_directive(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just("/accept".to_owned()), Just("/deny x".to_owned()), Just("/mode auto".to_owned()),
                    Just(String::new()), "[ -~]{0,12}",
                ],
                0..6,
            ),
        ) {
            let text = lines.join("\n");
            let prompt = read_prompt(&text);
            prop_assert!(text.ends_with(&prompt.text) || lines.iter().any(|line| line.starts_with("/plan")));
            let again = read_prompt(&prompt.text);
            prop_assert!(again.directives.is_empty() || text.contains("/plan"));
        }
    }
}
