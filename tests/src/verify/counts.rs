//! Reads how many tests passed from what the test runners print.

/// What a step found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Checks that held.
    pub passed: u64,
    /// Checks that did not.
    pub failed: u64,
    /// Names of the tests that did not run.
    pub ignored: Vec<String>,
}

impl Counts {
    /// One check.
    pub(super) fn one(held: bool) -> Counts {
        Counts {
            passed: u64::from(held),
            failed: u64::from(!held),
            ignored: Vec::new(),
        }
    }

    /// Failed ones; a test that was ignored is one of them.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed + self.ignored.len() as u64
    }

    pub(super) fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored.extend(other.ignored);
    }

    /// Reads a line of `cargo test`: `test result: …` or `test NAME … ignored`.
    pub(super) fn see_cargo_test(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("test result: ") {
            self.passed += number_before(rest, " passed");
            self.failed += number_before(rest, " failed");
        } else if let Some(rest) = line.strip_prefix("test ")
            && let Some((name, _)) = rest
                .split_once(" ... ignored")
                .filter(|(_, after)| after.is_empty() || after.starts_with(','))
        {
            self.ignored.push(name.to_owned());
        }
    }

    /// Reads a line of `cargo nextest run`: its summary, or the name of a test that was skipped.
    pub(super) fn see_nextest(&mut self, line: &str) {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("Summary ") {
            self.passed += number_before(rest, " passed");
            self.failed += number_before(rest, " failed")
                + number_before(rest, " timed out")
                + number_before(rest, " exec failed");
        } else if let Some(rest) = line.strip_prefix("SKIP ") {
            let name = rest.split_once(']').map_or(rest, |(_, name)| name).trim();
            if !self.ignored.iter().any(|seen| seen == name) {
                self.ignored.push(name.to_owned());
            }
        }
    }

    /// Reads the last line of the case runner: `N passed, N failed`.
    pub(super) fn see_total(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        if let [passed, "passed,", failed, "failed"] = words[..]
            && let (Ok(passed), Ok(failed)) = (passed.parse::<u64>(), failed.parse::<u64>())
        {
            self.passed += passed;
            self.failed += failed;
            return true;
        }
        false
    }
}

/// The number that stands right before `word`; 0 when there is none.
fn number_before(text: &str, word: &str) -> u64 {
    text.split_once(word)
        .and_then(|(before, _)| before.rsplit(|c: char| !c.is_ascii_digit()).next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_test_lines_are_counted() {
        let mut counts = Counts::default();
        for line in [
            "running 3 tests",
            "test a::b ... ok",
            "test opens_in_neovim_0_10 ... ignored",
            "test c ... ignored, needs root",
            "test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            counts.see_cargo_test(line);
        }
        assert_eq!(
            counts,
            Counts {
                passed: 42,
                failed: 1,
                ignored: vec!["opens_in_neovim_0_10".into(), "c".into()],
            }
        );
        assert_eq!(counts.failures(), 3);
    }

    #[test]
    fn nextest_lines_are_counted() {
        let mut counts = Counts::default();
        for line in [
            "        SKIP [         ] redline-tests::e2e opens_in_neovim_0_10",
            "        SKIP [         ] (─────────) redline-tests::e2e opens_in_neovim_0_12",
            "     Summary [   3.482s] 40 tests run: 37 passed (1 slow, 1 flaky), 2 failed, 1 timed out, 2 skipped",
            "        SKIP [         ] redline-tests::e2e opens_in_neovim_0_10",
        ] {
            counts.see_nextest(line);
        }
        assert_eq!((counts.passed, counts.failed), (37, 3));
        assert_eq!(counts.ignored.len(), 2);
    }

    #[test]
    fn the_total_line_stands_alone() {
        let mut counts = Counts::default();
        assert!(counts.see_total("131 passed, 2 failed"));
        assert!(!counts.see_total("   131 passed, 2 failed in 3 s"));
        assert_eq!((counts.passed, counts.failed), (131, 2));
    }
}
