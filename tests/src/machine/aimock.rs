//! aimock: a third-party server that speaks the APIs of the model vendors, from scripts.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{cache_dir, node};

const PACKAGE: &str = "@copilotkit/aimock";
const VERSION: &str = "1.43.0";

fn prefix() -> PathBuf {
    cache_dir().join(format!("aimock-{VERSION}"))
}

/// Path of its server program, if it is installed and there is a Node.js to run it.
#[must_use]
pub fn aimock() -> Option<PathBuf> {
    let program = prefix()
        .join("node_modules")
        .join(PACKAGE)
        .join("dist/cli.js");
    (program.exists() && node::node().is_some()).then_some(program)
}

/// Installs it where it is missing. Needs Node.js and npm.
///
/// # Errors
///
/// Says what npm said.
pub(super) fn install(say: &mut dyn FnMut(&str)) -> Result<()> {
    if aimock().is_some() {
        return Ok(());
    }
    say(&format!("installing aimock {VERSION}"));
    node::install_package(&prefix(), &format!("{PACKAGE}@{VERSION}"))?;
    aimock()
        .map(|_| ())
        .context("aimock was installed, but its program is not there")
}
