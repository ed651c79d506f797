//! A panic leaves a report on this machine, which the next start mentions.
//!
//! Owns: the panic hook, the reports, and which of them the user has heard of.
//! Must not know: what was going on.
//!
//! Invariant: a report holds no secret and no file content. A formatted panic message may quote
//! the text that it failed on, so only messages that are constants of the program are written.
#![expect(
    clippy::disallowed_methods,
    reason = "crash reports are files of the user's, not of a project"
)]

use crate::paths::{Paths, private_folder};
use std::{
    backtrace::Backtrace,
    fs,
    io::{self, Write},
    panic::PanicHookInfo,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// So many reports are kept.
const KEPT: usize = 10;
const EXTENSION: &str = "txt";
const SEEN: &str = "seen";

/// Makes every panic of this process leave a report.
pub fn install(paths: &Paths, role: &'static str) {
    let folder = paths.crash_dir();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let report = report(info, role, &Backtrace::force_capture().to_string());
        let place = match write(&folder, &report) {
            Ok(path) => format!("a report without file content is {}", path.display()),
            Err(error) => format!("and no report could be left: {error}"),
        };
        tracing::error!(place, "a thread panicked");
        // Stderr may be closed; the report is what counts.
        let _ = writeln!(io::stderr(), "INTERNAL: Redline crashed ({role})\n{place}");
        // In tests and in debug builds the message itself is worth having.
        if cfg!(debug_assertions) {
            before(info);
        }
    }));
}

fn report(info: &PanicHookInfo<'_>, role: &str, backtrace: &str) -> String {
    let message = info
        .payload()
        .downcast_ref::<&'static str>()
        .unwrap_or(&"(withheld: it may quote what was worked on)");
    let place = info.location().map_or_else(
        || "?".to_owned(),
        |at| format!("{}:{}", at.file(), at.line()),
    );
    let thread = std::thread::current();
    format!(
        "Redline {} crashed ({role}, thread {})\nat {place}\nmessage: {message}\n\n{backtrace}\n",
        env!("CARGO_PKG_VERSION"),
        thread.name().unwrap_or("?"),
    )
}

fn write(folder: &Path, report: &str) -> io::Result<PathBuf> {
    private_folder(folder).map_err(io::Error::other)?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // Names sort by time.
    let name = format!(
        "crash-{:013}-{}.{EXTENSION}",
        now.as_millis(),
        std::process::id()
    );
    let path = folder.join(name);
    fs::write(&path, report)?;
    let reports = list(folder);
    for old in reports.iter().take(reports.len().saturating_sub(KEPT)) {
        fs::remove_file(old)?;
    }
    Ok(path)
}

/// The reports that are kept, oldest first.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut reports: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|it| it == EXTENSION))
        .collect();
    reports.sort();
    reports
}

/// What the user is to be told of crashes since the last time; telling counts as told.
pub fn take_notices(paths: &Paths) -> Vec<String> {
    let folder = paths.crash_dir();
    let reports = list(&folder);
    let Some(newest) = reports.last().and_then(|path| path.file_name()) else {
        return Vec::new();
    };
    let seen = fs::read_to_string(folder.join(SEEN)).unwrap_or_default();
    let new: Vec<&PathBuf> = reports
        .iter()
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| *name.to_string_lossy() > *seen)
        })
        .collect();
    if new.is_empty() {
        return Vec::new();
    }
    if let Err(error) = fs::write(folder.join(SEEN), newest.to_string_lossy().as_bytes()) {
        tracing::warn!(%error, "a crash report will be mentioned again");
    }
    new.iter()
        .map(|path| {
            let path = paths.display(path);
            format!("Redline crashed since its last start; the report, which holds no file content, is {path}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn paths(base: &Path) -> Paths {
        Paths {
            config_dir: base.to_owned(),
            state_dir: base.to_owned(),
            runtime_dir: base.to_owned(),
            home: Some(base.to_owned()),
        }
    }

    #[test]
    fn a_crash_is_mentioned_once() {
        let base = tempfile::tempdir().unwrap();
        let paths = paths(base.path());
        assert!(take_notices(&paths).is_empty());
        write(&paths.crash_dir(), "r").unwrap();
        let notices = take_notices(&paths);
        assert_eq!(notices.len(), 1);
        assert!(notices[0].contains("~/crashes/crash-"), "{notices:?}");
        assert!(take_notices(&paths).is_empty());
    }

    #[test]
    fn only_the_last_reports_are_kept() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("c");
        private_folder(&folder).unwrap();
        for i in 0..KEPT + 5 {
            fs::write(folder.join(format!("crash-{i:013}-1.txt")), "").unwrap();
        }
        let newest = write(&folder, "r").unwrap();
        let kept = list(&folder);
        assert_eq!(kept.len(), KEPT);
        assert_eq!(kept.last(), Some(&newest));
    }

    #[test]
    fn a_formatted_message_is_withheld_and_a_constant_one_is_kept() {
        use std::sync::{Arc, Mutex};
        let reports = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&reports);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            sink.lock().unwrap().push(report(info, "test", "trace"));
        }));
        let secret = "hunter2";
        let _ = std::panic::catch_unwind(|| panic!("failed on {secret}"));
        let _ = std::panic::catch_unwind(|| panic!("a constant"));
        std::panic::set_hook(before);
        let reports = reports.lock().unwrap();
        let all = reports.join("\n");
        assert!(!all.contains(secret) && all.contains("withheld"), "{all}");
        assert!(all.contains("a constant"), "{all}");
    }
}
