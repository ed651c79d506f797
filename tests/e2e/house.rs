//! The arrows of the house: which crate may use which, and who may use the libraries that belong to one of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::program::{cargo, repository};
use serde_json::Value;

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test("house::arrows_run_one_way", arrows_run_one_way),
        test(
            "house::libraries_stay_where_they_belong",
            libraries_stay_where_they_belong,
        ),
        test(
            "house::every_source_file_says_what_it_is",
            every_source_file_says_what_it_is,
        ),
        test(
            "house::nothing_else_stands_at_the_top",
            nothing_else_stands_at_the_top,
        ),
    ]
}

/// Crate, and the crates of ours that it uses outside its tests: exactly these.
const ARROWS: &[(&str, &[&str])] = &[
    ("redline-protocol", &[]),
    ("redline-edits", &[]),
    ("redline-workspace", &["redline-edits"]),
    ("redline-providers", &[]),
    ("redline-tools", &["redline-edits", "redline-workspace"]),
    (
        "redline-agent",
        &["redline-workspace", "redline-providers", "redline-tools"],
    ),
    (
        "redline",
        &[
            "redline-protocol",
            "redline-edits",
            "redline-workspace",
            "redline-providers",
            "redline-tools",
            "redline-agent",
        ],
    ),
];

/// Library, and the crates that may use it; `redline-tests` stands outside and may use any.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("reqwest", &["redline-providers"]),
    ("sse-stream", &["redline-providers"]),
    ("tower-lsp-server", &["redline"]),
    ("ls-types", &["redline"]),
    ("clap", &["redline"]),
    ("cap-std", &["redline-workspace"]),
    ("git2", &["redline-workspace"]),
    ("ignore", &["redline-workspace"]),
    ("grep-searcher", &["redline-workspace"]),
    ("grep-regex", &["redline-workspace"]),
    ("ts-rs", &["redline-protocol"]),
];

/// Dependencies of each crate of ours, by package name, without those of tests and builds.
fn dependencies() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let output = cargo()
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut all = BTreeMap::new();
    for package in metadata["packages"].as_array().context("packages")? {
        let name = package["name"].as_str().context("name")?.to_owned();
        let used = package["dependencies"]
            .as_array()
            .context("dependencies")?
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
            .collect();
        all.insert(name, used);
    }
    Ok(all)
}

fn arrows_run_one_way() -> Result<()> {
    let dependencies = dependencies()?;
    let mut known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    known.insert("redline-tests");
    let found: BTreeSet<&str> = dependencies.keys().map(String::as_str).collect();
    ensure!(
        found == known,
        "crates of the house: wanted {known:?}, got {found:?}"
    );
    for (name, allowed) in ARROWS {
        let used: BTreeSet<&str> = dependencies[*name]
            .iter()
            .map(String::as_str)
            .filter(|used| found.contains(used))
            .collect();
        let allowed: BTreeSet<&str> = allowed.iter().copied().collect();
        ensure!(
            used == allowed,
            "{name} uses {used:?}; the arrows are {allowed:?}"
        );
    }
    Ok(())
}

fn libraries_stay_where_they_belong() -> Result<()> {
    let dependencies = dependencies()?;
    for (library, allowed) in LIBRARIES {
        for (name, used) in &dependencies {
            ensure!(
                name == "redline-tests"
                    || !used.contains(*library)
                    || allowed.contains(&name.as_str()),
                "{name} uses {library}, which belongs to {allowed:?}"
            );
        }
    }
    Ok(())
}

/// Every source file opens with `//!`.
fn every_source_file_says_what_it_is() -> Result<()> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "*.rs"])
        .current_dir(repository())
        .output()?;
    ensure!(output.status.success(), "git ls-files failed");
    let mut silent = Vec::new();
    for file in String::from_utf8(output.stdout)?.lines() {
        let Ok(text) = std::fs::read_to_string(repository().join(file)) else {
            continue;
        };
        if !text.starts_with("//!") {
            silent.push(file.to_owned());
        }
    }
    ensure!(
        silent.is_empty(),
        "these files do not open with `//!`: {silent:?}"
    );
    Ok(())
}

fn nothing_else_stands_at_the_top() -> Result<()> {
    let output = std::process::Command::new("git")
        .args(["ls-files"])
        .current_dir(repository())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let top: BTreeSet<&str> = text
        .lines()
        .filter_map(|file| file.split('/').next())
        .filter(|name| !name.starts_with('.'))
        .collect();
    let allowed: BTreeSet<&str> = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "protocol",
        "sidecar",
        "clients",
        "tests",
    ]
    .into();
    let strangers: Vec<_> = top.difference(&allowed).collect();
    ensure!(
        strangers.is_empty(),
        "at the top of the repository: {strangers:?}"
    );
    Ok(())
}
