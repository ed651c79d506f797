//! What can be said on the command line.
//!
//! Owns: commands, options and their help. Must not know: how a command is carried out.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Review what agents propose, hunk by hunk, before it reaches a file.
#[derive(Debug, Parser)]
#[command(
    name = "redline",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 refused or failed, 2 usage, 3 conflict, 4 an approval is \
                  needed, 5 provider, 130 cancelled."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The project [default: the nearest folder upward with .git, .agentic or redline.toml]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print exactly one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use color; NO_COLOR turns it off too
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// Do without the shared sidecar: serve this command in its own process
    #[arg(long, global = true)]
    pub(crate) in_process: bool,
}

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a diff, patch, search/replace blocks or JSON edits a pending transaction
    Propose(Propose),
    /// Walk through what is pending, in the way of `git add -p`
    Review {
        /// The transaction [default: all that are pending, oldest first]
        #[arg(value_name = "TX")]
        transaction: Option<String>,
    },
    /// Show a transaction as a diff
    Show {
        /// The transaction [default: all that are pending]
        #[arg(value_name = "TX")]
        transaction: Option<String>,
    },
    /// Accept what is pending, or part of it
    Accept(Decide),
    /// Reject what is pending, or part of it
    Reject(Decide),
    /// Take back all that was accepted of the latest turn or proposal
    Undo {
        /// A turn or transaction [default: the latest]
        #[arg(value_name = "TURN|TX")]
        id: Option<String>,
    },
    /// Put back what an undo took
    Redo {
        /// A turn or transaction [default: the latest undone]
        #[arg(value_name = "TURN|TX")]
        id: Option<String>,
    },
    /// Say what waits for a decision
    Status,
    /// Ask the configured model for a change
    Ask(Ask),
    /// List approvals that wait
    Approvals {
        /// Also those that were decided or ran out, the latest 100
        #[arg(long)]
        settled: bool,
    },
    /// Let one operation run, once, exactly as it was shown
    Approve(Answer),
    /// Do not let it run; the agent is told so
    Deny(Answer),
    /// List the plans that agents propose, or decide on one
    Plan {
        #[command(subcommand)]
        action: Option<PlanAction>,
    },
    /// Say how much agents may do by themselves here, or change it
    Mode {
        /// The new mode [default: only say which it is]
        mode: Option<ModeName>,
    },
    /// List the models that can be asked, and whether they answer
    Models,
    /// Look after the keys of endpoints in the keyring of the operating system
    Auth {
        #[command(subcommand)]
        action: Option<AuthAction>,
    },
    /// List the variables that agents' commands run with, or change some
    Env(Env),
    /// List what of a project's own files would widen what may happen here, and trust it or not
    Trust {
        #[command(subcommand)]
        action: Option<TrustAction>,
    },
    /// List the conversations with agents
    Sessions(Sessions),
    /// Look after one turn of a conversation
    Turn {
        #[command(subcommand)]
        action: Turn,
    },
    /// List the programs that agents run
    Jobs(Jobs),
    /// Look after the journal of the project
    Journal {
        #[command(subcommand)]
        action: Journal,
    },
    /// Check the set-up and print a report that is safe to paste
    Doctor {
        /// Print every setting of the configuration, explained, instead
        #[arg(long)]
        settings: bool,
    },
    /// See the whole of it in a scratch project: no key, no network
    Demo {
        /// Open the scratch project in Neovim, with the plugin
        #[arg(long)]
        nvim: bool,
        /// The same behind `--`: an alias of cargo hands on the `--` of `cargo demo -- --nvim`
        #[arg(last = true, hide = true, value_parser = ["--nvim"])]
        handed_on: Option<String>,
    },
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The language server, over stdin and stdout
    Lsp {
        /// The only way there is; taken because many editors say it
        #[arg(long)]
        stdio: bool,
    },
    /// The sidecar that editors and commands share; started by itself when needed
    Serve(Serve),
}

/// `redline propose`.
#[derive(Debug, Args)]
pub(crate) struct Propose {
    /// Where to read from [default: standard input; so does -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Force the format instead of telling it from the text
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Leading parts to strip from the paths of a diff, as `patch -p` does
    #[arg(short = 'p', long, value_name = "N")]
    pub(crate) strip: Option<u32>,
    /// Why, shown to the reviewer
    #[arg(long, value_name = "TEXT")]
    pub(crate) rationale: Option<String>,
    /// A short name for lists
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Who proposes it
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

/// Formats of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// `diff -u` or `git diff`
    #[value(alias = "diff")]
    UnifiedDiff,
    /// `*** Begin Patch`
    #[value(alias = "patch")]
    ApplyPatch,
    /// `<<<<<<< SEARCH` blocks
    #[value(alias = "blocks")]
    SearchReplace,
    /// Whole files, search/replace edits or LSP text edits
    Json,
}

/// `redline accept` and `redline reject`.
#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The transaction [default: the only one that is pending]
    #[arg(value_name = "TX")]
    pub(crate) transaction: Option<String>,
    /// One hunk, as it was shown
    #[arg(long = "hunk", value_name = "ID[@REVISION]")]
    pub(crate) hunks: Vec<String>,
    /// One file, by its path from the root of the project
    #[arg(long = "file", value_name = "PATH")]
    pub(crate) files: Vec<String>,
    /// Lines of a file, counted as start_line is
    #[arg(long = "lines", value_name = "PATH:A-B")]
    pub(crate) lines: Vec<String>,
    /// All that is pending in it; the same as naming no part
    #[arg(long, conflicts_with_all = ["hunks", "files", "lines"])]
    pub(crate) all: bool,
    /// For a rejection: why, told to the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// `redline ask`.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// What to say; several words are joined by spaces [- reads standard input]
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The model, instead of the configured one
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// What it is about: a file, or lines of it
    #[arg(long, value_name = "PATH[:A-B]")]
    pub(crate) context: Option<String>,
    /// Go on in this conversation instead of a new one
    #[arg(long, value_name = "SESSION", conflicts_with = "model")]
    pub(crate) session: Option<String>,
    /// How much the agent may do by itself, instead of the workspace's mode
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,
    /// Stay until what needs an approval is decided elsewhere, instead of ending with exit code 4
    #[arg(long)]
    pub(crate) wait: bool,
}

