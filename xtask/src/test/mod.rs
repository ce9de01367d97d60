//! `cargo xtask test`: every check that CI runs, in named steps.

mod contract;
mod fuzz;
mod report;
mod schedule;
mod seeds;
mod skips;
mod steps;
mod suite;
mod trove;
mod web_ui;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Context as _, Failure, Outcome};
use crate::workspace::{self, Metadata, Profile};

use schedule::{Selected, run_all};
use skips::Skips;
use steps::STEPS;

/// Preconditions of tests that no step installs; see `crates/testenv`.
const OTHER_PRECONDITIONS: &[&str] = &["apt", "curl", "dpkg-deb", "openssl", "rsync"];
/// Preconditions that `--fast` excludes: servers, networks and programs outside the workspace.
const EXCLUDED_FROM_FAST: &[&str] =
    &["ansible", "apt", "nats", "netns", "oracle", "postgres", "puppet", "ssh"];

pub(crate) const COMMAND: Command = Command {
    name: "test",
    about: "run every check that CI runs",
    help: "\
Usage: cargo xtask test [--fast] [--only STEP,…] [--serial] [--differential N] [--fuzz-seconds N]
                        [--contract-examples N] [--seed N] [--list]

Runs every check, continues after a failure (unless the build itself fails), and prints the time of each step and the
tests that were skipped. Steps that do not compile run beside the others; their output is printed when they end.
Missing tools are installed: Python packages into the target directory, cargo-deny into the user's cache directory, system
packages with apt-get when run as root.

  --fast                   Formatting, project rules and the tests that need no external program or server
                           (under 3 minutes when everything is compiled)
  --only STEP,…            Steps to run (default: all)
  --serial                 One step at a time, with live output
  --differential N         Number of generated expressions to compare with the YAQL reference (default 3000)
  --fuzz-seconds N         Seconds per fuzz target (default 10)
  --contract-examples N    Number of generated requests per API operation (default 15)
  --seed N                 Seed of the step `seeds` (default: the date, such as 20261116)
  --list                   List the steps and exit

STOKER_TEST_SKIP=NAME,…  Steps to leave out, and tools whose tests are skipped
STOKER_PYTHON=PATH       Python interpreter that creates the virtual environments
",
    run: |mut args: Args| {
        let (is_fast, is_serial, is_list) = (args.flag("--fast"), args.flag("--serial"), args.flag("--list"));
        let only = args.option("--only")?;
        let n_differential = args.number("--differential")?.unwrap_or(3000);
        let fuzz_seconds = args.number("--fuzz-seconds")?.unwrap_or(10);
        let n_contract = args.number("--contract-examples")?.unwrap_or(15);
        let seed = args.number("--seed")?;
        args.finish()?;
        if is_list {
            for step in STEPS {
                println!("{:<9} {}", step.name, step.about);
            }
            return Ok(());
        }
        if is_fast && only.is_some() {
            return Err(Failure::new("`--fast` selects its own steps; leave `--only` out"));
        }
        let only = only.as_deref().map(|list| names(list, &[])).transpose()?;
        let mut excluded = names(&env::var(suite::EXCLUDE).unwrap_or_default(), OTHER_PRECONDITIONS)?;
        if is_fast {
            excluded.extend(EXCLUDED_FROM_FAST.iter().map(|name| (*name).to_owned()));
        }
        let root = workspace::root();
        let metadata = Metadata::load(&root)?;
        let skips = Skips::create(&metadata.target_dir)?;
        let program = Mutex::default();
        let cx = Cx {
            root,
            metadata,
            skips,
            program,
            excluded,
            is_fast,
            n_differential,
            fuzz_seconds,
            n_contract,
            seed,
        };
        run(&cx, only.as_ref(), is_serial)
    },
};

/// Options and locations that the steps share.
struct Cx {
    root: PathBuf,
    metadata: Metadata,
    skips: Skips,
    /// See [`Cx::program`].
    program: Mutex<Option<PathBuf>>,
    /// Steps and preconditions that are excluded.
    excluded: BTreeSet<String>,
    is_fast: bool,
    n_differential: u64,
    fuzz_seconds: u64,
    n_contract: u64,
    /// Seed; `None` for the date.
    seed: Option<u64>,
}

