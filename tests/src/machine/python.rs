//! Python packages, each in a virtual environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::must;

/// Makes a virtual environment and installs one package into it.
pub(super) fn install(prefix: &Path, package: &str) -> Result<()> {
    if prefix.exists() {
        fs::remove_dir_all(prefix)?;
    }
    must(Command::new("python3").args(["-m", "venv"]).arg(prefix))?;
    must(
        Command::new(prefix.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .arg(package),
    )
    .with_context(|| format!("cannot install the Python package {package}"))?;
    Ok(())
}

/// Where the packages of a virtual environment lie.
pub(super) fn site_packages(prefix: &Path) -> Option<PathBuf> {
    fs::read_dir(prefix.join("lib"))
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("site-packages"))
        .find(|path| path.is_dir())
}
