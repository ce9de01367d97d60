//! Benchmarks whose work is in `crates/bench`, which has the dependencies that this crate avoids.

use std::process::Command;

use crate::failure::Outcome;
use crate::process::run as run_command;
use crate::terminal::{Style, paint};
use crate::tools::ansible;
use crate::workspace::{self, Metadata, Profile};

/// What can be measured, and whether the real program is needed for it.
pub(super) const MEASURED: &[(&str, bool)] =
    &[("planner", false), ("engine", false), ("server", true), ("agent", false), (RUNS, true), (FLEET, true)];
/// The one that is compared with what others would use.
const RUNS: &str = "runs";
/// The one that has options.
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
    let mut said = vec![what.to_owned()];
    said.extend_from_slice(options);
    let said = said.join(" ");
    println!("Repeat with `cargo xtask bench {said}`.\n");
    match run_command(&mut command) {
        // A missed limit is told and forgiven if only the report is wanted.
        Err(failure) if report_only => {
            println!("{} {failure}", paint(Style::Bad, "not failing on:"));
            Ok(())
        }
        outcome => outcome,
    }
}