impl Cx {
    /// Returns a copy of `stoker` for steps that run concurrently with others: every `cargo build` of another
    /// step may replace the binary in the target directory, and a process whose binary was replaced cannot
    /// start itself again.
    fn program(&self) -> Outcome<PathBuf> {
        let mut program = self.program.lock();
        if let Some(path) = &*program {
            return Ok(path.clone());
        }
        let built = self.metadata.build_stoker(&self.root, Profile::Dev)?;
        let copy = self.metadata.target_dir.join("test-program").join("stoker");
        replace(&built, &copy).context(format!("cannot copy `{}`", built.display()))?;
        Ok(program.insert(copy).clone())
    }

    #[cfg(test)]
    fn of_test() -> Self {
        let target_dir = env::temp_dir().join(format!("stoker-xtask-test-{}", std::process::id()));
        Self {
            root: workspace::root(),
            skips: Skips::create(&target_dir).unwrap(),
            program: Mutex::default(),
            metadata: Metadata { target_dir, ..Metadata::default() },
            excluded: BTreeSet::new(),
            is_fast: false,
            n_differential: 0,
            fuzz_seconds: 0,
            n_contract: 0,
            seed: None,
        }
    }
}

/// The result of a step that did not fail.
enum Done {
    Passed,
    Skipped(String),
}

fn replace(source: &Path, copy: &Path) -> std::io::Result<()> {
    if let Some(folder) = copy.parent() {
        fs::create_dir_all(folder)?;
    }
    // A running binary cannot be overwritten, but its name can be given to another file.
    match fs::remove_file(copy) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::copy(source, copy).map(|_| ())
}

fn run(cx: &Cx, only: Option<&BTreeSet<String>>, is_serial: bool) -> Outcome {
    let started = Instant::now();
    let is_selected = |step: &&steps::Step| {
        only.is_none_or(|only| only.contains(step.name)) && (!cx.is_fast || step.is_fast)
    };
    let select = |step: &'static steps::Step| {
        let is_excluded = cx.excluded.contains(step.name);
        Selected { step, excluded: is_excluded.then(|| format!("named in {}", suite::EXCLUDE)) }
    };
    let selected: Vec<Selected> = STEPS.iter().filter(is_selected).map(select).collect();
    let report = run_all(cx, &selected, is_serial);
    let elapsed = started.elapsed();
    println!("\n{}{}", cx.skips.summary(), report.table(elapsed));
    // Only runs of all steps in two lanes have the time of the limits.
    if let (None, false, Some(warning)) = (only, is_serial, report.slowdown(elapsed, cx.is_fast)) {
        println!("{warning}");
    }
    if cx.is_fast {
        println!(
            "--fast: no external programs, and only the tests of the profile `fast` in .config/nextest.toml"
        );
    }
    report.conclude()
}

/// Parses a list of steps and of `others`. An unknown name is an error: a misspelled step would pass without running.
fn names(list: &str, others: &[&str]) -> Outcome<BTreeSet<String>> {
    let names: BTreeSet<String> =
        list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let choices: Vec<&str> = STEPS.iter().map(|step| step.name).chain(others.iter().copied()).collect();
    match names.iter().find(|name| !choices.contains(&name.as_str())) {
        Some(name) => Err(Failure::new(format!("no step `{name}`; the steps are {}", choices.join(", ")))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_selected_by_name() {
        let selected = names("fmt, tidy", &[]).unwrap();
        assert_eq!(selected.into_iter().collect::<Vec<_>>(), ["fmt", "tidy"]);
        assert!(names("fmt,tydi", &[]).unwrap_err().to_string().contains("no step `tydi`"));
        assert!(names("openssl", &[]).is_err());
        assert!(names("openssl", OTHER_PRECONDITIONS).is_ok());
    }

    #[test]
    fn fast_run_excludes_known_names() {
        names(&EXCLUDED_FROM_FAST.join(","), OTHER_PRECONDITIONS).unwrap();
    }
}
