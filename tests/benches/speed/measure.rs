//! Medians, and the line that says what came out.

use std::time::{Duration, Instant};

use anyhow::Result;

/// The median time of `runs` calls, in milliseconds.
pub(crate) fn median_ms(runs: usize, mut once: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        times.push(once()?);
    }
    Ok(middle(times))
}

/// The medians of two things measured in turns, so that a busy moment hits both.
pub(crate) fn medians_ms(
    runs: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut reference: impl FnMut() -> Result<Duration>,
) -> Result<(f64, f64)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    // Once unmeasured: files and code come into memory.
    ours()?;
    reference()?;
    for _ in 0..runs.max(1) {
        second.push(reference()?);
        first.push(ours()?);
    }
    Ok((middle(first), middle(second)))
}

fn middle(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// Times one call.
pub(crate) fn time<T>(call: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let begun = Instant::now();
    call()?;
    Ok(begun.elapsed())
}

/// Prints one comparison.
pub(crate) fn compare(what: &str, ours_ms: f64, reference_ms: f64, bound: f64) {
    let ratio = ours_ms / reference_ms;
    let judged = if ratio <= bound { "" } else { "  ABOVE" };
    println!(
        "{what:<58} {ours_ms:>9.3} ms {reference_ms:>9.3} ms {ratio:>8.2} {bound:>8.2}{judged}"
    );
}

/// Prints one figure with a bound of its own.
pub(crate) fn figure(what: &str, ours: f64, unit: &str, bound: Option<f64>) {
    let judged = match bound {
        Some(bound) if ours > bound => format!("  under {bound} {unit} wanted: ABOVE"),
        Some(bound) => format!("  under {bound} {unit} wanted"),
        None => String::new(),
    };
    println!("{what:<58} {ours:>9.3} {unit}{judged}");
}
