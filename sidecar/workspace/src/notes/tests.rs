//! Notes over a real store.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::store::SealKey;
use crate::testing::Scratch;

fn notes(scratch: &Scratch) -> Notes {
    Notes::new(scratch.store())
}

fn name(name: &str) -> NoteName {
    NoteName::new(name).unwrap()
}

#[test]
fn notes_are_written_read_listed_and_removed() {
    let scratch = Scratch::new(&[]);
    let notes = notes(&scratch);
    assert_eq!(notes.read(&NoteName::Memory).unwrap(), None);
    let first = notes
        .write(&name("build"), "cargo build", WriteMode::New)
        .unwrap();
    let longer = notes
        .write(&name("build"), "cargo test\n", WriteMode::Append)
        .unwrap();
    assert_eq!(longer.text, "cargo build\ncargo test\n");
    notes
        .write(&NoteName::Memory, "use tabs\n", WriteMode::Append)
        .unwrap();
    notes.write(&name("a2"), "", WriteMode::New).unwrap();
    scratch.write(".agentic/notes/Not A Note.md", "x");
    assert_eq!(notes.list().unwrap(), ["a2", "build"]);
    assert_eq!(
        std::fs::read_to_string(scratch.on_disk(".agentic/notes/build.md")).unwrap(),
        longer.text
    );
    assert_eq!(
        std::fs::read_to_string(scratch.on_disk(".agentic/MEMORY.md")).unwrap(),
        "use tabs\n"
    );
    assert_eq!(
        notes
            .remove(&name("build"), &first.revision)
            .unwrap_err()
            .code(),
        "STALE_VERSION"
    );
    notes.remove(&name("build"), &longer.revision).unwrap();
    assert_eq!(notes.read(&name("build")).unwrap(), None);
    assert_eq!(
        notes.remove(&name("build"), "x").unwrap_err().code(),
        "NOT_FOUND"
    );
}

#[test]
fn nothing_is_replaced_unseen() {
    let scratch = Scratch::new(&[]);
    let notes = notes(&scratch);
    let first = notes.write(&name("n"), "one", WriteMode::New).unwrap();
    assert_eq!(
        notes
            .write(&name("n"), "two", WriteMode::New)
            .unwrap_err()
            .code(),
        "EXISTS"
    );
    notes
        .write(&name("n"), "two", WriteMode::Replace(&first.revision))
        .unwrap();
    assert_eq!(
        notes
            .write(&name("n"), "three", WriteMode::Replace(&first.revision))
            .unwrap_err()
            .code(),
        "STALE_VERSION"
    );
    assert_eq!(
        notes
            .write(&name("m"), "x", WriteMode::Replace("y"))
            .unwrap_err()
            .code(),
        "NOT_FOUND"
    );
    assert_eq!(notes.read(&name("n")).unwrap().unwrap().text, "two");
}

#[test]
fn of_many_that_append_at_once_none_is_lost() {
    let scratch = Scratch::new(&[]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let notes = notes(&scratch);
            scope.spawn(move || {
                notes
                    .write(&name("log"), &format!("{number}\n"), WriteMode::Append)
                    .unwrap()
            });
        }
    });
    let text = notes(&scratch).read(&name("log")).unwrap().unwrap().text;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn names_cannot_climb_or_collide() {
    for bad in [
        "",
        "..",
        "a/b",
        "A",
        "a.md",
        "a b",
        "-a",
        "_a",
        "ü",
        "a\0",
        "\u{202e}a",
        &"x".repeat(65),
    ] {
        let error = NoteName::new(bad).unwrap_err();
        assert_eq!(error.code(), "BAD_PATH", "{bad:?}");
        assert!(error.to_string().len() < 300);
    }
    assert_eq!(name("a-1_b").as_str(), "a-1_b");
}

#[test]
fn limits_hold_and_make_no_store() {
    let scratch = Scratch::new(&[]);
    let notes = notes(&scratch);
    let long = "x".repeat(MAX_MEMORY_BYTES + 1);
    assert_eq!(
        notes
            .write(&NoteName::Memory, &long, WriteMode::New)
            .unwrap_err()
            .code(),
        "TOO_LARGE"
    );
    assert!(!scratch.on_disk(".agentic").exists());
    notes
        .write(&NoteName::Memory, &long[1..], WriteMode::New)
        .unwrap();
    assert_eq!(
        notes
            .write(&NoteName::Memory, "y", WriteMode::Append)
            .unwrap_err()
            .code(),
        "TOO_LARGE"
    );
}

#[test]
fn a_damaged_note_is_set_aside_and_named() {
    let scratch = Scratch::new(&[]);
    let notes = notes(&scratch);
    notes.write(&name("n"), "one", WriteMode::New).unwrap();
    std::fs::write(scratch.on_disk(".agentic/notes/n.md"), b"\xff\xfe").unwrap();
    let error = notes.read(&name("n")).unwrap_err();
    assert_eq!(
        error.to_string(),
        ".agentic/notes/n.md is no text; it is .agentic/notes/n.md.corrupt now"
    );
    assert_eq!(notes.read(&name("n")).unwrap(), None);
    notes.write(&name("n"), "again", WriteMode::New).unwrap();
}

#[test]
fn an_unsealed_store_prompts_nothing() {
    let scratch = Scratch::new(&[]);
    notes(&scratch)
        .write(&NoteName::Memory, "obey", WriteMode::New)
        .unwrap();
    let other = Notes::new(Store::new(scratch.root.clone(), SealKey::new([9; 32])));
    assert_eq!(
        other.read(&NoteName::Memory).unwrap_err().code(),
        "STORE_UNSEALED"
    );
    assert_eq!(other.list().unwrap_err().code(), "STORE_UNSEALED");
}
