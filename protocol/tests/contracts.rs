//! Holds the committed contracts against the wire types.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

use redline_protocol::contracts;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// All of version one, one text.
fn source() -> String {
    let folder = root().join("protocol/src");
    let mut files = vec![folder.join("v1.rs")];
    for entry in std::fs::read_dir(folder.join("v1")).unwrap() {
        files.push(entry.unwrap().path());
    }
    let texts = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap());
    texts.collect()
}

#[test]
fn committed_contracts_are_current() {
    for (path, expected) in contracts::files() {
        let committed = std::fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(
            committed == expected,
            "{path} differs from the wire types: run `cargo codegen` and commit what it writes"
        );
    }
}

#[test]
fn every_method_is_in_the_table() {
    let source = source();
    let mut declared: Vec<&str> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const ")?.split('"').nth(1))
        .collect();
    declared.sort_unstable();
    let mut known = contracts::methods();
    known.sort_unstable();
    assert_eq!(declared, known);
}

#[test]
fn every_type_is_reached_from_a_method() {
    let source = source();
    let typescript = &contracts::files()["protocol/schema/ts/v1.ts"];
    let missing: Vec<&str> = source
        .lines()
        .filter_map(|line| {
            let rest = line
                .strip_prefix("pub struct ")
                .or(line.strip_prefix("pub enum "))?;
            rest.split(|c: char| !c.is_alphanumeric()).next()
        })
        .filter(|name| !typescript.contains(&format!("export type {name} =")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
