//! Writes the generated contracts of the protocol into the tree (`cargo codegen`).
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use anyhow::{Context as _, Result};
use std::{fs, path::Path};

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("tests/ has no parent folder")?;
    let check = std::env::args().any(|argument| argument == "--check");
    let mut stale = Vec::new();
    for (path, text) in redline_protocol::contracts::files() {
        let target = root.join(path);
        if fs::read_to_string(&target).is_ok_and(|committed| committed == text) {
            continue;
        }
        if check {
            stale.push(path);
            continue;
        }
        let folder = target.parent().context("a generated file has a folder")?;
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&target, text).with_context(|| format!("cannot write {}", target.display()))?;
        println!("wrote {path}");
    }
    anyhow::ensure!(
        stale.is_empty(),
        "{stale:?} differ from the wire types: run `cargo codegen`"
    );
    Ok(())
}
