//! What is known of programs: the options that make them run others or write, what they run inside, what git is told.
//!
//! All of it works on tokens. **Invariant:** no token is ever compared by a part of it, other than as the option
//! syntax of its program does (`--opt=value`, clusters of letters, abbreviated long options).
//!
//! ```text
//! options   the table of programs and their options       screen    a command held against it
//! git       global options, subcommands                   scripts   the small languages of sed and awk
//! inner     the commands that a command runs              class     how far a command reaches
//! known     all of it by a program's name
//! ```

mod class;
mod git;
mod inner;
mod known;
mod options;
mod screen;
mod scripts;

pub use class::{CommandEffect, effect_of};
pub(super) use git::{command_at as git_command_at, name_of_alias};
pub(super) use inner::{each_command, script_of};
pub(super) use screen::{Finding, findings, is_harmless_variable};

/// All words of a command and of the commands that are found inside it.
pub(super) fn words_of(program: &str, arguments: &[String]) -> Vec<String> {
    let mut tokens = vec![program];
    tokens.extend(arguments.iter().map(String::as_str));
    let mut words: Vec<String> = arguments.to_vec();
    words.insert(0, program.to_owned());
    each_command(&tokens, &mut |inner| {
        let new = inner.iter().filter(|word| !tokens.contains(word));
        words.extend(new.map(|word| (*word).to_owned()));
        false
    });
    words
}

/// The last part of a program's path.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Every program of the table with each of its options, as the table writes them.
#[cfg(test)]
pub(super) fn known_options() -> impl Iterator<Item = (&'static str, &'static str)> {
    options::PROGRAMS.iter().flat_map(|program| {
        let options = program.runs.iter().chain(program.writes);
        options.flat_map(|option| program.names.iter().map(|name| (*name, *option)))
    })
}
