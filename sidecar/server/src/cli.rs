//! The command line: every command is a client of the same protocol as an editor.
//!
//! Owns: the start of the process, what each command says and prints, and exit codes.
//! Must not know: how anything is decided; that is the hub's.
//!
//! The commands use blocking streams: no runtime is started for them.
#![expect(
    clippy::disallowed_methods,
    reason = "the command line reads the environment and the user's own files, never the project's"
)]

mod approvals;
mod args;
mod ask;
mod auth;
mod client;
mod decide;
mod interrupt;
mod journal;
mod plans;
mod progress;
mod project;
mod propose;
mod render;
mod restore;
mod review;
mod secret;
mod sessions;
mod setup;
mod shapes;
mod show;
mod terminal;
mod trust;
mod usage;
mod waiting;

use crate::{
    bridge,
    config::{self, Config},
    connect::{self, Sharing},
    crash, demo, doctor,
    failure::{Failure, exit},
    log,
    paths::Paths,
    sidecar,
};
use args::{Cli, Command, Global, Journal, When};
use clap::{CommandFactory, Parser};
use client::Client;
use redline_protocol::v1::ApprovalDecision;
use serde::Serialize;
use serde_json::json;
use std::{path::PathBuf, process::ExitCode, time::Duration};
use terminal::{Style, Terminal};

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut terminal = Terminal::of_process(cli.global.json, cli.global.color);
    let code = match run(cli, &mut terminal) {
        Ok(code) => code,
        Err(failure) => {
            report(&failure, &mut terminal);
            failure.exit()
        }
    };
    let code = match terminal.failure() {
        Some(error) if code == 0 => {
            terminal.aside(&format!("IO: the output could not be written: {error}"));
            exit::FAILED
        }
        _ => code,
    };
    // Exit codes of the contract all fit.
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// What a command needs of its surroundings.
struct Context<'a> {
    paths: Paths,
    global: Global,
    terminal: &'a mut Terminal,
}

impl Context<'_> {
    fn root(&self) -> Result<PathBuf, Failure> {
        project::root(self.global.workspace.as_deref())
    }

    fn sharing(&self) -> Sharing {
        match self.global.in_process {
            true => Sharing::InProcess,
            false => Sharing::Sidecar,
        }
    }

    fn client(&self) -> Result<Client, Failure> {
        Client::open(&self.paths, self.sharing(), self.root()?, false)
    }

    fn client_of_session(&self) -> Result<Client, Failure> {
        Client::open(&self.paths, self.sharing(), self.root()?, true)
    }

    fn renderer(&self) -> render::Renderer {
        render::Renderer {
            paint: self.terminal.paint,
            width: self.terminal.width,
        }
    }
}

fn run(cli: Cli, terminal: &mut Terminal) -> Result<i32, Failure> {
    if let Command::Completions { shell } = cli.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "redline", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        if terminal.json {
            terminal.object(&json!({"shell": shell.to_string(), "script": script}));
        } else {
            terminal.say(&script);
        }
        return Ok(exit::DONE);
    }
    let mut context = Context {
        paths: Paths::of_process()?,
        global: cli.global,
        terminal,
    };
    let context = &mut context;
    let role = match cli.command {
        Command::Lsp { .. } => "lsp",
        Command::Serve(_) => "sidecar",
        _ => "cli",
    };
    crash::install(&context.paths, role);
    match cli.command {
        Command::Lsp { stdio: _ } => lsp(context),
        Command::Serve(options) => serve(context, &options),
        Command::Propose(options) => propose::run(context, options),
        Command::Review { transaction } => review::run(context, transaction),
        Command::Show { transaction } => show::show(context, transaction),
        Command::Status => show::status(context),
        Command::Approvals { settled } => approvals::list(context, settled),
        Command::Approve(answer) => approvals::decide(context, answer, ApprovalDecision::Approve),
        Command::Deny(answer) => approvals::decide(context, answer, ApprovalDecision::Deny),
        Command::Plan { action } => plans::run(context, action),
        Command::Mode { mode } => setup::mode(context, mode),
        Command::Models => setup::models(context),
        Command::Auth { action } => auth::run(context, action),
        Command::Env(options) => setup::env(context, options),
        Command::Trust { action } => trust::run(context, action),
        Command::Sessions(what) => sessions::sessions(context, what),
        Command::Turn { action } => sessions::turn(context, action),
        Command::Jobs(what) => sessions::jobs(context, what),
        Command::Accept(options) => decide::run(context, options, decide::Verb::Accept),
        Command::Reject(options) => decide::run(context, options, decide::Verb::Reject),
        Command::Undo { id } => restore::undo(context, id),
        Command::Redo { id } => restore::redo(context, id),
        Command::Ask(options) => ask::run(context, options),
        Command::Journal {
            action: Journal::Verify,
        } => journal::verify(context),
        Command::Doctor { settings: true } => Ok(settings(context)),
        Command::Doctor { settings: false } => doctor(context),
        Command::Demo { nvim, handed_on } => demo(context, nvim || handed_on.is_some()),
        // Done above: it needs no folders.
        Command::Completions { .. } => Ok(exit::DONE),
    }
}

