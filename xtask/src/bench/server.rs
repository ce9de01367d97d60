//! `cargo xtask bench server`: the work is in `crates/bench`, which has the dependencies that this crate avoids.

use std::process::Command;

use crate::failure::Outcome;
use crate::process::run as run_command;
use crate::terminal::{Style, paint};
use crate::workspace::{self, Metadata, Profile};

pub(super) fn run(report_only: bool) -> Outcome {
    let root = workspace::root();
    let metadata = Metadata::load(&root)?;
    let program = metadata.build_stoker(&root, Profile::Release)?;
    let bench = metadata.build_binary(&root, "stoker-bench", Profile::Release)?;
    match run_command(Command::new(bench).current_dir(&root).arg(program)) {
        Err(failure) if report_only => {
            println!("{} {failure}", paint(Style::Bad, "not failing on:"));
            Ok(())
        }
        outcome => outcome,
    }
}