/// `redline approve` and `redline deny`.
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The approval [default: the only one that waits]
    #[arg(value_name = "APPROVAL")]
    pub(crate) id: Option<String>,
    /// Why, told to the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// What can be done about plans.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanAction {
    /// List those that wait, and those that were accepted
    List {
        /// Also those that are over
        #[arg(long)]
        settled: bool,
    },
    /// Print a plan
    Show {
        /// The plan
        #[arg(value_name = "PLAN")]
        id: String,
    },
    /// Let what a plan lists run unasked
    Accept(PlanAnswer),
    /// Do not; the agent is told so
    Reject(PlanAnswer),
}

/// `redline plan accept` and `redline plan reject`.
#[derive(Debug, Args)]
pub(crate) struct PlanAnswer {
    /// The plan [default: the only one that waits]
    #[arg(value_name = "PLAN")]
    pub(crate) id: Option<String>,
    /// Why, told to the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// Permission modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Everything but proposing edits waits for you
    Manual,
    /// Nothing runs until a plan is approved; then what the plan lists
    Plan,
    /// What can be undone runs by itself, and a turn commits its own edits at its end
    Auto,
}

/// `redline env`.
#[derive(Debug, Args)]
pub(crate) struct Env {
    /// Variables to set; running turns take them at their next step
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// A variable to take out
    #[arg(long, value_name = "NAME")]
    pub(crate) unset: Vec<String>,
}

/// What can be done about keys.
#[derive(Debug, Subcommand)]
pub(crate) enum AuthAction {
    /// Say for each endpoint where its key comes from
    Status,
    /// Keep a key, read from standard input: typed unseen on a terminal, else the first line
    Set {
        /// The NAME of a [providers.NAME] table
        #[arg(value_name = "PROVIDER")]
        provider: String,
    },
    /// Forget a key
    Remove {
        /// The NAME of a [providers.NAME] table
        #[arg(value_name = "PROVIDER")]
        provider: String,
    },
}

/// What can be done about trust.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// List what asks, and what it would do
    Status,
    /// Trust files exactly as they are now; one byte more, and they wait again
    Grant {
        /// redline.toml, .env or .agentic [default: all that wait]
        #[arg(value_name = "FILE")]
        files: Vec<String>,
    },
    /// Take back all trust in this project's files
    Revoke,
}

/// `redline sessions`.
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) action: Option<SessionAction>,
    /// Those that were put away, instead of the others
    #[arg(long)]
    pub(crate) archived: bool,
}

/// What can be done to a session.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionAction {
    /// Begin a new conversation with the same past
    Fork {
        /// The session
        #[arg(value_name = "SESSION")]
        id: String,
        /// The last turn that the new one remembers [default: all that ended]
        #[arg(long, value_name = "TURN")]
        turn: Option<String>,
    },
    /// Put a conversation away
    Archive {
        /// The session
        #[arg(value_name = "SESSION")]
        id: String,
        /// Bring it back instead
        #[arg(long)]
        back: bool,
    },
}

/// `redline turn`.
#[derive(Debug, Subcommand)]
pub(crate) enum Turn {
    /// Write what the model said as a file that the provider `replay` plays
    Export {
        /// The turn
        #[arg(value_name = "TURN")]
        id: String,
        /// Where to write [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// `redline jobs`.
#[derive(Debug, Args)]
pub(crate) struct Jobs {
    #[command(subcommand)]
    pub(crate) action: Option<JobAction>,
    /// Also those that have ended, the latest 100
    #[arg(long)]
    pub(crate) ended: bool,
}

/// What can be done to a job.
#[derive(Debug, Subcommand)]
pub(crate) enum JobAction {
    /// Print the last of its output
    Output {
        /// The job
        #[arg(value_name = "JOB")]
        id: String,
    },
    /// Stop it, and all that it started
    Cancel {
        /// The job
        #[arg(value_name = "JOB")]
        id: String,
    },
}

/// `redline journal`.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum Journal {
    /// Check every record: sequence, checksum, rotation
    Verify,
}

/// `redline serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// How long to stay when nothing needs it [default: sidecar.idle_seconds]
    #[arg(long, value_name = "MS", env = "REDLINE_IDLE_MS", hide_env = false)]
    pub(crate) idle_ms: Option<u64>,
    /// Start the sidecar as a process of its own, and return
    #[arg(long)]
    pub(crate) detach: bool,
    /// Somebody waits for it
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) started: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_demo_takes_its_option_before_and_after_the_dashes() {
        let parsed = |rest: &[&str]| Cli::try_parse_from([&["redline", "demo"], rest].concat());
        for rest in [&["--nvim"][..], &["--", "--nvim"], &[]] {
            assert!(parsed(rest).is_ok(), "{rest:?}");
        }
        for rest in [&["nvim"][..], &["--", "--vim"]] {
            assert!(parsed(rest).is_err(), "{rest:?}");
        }
    }
}
