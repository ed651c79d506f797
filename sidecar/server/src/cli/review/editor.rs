//! The user's editor, for the proposed lines of one hunk.
//!
//! Owns: the temporary file and the start of the editor. Must not know: what the lines are for.

use crate::failure::Failure;
use std::{
    ffi::OsString,
    io::{Read, Write},
    path::Path,
    process::Command,
};

/// Opens `lines` in `$VISUAL`, `$EDITOR` or `vi`; gives them as they were left, `None` when unchanged.
///
/// # Errors
///
/// `IO` when the file or the editor fails; the hunk is as it was then.
pub(super) fn edit(path: &str, lines: &[String]) -> Result<Option<Vec<String>>, Failure> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| OsString::from("vi"));
    edit_with(&editor, path, lines)
}

fn edit_with(
    editor: &OsString,
    path: &str,
    lines: &[String],
) -> Result<Option<Vec<String>>, Failure> {
    let broken =
        |error: &std::io::Error| Failure::io("cannot keep the lines for the editor", error);
    // The file's own ending, so that the editor knows the language.
    let suffix = Path::new(path)
        .extension()
        .map_or_else(String::new, |extension| {
            format!(".{}", extension.to_string_lossy())
        });
    let mut file = tempfile::Builder::new()
        .prefix("redline-hunk-")
        .suffix(&suffix)
        .tempfile()
        .map_err(|error| broken(&error))?;
    let before: String = lines.iter().map(|line| format!("{line}\n")).collect();
    file.write_all(before.as_bytes())
        .map_err(|error| broken(&error))?;
    // As git does: the setting may hold arguments, so a shell reads it.
    let status = Command::new("sh")
        .arg("-c")
        .arg(r#"eval "$0 \"\$@\"""#)
        .arg(editor)
        .arg(file.path())
        .status()
        .map_err(|error| Failure::io(format!("cannot start {}", editor.display()), &error))?;
    if !status.success() {
        return Err(Failure::new(
            "IO",
            format!(
                "{} ended with {status}; the hunk is as it was",
                editor.display()
            ),
            "set VISUAL or EDITOR to an editor that waits until it is closed",
        ));
    }
    let mut after = String::new();
    // By name: an editor may have put another file in its place.
    let reopened = std::fs::File::open(file.path());
    reopened
        .and_then(|mut file| file.read_to_string(&mut after))
        .map_err(|error| broken(&error))?;
    let after: Vec<String> = after.lines().map(str::to_owned).collect();
    Ok((after != lines).then_some(after))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|&line| line.to_owned()).collect()
    }

    #[test]
    fn what_the_editor_leaves_is_read() {
        let before = lines(&["one", "", "two"]);
        for (editor, expected) in [
            ("true", None),
            ("sed -i -e s/one/1/", Some(lines(&["1", "", "two"]))),
            ("sh -c ': > \"$1\"' sh", Some(Vec::new())),
            (
                "sh -c 'case $1 in *.rs) echo it > \"$1\";; esac' sh",
                Some(lines(&["it"])),
            ),
        ] {
            let got = edit_with(&OsString::from(editor), "a/b.rs", &before).unwrap();
            assert_eq!(got, expected, "{editor}");
        }
    }

    #[test]
    fn a_failing_editor_changes_nothing() {
        let failure = edit_with(&OsString::from("false"), "x", &lines(&["a"])).unwrap_err();
        assert!(failure.hint.contains("EDITOR"), "{failure:?}");
    }
}
