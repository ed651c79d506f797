//! End to end: the real binary, driven from outside.
//!
//! A test whose tool or editor is not on the machine is listed as ignored, by its own name; `cargo verify` brings them all.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod aimock;
mod bad_input;
mod canary;
mod cli;
mod durability;
mod house;
mod keyring;
mod kills;
mod level0;
mod nvim;
mod plain_lsp;
mod providers;
mod recorded;
mod stress;
mod trust;
mod undo;
mod vscode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    trials.extend(house::trials());
    trials.extend(cli::trials());
    trials.extend(canary::trials());
    trials.extend(plain_lsp::trials());
    trials.extend(level0::trials());
    trials.extend(undo::trials());
    trials.extend(bad_input::trials());
    trials.extend(keyring::trials());
    trials.extend(kills::trials());
    trials.extend(durability::trials());
    trials.extend(stress::trials());
    trials.extend(trust::trials());
    trials.extend(aimock::trials());
    trials.extend(providers::trials());
    trials.extend(recorded::trials());
    trials.extend(nvim::trials());
    trials.extend(vscode::trials());
    libtest_mimic::run(&arguments, trials).exit();
}

/// A test by name.
fn test(name: &str, run: fn() -> anyhow::Result<()>) -> Trial {
    Trial::test(name, move || {
        run().map_err(|error| Failed::from(format!("{error:?}")))
    })
}
