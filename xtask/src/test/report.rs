//! The table of step times at the end of a run.

use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use crate::failure::{Failure, Outcome};
use crate::terminal::{Style, paint};

/// Longest time of a complete run, and of `--fast`, when everything is compiled, on two cores.
/// `docs/benchmarks.md` has the measured times of the steps.
const WARM_MAX: Duration = Duration::from_mins(15);
const FAST_MAX: Duration = Duration::from_mins(3);
/// A run whose build takes longer has compiled dependencies: its time is not compared.
const WARM_BUILD_MAX: Duration = Duration::from_mins(1);

pub(super) enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("ok"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
            Self::Failed(message) => write!(f, "failed: {message}"),
        }
    }
}

#[derive(Default)]
pub(super) struct Report {
    rows: Vec<(&'static str, Verdict, Duration)>,
}

impl Report {
    pub(super) fn push(&mut self, step: &'static str, verdict: Verdict, took: Duration) {
        self.rows.push((step, verdict, took));
    }

    /// Orders the rows by a key of their step's name.
    pub(super) fn sort_by<K: Ord>(&mut self, mut key: impl FnMut(&str) -> K) {
        self.rows.sort_by_key(|(step, ..)| key(step));
    }

    #[cfg(test)]
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static str, &Verdict)> {
        self.rows.iter().map(|(step, verdict, _)| (*step, verdict))
    }

    /// Renders one row per step, then the sum of all steps and the elapsed time, which is shorter because two
    /// lanes overlap.
    pub(super) fn table(&self, elapsed: Duration) -> String {
        let mut text = format!("{:<9} {:<8} {:>8}\n", "step", "result", "seconds");
        for (step, verdict, took) in &self.rows {
            let (word, style, note) = match verdict {
                Verdict::Passed => ("ok", Style::Good, ""),
                Verdict::Skipped(reason) => ("skipped", Style::Notice, reason.as_str()),
                Verdict::Failed(message) => {
                    ("failed", Style::Bad, message.lines().next().unwrap_or_default())
                }
            };
            let word = paint(style, &format!("{word:<8}"));
            let line = format!("{step:<9} {word} {:>8.1}  {note}", took.as_secs_f64());
            _ = writeln!(text, "{}", line.trim_end());
        }
        let sum: Duration = self.rows.iter().map(|(_, _, took)| *took).sum();
        _ = writeln!(text, "{:<9} {:<8} {:>8.1}", "sum", "", sum.as_secs_f64());
        _ = write!(text, "{:<9} {:<8} {:>8.1}", "elapsed", "", elapsed.as_secs_f64());
        text
    }

    /// Returns a warning if a run of all steps, or of all steps of `--fast`, took too long although everything was compiled.
    pub(super) fn slowdown(&self, elapsed: Duration, is_fast: bool) -> Option<String> {
        let limit = if is_fast { FAST_MAX } else { WARM_MAX };
        let is_warm = self.rows.iter().any(|(step, _, took)| *step == "build" && *took < WARM_BUILD_MAX);
        (is_warm && elapsed > limit).then(|| {
            let (elapsed, limit) = (elapsed.as_secs_f64(), limit.as_secs());
            let message = format!(
                "the run took {elapsed:.0} s, more than the limit of {limit} s on two idle cores; compare the steps with \
                 docs/benchmarks.md"
            );
            format!("{} {message}", paint(Style::Notice, "warning:"))
        })
    }

    /// Returns an error that names every failed step.
    pub(super) fn conclude(&self) -> Outcome {
        let failed: Vec<&str> = self
            .rows
            .iter()
            .filter(|(_, verdict, _)| matches!(verdict, Verdict::Failed(_)))
            .map(|(step, ..)| *step)
            .collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(Failure::new(format!(
            "steps failed: {}; repeat them with `cargo xtask test --only {}`",
            failed.join(", "),
            failed.join(",")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failed_step_is_named() {
        let mut report = Report::default();
        report.push("docs", Verdict::Failed("bad link".into()), Duration::ZERO);
        report.push("fmt", Verdict::Passed, Duration::from_millis(1250));
        report.push("tidy", Verdict::Failed("3 errors\nmore".into()), Duration::from_secs(2));
        report.push("fuzz", Verdict::Skipped("no directory".into()), Duration::ZERO);
        report.sort_by(|step| ["fmt", "tidy", "fuzz", "docs"].iter().position(|name| *name == step));
        let table = report.table(Duration::from_secs(3));
        assert!(table.contains("fmt       ok            1.2"), "{table}");
        assert!(table.contains("3 errors\n"), "{table}");
        assert!(table.contains("sum                     3.2\nelapsed                 3.0"), "{table}");
        let error = report.conclude().unwrap_err().to_string();
        assert_eq!(error, "steps failed: tidy, docs; repeat them with `cargo xtask test --only tidy,docs`");
    }

    #[test]
    fn slow_warm_run_is_a_warning() {
        let slowdown = |build: u64, elapsed: u64, is_fast: bool| {
            let mut report = Report::default();
            report.push("build", Verdict::Passed, Duration::from_secs(build));
            report.slowdown(Duration::from_secs(elapsed), is_fast)
        };
        assert_eq!(slowdown(59, 900, false), None);
        assert!(slowdown(59, 901, false).unwrap().contains("took 901 s, more than the limit of 900 s"));
        assert_eq!(slowdown(60, 2000, false), None, "dependencies were compiled");
        assert!(slowdown(1, 181, true).is_some());
        assert_eq!(slowdown(1, 180, true), None);
    }

    #[test]
    fn run_without_failures_succeeds() {
        let mut report = Report::default();
        report.push("fmt", Verdict::Passed, Duration::ZERO);
        report.conclude().unwrap();
    }
}