fn lsp(context: &Context<'_>) -> Result<i32, Failure> {
    let level = Config::load_or_default(&context.paths).log_level;
    log::start(&context.paths, "lsp", level);
    bridge::run(&context.paths, context.sharing())
}

fn serve(context: &mut Context<'_>, options: &args::Serve) -> Result<i32, Failure> {
    if options.detach {
        return connect::start_detached().map(|()| exit::DONE);
    }
    let config = Config::load_or_default(&context.paths);
    log::start(&context.paths, "sidecar", config.log_level);
    let idle = options.idle_ms.map_or(config.idle, Duration::from_millis);
    match sidecar::run(&context.paths, idle) {
        Ok(sidecar::Ran::Here) => Ok(exit::DONE),
        Ok(sidecar::Ran::Elsewhere(pid)) => {
            let who = pid.map_or_else(String::new, |pid| format!(" as process {pid}"));
            context
                .terminal
                .aside(&format!("a sidecar of yours runs already{who}"));
            Ok(exit::DONE)
        }
        Err(failure) => {
            tracing::error!(%failure, "the sidecar cannot run");
            if options.started {
                sidecar::leave_trouble(&context.paths, &failure);
            }
            Err(failure)
        }
    }
}

fn doctor(context: &mut Context<'_>) -> Result<i32, Failure> {
    let root = context.root();
    let report = doctor::check(&context.paths, root.as_deref());
    let failed = report.has_failed();
    if context.terminal.json {
        context.terminal.object(&report);
    } else {
        context.terminal.say(&report.to_string());
    }
    Ok(if failed { exit::FAILED } else { exit::DONE })
}

fn settings(context: &mut Context<'_>) -> i32 {
    let path = context.paths.display(&context.paths.config_file());
    let template = config::template();
    if context.terminal.json {
        let object = json!({"file": path, "template": template});
        context.terminal.object(&object);
    } else {
        context.terminal.say(&format!("# {path}\n\n{template}"));
    }
    exit::DONE
}

fn demo(context: &mut Context<'_>, nvim: bool) -> Result<i32, Failure> {
    let ran = demo::run(demo::Options {
        nvim,
        color: context.terminal.paint.is_on(),
        quiet_stdout: context.terminal.json,
    })?;
    if context.terminal.json {
        context.terminal.object(&ran);
    }
    Ok(exit::DONE)
}

fn report(failure: &Failure, terminal: &mut Terminal) {
    if terminal.json {
        #[derive(Serialize)]
        struct Report<'a> {
            error: &'a Failure,
        }
        terminal.object(&Report { error: failure });
    }
    let message = terminal::clean_lines(&failure.message);
    let code = terminal
        .paint
        .text(Style::Error, &format!("{}:", failure.code));
    terminal.aside(&format!("{code} {message}"));
    if !failure.hint.is_empty() {
        terminal.aside(&terminal::clean_lines(&failure.hint));
    }
}

/// Reports a command line that makes no sense; help and version are no errors.
fn usage(error: &clap::Error) -> ExitCode {
    // The arguments did not parse, so whether JSON is wanted can only be looked for.
    let json = std::env::args_os().any(|arg| arg == "--json");
    if !error.use_stderr() {
        // Help that cannot be written helps nobody.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if json {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default();
        let failure = Failure::usage(
            message.trim_start_matches("error: "),
            "run `redline help` or `redline help COMMAND`",
        );
        report(&failure, &mut Terminal::of_process(true, When::Auto));
    } else {
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(exit::USAGE).unwrap_or(2))
}
