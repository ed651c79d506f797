//! aimock: a third-party server that speaks the APIs of the model vendors, from scripts.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{cache_dir, must, node, npm};

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
    (program.exists() && node().is_some()).then_some(program)
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
    let npm = npm().context("aimock needs npm")?;
    let prefix = prefix();
    std::fs::create_dir_all(&prefix)?;
    // A folder of its own, so that npm does not look for a project above it.
    std::fs::write(prefix.join("package.json"), "{\"private\": true}\n")?;
    must(
        Command::new(npm)
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            .arg(format!("{PACKAGE}@{VERSION}"))
            .current_dir(&prefix),
    )?;
    aimock()
        .map(|_| ())
        .context("aimock was installed, but its program is not there")
}
