//! Display options of plans, and the exit code of a plan.

use std::fmt::Write as _;

use clap::ValueEnum;

use crate::exit::{Exit, Failure, Outcome};
use crate::text::counted;

/// Level of detail of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetailLevel {
    All,
    #[default]
    Changes,
    Summary,
}

/// Display options of a plan.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct DisplayOptions {
    /// Level of detail: `all` includes skipped tasks, `changes` lists tasks that run, `summary` only counts them
    /// [default: changes]
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    pub(crate) show: Option<DetailLevel>,

    /// Include skipped tasks in the output, like `--show all`
    #[arg(long, conflicts_with = "show")]
    pub(crate) all: bool,

    /// Group the output by node instead of by task, without differences of inputs
    #[arg(long)]
    pub(crate) by_node: bool,
}

impl DisplayOptions {
    pub(crate) fn level(self) -> DetailLevel {
        if self.all { DetailLevel::All } else { self.show.unwrap_or_default() }
    }
}

/// Options of the exit code.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ExitOptions {
    /// Exit with code 0 if there are no changes, 2 if there are, and 1 on any error
    #[arg(long)]
    detailed_exitcode: bool,

    /// Exit with code 1 if the plan or its graph has warnings, or a selected node is offline
    #[arg(long)]
    warnings_as_errors: bool,
}

impl ExitOptions {
    /// Returns the result of the command, given that of printing the plan.
    pub(crate) fn finish(self, printed: Outcome, n_warnings: usize, has_changes: bool) -> Outcome {
        match printed {
            // A reader that stops early must not turn changes into the exit code of no changes.
            Err(failure) if failure.exit == Exit::BrokenPipe => {}
            printed => printed?,
        }
        if self.warnings_as_errors && n_warnings > 0 {
            return Err(Failure::failed(format!(
                "the plan has {}, which `--warnings-as-errors` treats as errors",
                counted(n_warnings, "warning")
            )));
        }
        if self.detailed_exitcode && has_changes {
            return Err(Failure { exit: Exit::Changes, diagnostics: Vec::new() });
        }
        Ok(())
    }
}

/// The nodes that a plan without changes is about.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) n_nodes: usize,
    /// The first offline nodes.
    pub(crate) offline: Vec<String>,
    pub(crate) n_offline: usize,
    /// Whether only some tasks were planned.
    pub(crate) is_partial: bool,
    /// Seconds since the last successful run.
    pub(crate) last_applied: Option<f64>,
}

impl Coverage {
    /// Formats the message that there are no changes, with the nodes that were compared.
    pub(crate) fn no_changes(&self) -> String {
        let offline = self.offline_clause();
        let nodes = counted(self.n_nodes, "node");
        let mut text = match (self.n_nodes, offline) {
            (0, None) => "No changes: no nodes were planned".to_owned(),
            (0, Some(offline)) => format!("No nodes were planned: {offline}"),
            (_, Some(offline)) if self.n_offline == 1 => {
                format!("No changes on {nodes}; {offline} and was not planned")
            }
            (_, Some(offline)) => format!("No changes on {nodes}; {offline} and were not planned"),
            (_, None) if self.is_partial => {
                format!("No changes: the selected tasks match their configuration on {nodes}")
            }
            (1, None) => format!("No changes: {nodes} matches its configuration"),
            (_, None) => format!("No changes: {nodes} match their configuration"),
        };
        if let Some(seconds) = self.last_applied.filter(|_| self.n_nodes > 0) {
            _ = write!(text, " (last applied {})", ago(seconds));
        }
        text
    }

    /// Returns `node 5 is offline` or `nodes 4, 5 are offline`.
    fn offline_clause(&self) -> Option<String> {
        let n_more = self.n_offline.saturating_sub(self.offline.len());
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        let names = self.offline.join(", ");
        match self.n_offline {
            0 => None,
            1 => Some(format!("node {names} is offline")),
            _ => Some(format!("nodes {names}{more} are offline")),
        }
    }
}

/// Formats the time since an event. The clocks of client and server may differ, so it can be negative.
fn ago(seconds: f64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match seconds.max(0.0) as u64 {
        seconds @ 0..MINUTE => format!("{seconds} s ago"),
        seconds @ MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("{} h ago", seconds / HOUR),
        seconds => format!("{} days ago", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_changes_claims_only_what_was_planned() {
        let coverage = |n_nodes: usize, offline: &[&str]| Coverage {
            n_nodes,
            n_offline: offline.len(),
            offline: offline.iter().map(|uid| (*uid).to_owned()).collect(),
            last_applied: Some(720.0),
            ..Coverage::default()
        };
        let cases = [
            (coverage(5, &[]), "No changes: 5 nodes match their configuration (last applied 12 min ago)"),
            (coverage(1, &[]), "No changes: 1 node matches its configuration (last applied 12 min ago)"),
            (
                coverage(4, &["5"]),
                "No changes on 4 nodes; node 5 is offline and was not planned (last applied 12 min ago)",
            ),
            (
                coverage(1, &["4", "5"]),
                "No changes on 1 node; nodes 4, 5 are offline and were not planned (last applied 12 min ago)",
            ),
            (coverage(0, &["5"]), "No nodes were planned: node 5 is offline"),
            (coverage(0, &[]), "No changes: no nodes were planned"),
            (
                Coverage { n_offline: 30, last_applied: None, ..coverage(2, &["4", "5"]) },
                "No changes on 2 nodes; nodes 4, 5 and 28 more are offline and were not planned",
            ),
            (
                Coverage { is_partial: true, last_applied: None, ..coverage(2, &[]) },
                "No changes: the selected tasks match their configuration on 2 nodes",
            ),
        ];
        for (coverage, expected) in cases {
            assert_eq!(coverage.no_changes(), expected);
        }
    }

    #[test]
    fn elapsed_time_has_one_unit() {
        let cases = [
            (-3.0, "0 s ago"),
            (59.9, "59 s ago"),
            (3599.0, "59 min ago"),
            (7200.0, "2 h ago"),
            (259_200.0, "3 days ago"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(ago(seconds), expected);
        }
    }

    #[test]
    fn errors_take_precedence_over_changes() {
        let options =
            |detailed_exitcode, warnings_as_errors| ExitOptions { detailed_exitcode, warnings_as_errors };
        let broken_pipe = || Err(Failure { exit: Exit::BrokenPipe, diagnostics: Vec::new() });
        let exit = |outcome: Outcome| outcome.err().map(|failure| failure.exit);
        assert_eq!(exit(options(false, false).finish(Ok(()), 1, true)), None);
        assert_eq!(exit(options(true, false).finish(Ok(()), 1, true)), Some(Exit::Changes));
        assert_eq!(exit(options(true, false).finish(Ok(()), 1, false)), None);
        assert_eq!(exit(options(true, true).finish(Ok(()), 1, true)), Some(Exit::Failed));
        assert_eq!(exit(options(true, true).finish(Ok(()), 0, true)), Some(Exit::Changes));
        assert_eq!(exit(options(true, false).finish(broken_pipe(), 0, true)), Some(Exit::Changes));
        assert_eq!(exit(options(true, false).finish(Err(Failure::input("x")), 0, true)), Some(Exit::Input));
    }
}
