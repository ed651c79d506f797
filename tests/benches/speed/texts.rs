//! The diff of two texts of 100,000 lines that differ in 1,000 places, against `git diff --no-index`.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use crate::measure::{compare, medians_ms, time};

pub(crate) fn run(quick: bool) -> Result<()> {
    let lines = if quick { 2_000 } else { 100_000 };
    let old: String = (0..lines)
        .map(|n| format!("line {n}: {}\n", n * 7919 % 1000))
        .collect();
    let new: String = (0..lines)
        .map(|n| match n % 100 {
            50 if n % 300 == 50 => String::new(),
            50 if n % 300 == 150 => format!("line {n} is another\nand one more\n"),
            50 => format!("line {n} is another\n"),
            _ => format!("line {n}: {}\n", n * 7919 % 1000),
        })
        .collect();
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("old"), &old)?;
    std::fs::write(folder.path().join("new"), &new)?;
    let places = redline_edits::diff_lines(&old, &new).len();
    ensure!(places == lines / 100, "{places} places");
    let (ours, reference) = medians_ms(
        if quick { 1 } else { 15 },
        || time(|| Ok(std::hint::black_box(redline_edits::diff_lines(&old, &new)))),
        || {
            time(|| {
                let status = Command::new("git")
                    .args(["diff", "--no-index", "old", "new"])
                    .current_dir(folder.path())
                    .stdout(Stdio::null())
                    .status()?;
                ensure!(status.code() == Some(1), "git diff: {status}");
                Ok(())
            })
        },
    )?;
    compare(
        &format!("diff of {lines} lines, {places} places / git diff --no-index"),
        ours,
        reference,
        1.5,
    );
    Ok(())
}
