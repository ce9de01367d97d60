//! Runs the benchmarks of `crates/bench`, which has the dependencies that this crate avoids.

use std::process::Command;

use crate::failure::Outcome;
use crate::process::run as run_command;
use crate::terminal::{Style, paint};
use crate::tools::ansible;
use crate::workspace::{self, Metadata, Profile};

/// Name of each benchmark, and whether it starts the `stoker` binary.
pub(super) const MEASURED: &[(&str, bool)] = &[
    ("planner", false),
    ("engine", false),
    ("server", true),
    ("agent", false),
    ("writers", false),
    ("states", false),
    (RUNS, true),
    (FLEET, true),
];
/// Benchmark that is compared with ansible-core.
const RUNS: &str = "runs";
/// Benchmark that takes options.
pub(super) const FLEET: &str = "fleet";

pub(super) fn run(what: &str, needs_stoker: bool, options: &[String], report_only: bool) -> Outcome {
    let root = workspace::root();
    let metadata = Metadata::load(&root)?;
    let bench = metadata.build_binary(&root, "stoker-bench", Profile::Release)?;
    let mut command = Command::new(bench);
    command.current_dir(&root).arg(what);
    if needs_stoker {
        command.arg(metadata.build_stoker(&root, Profile::Release)?);
    }
    if what == RUNS {
        command.arg(ansible::playbook(&metadata.target_dir)?);
    }
    command.args(options);
    let mut words = vec![what.to_owned()];
    words.extend_from_slice(options);
    println!("Repeat with `cargo xtask bench {}`.\n", words.join(" "));
    match run_command(&mut command) {
        Err(failure) if report_only => {
            println!("{} {failure}", paint(Style::Bad, "ignored because of --report-only:"));
            Ok(())
        }
        outcome => outcome,
    }
}
