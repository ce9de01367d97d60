//! The table at the end of a run.

use std::fmt::Write as _;
use std::time::Duration;

use crate::failure::{Failure, Outcome};
use crate::terminal::{Style, paint};

pub(super) enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

#[derive(Default)]
pub(super) struct Report {
    rows: Vec<(&'static str, Verdict, Duration)>,
}

impl Report {
    pub(super) fn push(&mut self, step: &'static str, verdict: Verdict, took: Duration) {
        self.rows.push((step, verdict, took));
    }

    pub(super) fn table(&self) -> String {
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
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let total: Duration = self.rows.iter().map(|(_, _, took)| *took).sum();
        let _ = write!(text, "{:<9} {:<8} {:>8.1}", "total", "", total.as_secs_f64());
        text
    }

    /// An error that names every failed step.
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
        let again = failed.join(",");
        Err(Failure::new(format!(
            "failed: {}; again with `cargo xtask test --only {again}`",
            failed.join(", ")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failed_step_is_named() {
        let mut report = Report::default();
        report.push("fmt", Verdict::Passed, Duration::from_millis(1250));
        report.push("tidy", Verdict::Failed("3 errors\nmore".into()), Duration::ZERO);
        report.push("fuzz", Verdict::Skipped("no folder".into()), Duration::ZERO);
        report.push("docs", Verdict::Failed("bad link".into()), Duration::ZERO);
        let table = report.table();
        assert!(table.contains("fmt       ok            1.2"), "{table}");
        assert!(table.contains("3 errors\n"), "{table}");
        let error = report.conclude().unwrap_err().to_string();
        assert_eq!(error, "failed: tidy, docs; again with `cargo xtask test --only tidy,docs`");
    }

    #[test]
    fn a_run_without_failures_succeeds() {
        let mut report = Report::default();
        report.push("fmt", Verdict::Passed, Duration::ZERO);
        report.conclude().unwrap();
    }
}
