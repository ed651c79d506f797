//! The steps of the VS Code extension that need no editor: types, lints, unit tests, its package.

use anyhow::{Context, Result, ensure};

use super::Counts;
use super::steps::{Show, settle, stream};
use crate::machine::{extension, extension_tool, package_extension};

pub(super) fn types() -> Result<Counts> {
    let mut command = extension_tool("node_modules/typescript/bin/tsc")?;
    command.arg("--noEmit");
    Ok(Counts::one(stream(command, Show::All, |_| {})?))
}

pub(super) fn lints() -> Result<Counts> {
    let mut command = extension_tool("node_modules/eslint/bin/eslint.js")?;
    command.args(["--max-warnings", "0", "src", "webview", "tests"]);
    Ok(Counts::one(stream(command, Show::All, |_| {})?))
}

pub(super) fn unit_tests() -> Result<Counts> {
    let node = crate::machine::node().context("Node.js is missing")?;
    let mut command = std::process::Command::new(node);
    command
        .arg("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON")
        .args(["--test", "--test-reporter", "tap", "tests/unit/*.test.ts"])
        .current_dir(extension());
    let mut counts = Counts::default();
    let mut see = |line: &str| {
        let number = |name: &str| line.strip_prefix(name)?.trim().parse::<u64>().ok();
        counts.passed += number("# pass ").unwrap_or(0);
        counts.failed += number("# fail ").unwrap_or(0);
    };
    let held = stream(command, Show::Failures, &mut see)?;
    let counts = settle(counts, held)?;
    ensure!(
        counts.passed + counts.failed > 0,
        "the unit tests of the extension were not found"
    );
    Ok(counts)
}

pub(super) fn package() -> Result<Counts> {
    let package = package_extension()?;
    Ok(Counts::one(package.exists()))
}
