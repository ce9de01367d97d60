//! `cargo xtask test`: everything that CI runs, in named steps.

mod contract;
mod fuzz;
mod interface;
mod report;
mod steps;
mod trove;

use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;
use std::time::Instant;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Failure, Outcome};
use crate::terminal::{Style, paint};
use crate::workspace::{self, Metadata};

use report::{Report, Verdict};
use steps::{STEPS, Step};

pub(crate) const COMMAND: Command = Command {
    name: "test",
    about: "run every check that CI runs",
    help: "\
Usage: cargo xtask test [--only STEP,…] [--differential N] [--fuzz-seconds N]
                        [--contract-examples N] [--list]

Runs every check in turn, goes on after a failure (except when the build itself fails) and ends with a table.
What a check needs and cannot be found is installed: Python packages into the target folder, cargo-deny into
the cache folder of the user, system packages with apt-get when run as root.

  --only STEP,…            run these steps only
  --differential N         generated expressions to compare with the reference implementation (default 3000)
  --fuzz-seconds N         seconds for each fuzz target (default 10)
  --contract-examples N    requests made up for each operation of the server (default 15)
  --list                   name the steps and stop

STOKER_TEST_SKIP=STEP,…  leaves steps out; the table says so.
STOKER_PYTHON=PATH       the Python that builds the environments of tools written in it.
",
    run: |mut args: Args| {
        let list = args.flag("--list");
        let only = args.option("--only")?;
        let n_differential = args.number("--differential")?.unwrap_or(3000);
        let fuzz_seconds = args.number("--fuzz-seconds")?.unwrap_or(10);
        let n_contract = args.number("--contract-examples")?.unwrap_or(15);
        args.finish()?;
        if list {
            for step in STEPS {
                println!("{:<9} {}", step.name, step.about);
            }
            return Ok(());
        }
        let chosen = only.as_deref().map(step_names).transpose()?;
        let skip = env::var("STOKER_TEST_SKIP").ok();
        let skipped = skip.as_deref().map(step_names).transpose()?.unwrap_or_default();
        let root = workspace::root();
        let metadata = Metadata::load(&root)?;
        let cx = Cx { root, metadata, n_differential, fuzz_seconds, n_contract };
        run(&cx, chosen.as_ref(), &skipped)
    },
};

/// What the steps know.
struct Cx {
    root: PathBuf,
    metadata: Metadata,
    n_differential: u64,
    fuzz_seconds: u64,
    n_contract: u64,
}

/// The outcome of a step that did not fail.
enum Done {
    Passed,
    Skipped(String),
}

fn run(cx: &Cx, chosen: Option<&BTreeSet<String>>, skipped: &BTreeSet<String>) -> Outcome {
    let mut report = Report::default();
    for step in STEPS {
        if chosen.is_some_and(|chosen| !chosen.contains(step.name)) {
            continue;
        }
        let started = Instant::now();
        let verdict = if skipped.contains(step.name) {
            Verdict::Skipped("named in STOKER_TEST_SKIP".to_owned())
        } else {
            println!("\n{}", paint(Style::Bold, &format!("── {}: {}", step.name, step.about)));
            judge(step, cx)
        };
        let stop = step.is_fatal && matches!(verdict, Verdict::Failed(_));
        report.push(step.name, verdict, started.elapsed());
        if stop {
            break;
        }
    }
    println!("\n{}", report.table());
    report.conclude()
}

fn judge(step: &Step, cx: &Cx) -> Verdict {
    match (step.run)(cx) {
        Ok(Done::Passed) => Verdict::Passed,
        Ok(Done::Skipped(reason)) => Verdict::Skipped(reason),
        Err(failure) => {
            println!("{} {failure}", paint(Style::Bad, "failed:"));
            Verdict::Failed(failure.to_string())
        }
    }
}

/// A list of steps as a user writes it; an unknown name is an error, else a green run may have run nothing.
fn step_names(list: &str) -> Outcome<BTreeSet<String>> {
    let names: BTreeSet<String> =
        list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    for name in &names {
        if !STEPS.iter().any(|step| step.name == name) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            return Err(Failure::new(format!("no step `{name}`; there are {}", known.join(", "))));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name() {
        let names = step_names("fmt, tidy").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["fmt", "tidy"]);
        assert!(step_names("fmt,tydi").unwrap_err().to_string().contains("no step `tydi`"));
    }
}
