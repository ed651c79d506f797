//! Rules on commands: whether one is allowed as it stands, and whether one is forbidden whatever it hides in.

use super::list::Rule;
use super::{Doubt, Place};
use crate::Operation;
use crate::gate::command::{
    Finding, findings, git_command_at, is_harmless_variable, name_of_alias, script_of,
};
use crate::gate::shell;

/// The operation's command line; empty when it has none.
pub(super) fn tokens(operation: &Operation) -> Vec<&str> {
    let Some(command) = &operation.command else {
        return Vec::new();
    };
    let mut tokens = Vec::with_capacity(command.arguments.len() + 1);
    tokens.push(command.program.as_str());
    tokens.extend(command.arguments.iter().map(String::as_str));
    tokens
}

/// Whether a deny rule's tokens match a command, whose program is the rule's.
///
/// The rule's words have to be the first of the command's words, its options may stand anywhere and in any cluster:
/// `rm -rf` forbids `rm -v -fr x` too.
pub(super) fn forbids(rule: &[String], tokens: &[&str]) -> bool {
    let arguments = &tokens[1..];
    let mut words = arguments.iter().filter(|token| !is_option(token));
    rule[1..].iter().all(|wanted| match is_option(wanted) {
        true => {
            arguments.iter().any(|token| has_option(token, wanted))
                || in_clusters(arguments, wanted)
        }
        false => words
            .next()
            .is_some_and(|word| wanted == "*" || word == wanted),
    }) || begins_with(rule, tokens)
}

fn is_option(token: &str) -> bool {
    token.len() > 1 && token.starts_with('-')
}

fn has_option(token: &str, wanted: &str) -> bool {
    token
        .strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn in_clusters(arguments: &[&str], wanted: &str) -> bool {
    let letters = wanted.trim_start_matches('-');
    // A longer word after one dash is an option of its own, as find's are.
    !wanted.starts_with("--")
        && letters.len() <= 3
        && letters.chars().all(|letter| {
            arguments
                .iter()
                .any(|token| is_option(token) && !token.starts_with("--") && token.contains(letter))
        })
}

fn begins_with(rule: &[String], tokens: &[&str]) -> bool {
    rule.len() <= tokens.len()
        && rule
            .iter()
            .zip(tokens)
            .all(|(wanted, token)| wanted == "*" || wanted == token)
}

/// A command that an allow rule may hold for.
pub(super) struct Line<'a> {
    tokens: &'a [&'a str],
    /// Why no rule can allow it, whatever it names.
    spoiled: Option<Doubt>,
    place: &'a Place<'a>,
}

/// The rules that name a program.
type Candidates<'a, 'r> = dyn Fn(&str) -> Vec<&'r Rule> + 'a;

impl<'a> Line<'a> {
    pub(super) fn of(
        operation: &'a Operation,
        tokens: &'a [&'a str],
        place: &'a Place<'a>,
    ) -> Self {
        let spoiled = operation.command.as_ref().and_then(|command| {
            let variable = command
                .env
                .iter()
                .find(|(name, value)| !is_harmless_variable(name, value));
            if let Some((name, _)) = variable {
                return Some(doubt(name, "may change what the program does or runs"));
            }
            // A bare name that leads into the workspace: the project brings its own `git`.
            let inside = !command.program.contains('/')
                && command
                    .resolved
                    .strip_prefix(place.root)
                    .is_some_and(|rest| rest.starts_with('/'));
            inside.then(|| {
                doubt(
                    &command.resolved,
                    "is the project's own program of that name",
                )
            })
        });
        Self {
            tokens,
            spoiled,
            place,
        }
    }

    /// The rule that allows it; for a script the first of those that allow its commands.
    pub(super) fn allowed_by<'r>(
        self,
        candidates: &Candidates<'_, 'r>,
    ) -> Result<Option<&'r Rule>, Box<Doubt>> {
        let whole = simple(self.tokens, false, self.place, candidates);
        let found = match (whole, script_of(self.tokens)) {
            (Ok(None), Some(script)) => scripted(script, self.place, candidates),
            // A rule for the shell does not hold for what the shell is given; those for the given commands may.
            (Err(doubt), Some(script)) => match scripted(script, self.place, candidates) {
                Ok(None) => Err(doubt),
                found => found,
            },
            (found, _) => found,
        };
        match (found, self.spoiled) {
            (Ok(Some(_)), Some(spoiled)) => Err(Box::new(spoiled)),
            (found, _) => found,
        }
    }
}

