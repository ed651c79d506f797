//! Programs of another Debian suite, unpacked with their whole dependency closure into a folder of their own.
//!
//! The machine's sources and package state are left alone: apt resolves against an empty status file and only downloads.
//! The archive's address is taken from the machine's own sources. Each program is then patched to the loader and the
//! libraries of the folder, so that it runs directly, finds itself by `/proc/self/exe`, and hands nothing on to its children.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::must;

/// Unpacks `package` of `suite` below `prefix`. A finished prefix is left alone.
pub(super) fn unpack(suite: &str, prefix: &Path, package: &str) -> Result<()> {
    let stamp = prefix.join(".done");
    let wanted = format!("{suite} {package} {}", prefix.display());
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    if prefix.exists() {
        fs::remove_dir_all(prefix)?;
    }
    let work = prefix.join(".apt");
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(work.join(folder))?;
    }
    fs::write(work.join("status"), "")?;
    let sources = work.join(format!(
        "archive.{}",
        if deb822().is_some() {
            "sources"
        } else {
            "list"
        }
    ));
    fs::write(&sources, source_of(suite)?)?;

    must(apt(&work, &sources).args(["-qq", "update"]))?;
    must(apt(&work, &sources).args([
        "-qq",
        "-y",
        "--no-install-recommends",
        "--download-only",
        "install",
        package,
    ]))
    .with_context(|| format!("cannot download {package} of Debian {suite}"))?;
    for entry in fs::read_dir(work.join("cache/archives"))? {
        let deb = entry?.path();
        if deb.extension().is_some_and(|extension| extension == "deb") {
            must(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(prefix))?;
        }
    }
    patch_programs(prefix)?;
    fs::remove_dir_all(&work)?;
    fs::write(&stamp, wanted)?;
    Ok(())
}

fn apt(work: &Path, sources: &Path) -> Command {
    let mut command = Command::new("apt-get");
    let options = [
        format!("Dir::Etc::sourcelist={}", sources.display()),
        "Dir::Etc::sourceparts=/dev/null".to_owned(),
        format!("Dir::State::lists={}", work.join("lists").display()),
        format!("Dir::State::status={}", work.join("status").display()),
        format!(
            "Dir::State::extended_states={}",
            work.join("extended").display()
        ),
        format!("Dir::Cache={}", work.join("cache").display()),
        format!(
            "Dir::Cache::archives={}",
            work.join("cache/archives").display()
        ),
        "APT::Sandbox::User=root".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "APT::Keep-Downloaded-Packages=true".to_owned(),
    ];
    for option in options {
        command.arg("-o").arg(option);
    }
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// The machine's own deb822 source, if it has one.
fn deb822() -> Option<String> {
    fs::read_to_string("/etc/apt/sources.list.d/debian.sources").ok()
}

/// The machine's plain archive, with another suite.
fn source_of(suite: &str) -> Result<String> {
    if let Some(text) = deb822() {
        let first = text
            .split("\n\n")
            .find(|stanza| stanza.contains("URIs:"))
            .context("debian.sources names no archive")?;
        let lines = first.lines().map(|line| {
            if line.starts_with("Suites:") {
                format!("Suites: {suite}")
            } else {
                line.to_owned()
            }
        });
        return Ok(lines.collect::<Vec<_>>().join("\n") + "\n");
    }
    let text = fs::read_to_string("/etc/apt/sources.list").unwrap_or_default();
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.next() != Some("deb") {
            continue;
        }
        let options = words
            .next_if(|word| word.starts_with('['))
            .unwrap_or_default();
        if let Some(address) = words.next() {
            return Ok(format!("deb {options} {address} {suite} main\n"));
        }
    }
    bail!("this machine names no Debian archive under /etc/apt")
}

/// Points every dynamic program at the loader and the libraries of the prefix.
fn patch_programs(prefix: &Path) -> Result<()> {
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let libraries = prefix.join("usr/lib").join(&triple);
    let loader = [
        prefix.join("usr/lib64/ld-linux-x86-64.so.2"),
        libraries.join("ld-linux-x86-64.so.2"),
        libraries.join("ld-linux-aarch64.so.1"),
        prefix.join("usr/lib/ld-linux-aarch64.so.1"),
    ]
    .into_iter()
    .find(|path| path.exists())
    .context("the prefix has no loader")?;
    let programs = prefix.join("usr/bin");
    let Ok(entries) = fs::read_dir(&programs) else {
        return Ok(());
    };
    for entry in entries {
        let file = entry?.path();
        let dynamic = fs::symlink_metadata(&file)?.is_file()
            && Command::new("patchelf")
                .arg("--print-interpreter")
                .arg(&file)
                .output()
                .is_ok_and(|output| output.status.success());
        if dynamic {
            // RPATH, not RUNPATH: the libraries' own dependencies are looked up there too.
            must(
                Command::new("patchelf")
                    .arg("--set-interpreter")
                    .arg(&loader)
                    .arg("--force-rpath")
                    .arg("--set-rpath")
                    .arg(&libraries)
                    .arg(&file),
            )?;
        }
    }
    Ok(())
}
