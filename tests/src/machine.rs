//! Tools and editors that the tests need, and how they get onto a Debian machine.
//!
//! Finding is cheap and never installs: a test asks `tool` or [`Neovim::installed`] and reports itself ignored when the answer is
//! none. Installing is for `cargo verify` alone, idempotent, and puts everything that is not a Debian package of this
//! machine's own suite under `cache_dir`, outside the clone.

mod aimock;
mod apt;
mod debian_prefix;
mod neovim;
mod node;
mod python;
mod stylua;
mod vscode;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

pub use aimock::aimock;
pub use neovim::Neovim;
pub use node::{node, npm};
pub use stylua::stylua;
pub use vscode::{
    chromium, extension, extension_is_ready, extension_tool, package_extension, packaged_extension,
    vscode,
};

/// Where downloaded editors and servers are kept: `$XDG_CACHE_HOME/redline-tests`, else `~/.cache/redline-tests`.
#[must_use]
pub fn cache_dir() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("redline-tests")
}

/// Path of a program on `PATH`.
#[must_use]
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Brings everything onto the machine that the tests need; what is there already is left alone.
///
/// `say` gets one line for each thing, before it may take time.
///
/// # Errors
///
/// Says what is missing and how to get it by hand.
pub fn prepare(say: &mut dyn FnMut(&str)) -> Result<()> {
    // Two at a time would take away from under each other what they install.
    std::fs::create_dir_all(cache_dir())?;
    let lock = std::fs::File::create(cache_dir().join("lock"))?;
    lock.lock()?;
    apt::ensure_tools(say)?;
    for neovim in Neovim::ALL {
        neovim.install(say)?;
    }
    node::install(say)?;
    aimock::install(say)?;
    stylua::install(say)?;
    vscode::install(say)
}

/// Runs a command to its end and wants success; its output is shown only when it fails.
fn must(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed ({}): {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