/// Judges a script: all of its commands have to be allowed, and there must be nothing else to it.
fn scripted<'r>(
    script: &str,
    place: &Place<'_>,
    candidates: &Candidates<'_, 'r>,
) -> Result<Option<&'r Rule>, Box<Doubt>> {
    let script = shell::read(script);
    let mut first: Option<&'r Rule> = None;
    for command in &script.commands {
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        if words.is_empty() {
            let name = command.assignments.first().map_or("", |(name, _)| name);
            return Err(Box::new(doubt(name, "is set for all that follows")));
        }
        let is_wild = command
            .words
            .iter()
            .skip(1)
            .any(|word| word.is_pattern && word.text.starts_with(['*', '?', '[']));
        let is_pattern = command.words[0].is_pattern;
        let Some(rule) = simple(&words, is_wild, place, candidates)?.filter(|_| !is_pattern) else {
            return Ok(None);
        };
        let variable = command
            .assignments
            .iter()
            .find(|(name, value)| !is_harmless_variable(name, value));
        if let Some((name, _)) = variable {
            return Err(Box::new(doubt(
                name,
                "may change what the program does or runs",
            )));
        }
        if let Some(file) = &command.writes {
            return Err(Box::new(doubt(
                file,
                "is a file that the redirection writes",
            )));
        }
        first = match first {
            // Of several declared classes the highest counts.
            Some(other)
                if other.class.is_none()
                    || rule.class.is_some_and(|class| Some(class) <= other.class) =>
            {
                Some(other)
            }
            _ => Some(rule),
        };
    }
    match script.doubt {
        Some(why) => Err(Box::new(doubt("", why))),
        None => Ok(first),
    }
}

/// Judges one command without a shell.
fn simple<'r>(
    tokens: &[&str],
    has_wild_words: bool,
    place: &Place<'_>,
    candidates: &Candidates<'_, 'r>,
) -> Result<Option<&'r Rule>, Box<Doubt>> {
    let mut doubted: Option<Doubt> = None;
    for rule in candidates(tokens[0]) {
        let Some(spelled_out) = matched(&rule.command, tokens) else {
            continue;
        };
        let mut problem: Option<Finding> = None;
        findings(tokens, has_wild_words, &mut |finding| {
            // What the rule itself spells out, the user meant.
            let is_meant = spelled_out.contains(&finding.token) && finding.end <= spelled_out.end;
            if !is_meant {
                problem = Some(finding);
            }
            !is_meant
        });
        let found = match problem {
            Some(finding) => Some(doubt(
                tokens[finding.token.min(tokens.len() - 1)],
                finding.why,
            )),
            None => configured(tokens, place),
        };
        match found {
            None => return Ok(Some(rule)),
            Some(found) => doubted = doubted.or(Some(found)),
        }
    }
    match doubted {
        Some(doubt) => Err(Box::new(doubt)),
        None => Ok(None),
    }
}

/// The range of `tokens` that the rule's own tokens are, when it matches.
fn matched(rule: &[String], tokens: &[&str]) -> Option<std::ops::Range<usize>> {
    if begins_with(rule, tokens) {
        return Some(0..rule.len());
    }
    if tokens[0] != "git" {
        return None;
    }
    // Harmless options may stand between `git` and the subcommand; the others are found.
    let at = git_command_at(tokens);
    let rest = tokens.get(at..)?;
    let wanted = rule.get(1..)?;
    let fits = at > 1
        && wanted.len() <= rest.len()
        && wanted
            .iter()
            .zip(rest)
            .all(|(wanted, token)| wanted == "*" || wanted == token);
    fits.then(|| at..at + wanted.len())
}

/// What the repository's own configuration makes git run.
fn configured(tokens: &[&str], place: &Place<'_>) -> Option<Doubt> {
    if tokens[0] != "git" {
        return None;
    }
    let command = tokens.get(git_command_at(tokens));
    place
        .git_programs
        .iter()
        .find(|key| name_of_alias(key).is_none_or(|name| command == Some(&name)))
        .map(|key| {
            doubt(
                key,
                "in the repository's own configuration makes git run a program",
            )
        })
}

fn doubt(token: &str, why: &'static str) -> Doubt {
    Doubt {
        token: token.to_owned(),
        why,
    }
}
