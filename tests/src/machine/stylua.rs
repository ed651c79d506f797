//! StyLua, the formatter of the Lua files: its WebAssembly build, which runs on Node.js.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{cache_dir, node};

const PACKAGE: &str = "@johnnymorganz/stylua";
const VERSION: &str = "2.5.2";

fn prefix() -> PathBuf {
    cache_dir().join(format!("stylua-{VERSION}"))
}

/// Folder of the package, if it is installed.
fn package() -> Option<PathBuf> {
    let folder = prefix().join("node_modules").join(PACKAGE);
    folder.join("package.json").exists().then_some(folder)
}

/// A command that formats files; its arguments are those of `tests/lua/stylua.mjs` after the package.
///
/// # Errors
///
/// When it is not installed.
pub fn stylua() -> Result<Command> {
    let node = node().context("Node.js is missing: cargo verify prepare brings it")?;
    let package = package().context("StyLua is missing: cargo verify prepare brings it")?;
    let mut command = Command::new(node);
    command
        .arg(crate::program::repository().join("tests/lua/stylua.mjs"))
        .arg(package);
    Ok(command)
}

/// Installs it where it is missing.
pub(super) fn install(say: &mut dyn FnMut(&str)) -> Result<()> {
    if package().is_none() {
        say(&format!("installing StyLua {VERSION}"));
        node::install_package(&prefix(), &format!("{PACKAGE}@{VERSION}"))?;
    }
    Ok(())
}
