//! Randomized tests with a seed that changes every day, in addition to the fixed seeds of the other steps.
//!
//! A fixed seed makes a failed run reproducible but explores the same inputs forever. This step repeats the
//! property tests, the differential comparison, the simulations, one kill test and the histories of a real server with
//! the date as the seed, and prints how to replay them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::suite::{DIFFERENTIAL_CASES, Suite};
use super::{Cx, Done};
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{capture, run};
use crate::terminal::print_line;
use crate::workspace::Profile;

/// Number of simulated runs. 4000 seeds took 5 s of processor time in the tests of `crates/sim`.
const N_SIMULATIONS: u64 = 1000;
/// Number of simulated histories of plans: 25 s of processor time.
const N_HISTORIES: u64 = 1000;
/// The share of the differential cases of the fixed seed: the comparison is bound by the Python reference.
const DIFFERENTIAL_SHARE: u64 = 3;
/// The kill test with the most random choices: the processes to kill, the time, and the order of restarts.
/// The others vary only delays, kill three times as often, and would dominate the time of this step.
const KILL_TEST: &str = "run_survives_concurrent_kills_of_server_and_agents";
/// Compares plans of a real server with the files of its machines.
const HISTORIES_TEST: &str = "plans_agree_with_the_machines";
/// Number of its histories: about two seconds each.
const N_REAL_HISTORIES: u64 = 5;

pub(super) fn run_all(cx: &Cx) -> Outcome<Done> {
    let seed = match cx.seed {
        Some(seed) => seed,
        None => date_seed(&capture(Command::new("date").args(["-u", "+%Y%m%d"]))?)?,
    };
    print_line(&format!("seed {seed}; replay with `cargo xtask test --only seeds --seed {seed}`"));
    let names = property_tests(cx)?;
    let alternatives = names.into_iter().collect::<Vec<_>>().join("|");
    let suite = Suite::all(cx)?
        .filter(&format!(
            "test(/(^|::)({alternatives}|{KILL_TEST}|{HISTORIES_TEST})$/) | binary(differential)"
        ))
        .env("STOKER_TEST_SEED", seed.to_string())
        .env("STOKER_HISTORIES", N_REAL_HISTORIES.to_string())
        .env("PROPTEST_RNG_SEED", seed.to_string())
        .env("STOKER_DIFFERENTIAL_SEED", seed.to_string())
        .env(DIFFERENTIAL_CASES, (cx.n_differential / DIFFERENTIAL_SHARE).max(1).to_string());
    suite.run()?;
    let simulation = cx.metadata.build_binary(&cx.root, "stoker-sim", Profile::Dev)?;
    let first = seed.saturating_mul(N_SIMULATIONS);
    run(Command::new(&simulation).args([first.to_string(), N_SIMULATIONS.to_string()]))?;
    let first = seed.saturating_mul(N_HISTORIES);
    run(Command::new(simulation).args(["plans".to_owned(), first.to_string(), N_HISTORIES.to_string()]))?;
    Ok(Done::Passed)
}

fn date_seed(date: &str) -> Outcome<u64> {
    date.trim().parse().context(format!("`date` printed `{}`", date.trim()))
}

/// Returns the names of all functions in `proptest!` blocks of the workspace.
fn property_tests(cx: &Cx) -> Outcome<BTreeSet<String>> {
    let mut list = Command::new("git");
    list.current_dir(&cx.root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
        "crates/*.rs",
    ]);
    let mut names = BTreeSet::new();
    for file in capture(&mut list)?.lines() {
        // Deleted files are listed until the deletion is committed.
        let Ok(text) = fs::read_to_string(cx.root.join(file)) else { continue };
        names.extend(names_in_blocks(&text));
    }
    if names.is_empty() {
        return Err(Failure::new("no file has a `proptest!` block"));
    }
    Ok(names)
}

/// Returns the names of the functions in `proptest!` blocks. rustfmt indents them by one level more than the
/// block itself.
fn names_in_blocks(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        match block {
            None if trimmed == "proptest! {" || trimmed == "proptest::proptest! {" => block = Some(indent),
            Some(start) if indent == start && trimmed == "}" => block = None,
            Some(start) if indent == start + 4 => {
                let name = trimmed.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
                names.extend(name.map(str::to_owned));
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_tests_are_found_by_name() {
        let text = "fn helper() {}\nmod tests {\n    proptest! {\n        #[test]\n        fn holds(a in 0..9) {\n            \
                    fn inner() {}\n        }\n\n        fn also(\n            b: u8,\n        ) {\n        }\n    }\n    fn no() {}\n}\n";
        assert_eq!(names_in_blocks(text), ["holds", "also"]);
    }

    #[test]
    fn workspace_has_property_tests() {
        let cx = Cx::of_test();
        assert!(property_tests(&cx).unwrap().len() > 20);
    }

    #[test]
    fn kill_test_exists() {
        let file = Cx::of_test().root.join("crates/stoker/tests/serve/kills.rs");
        assert!(fs::read_to_string(file).unwrap().contains(&format!("fn {KILL_TEST}()")));
    }

    #[test]
    fn seed_is_the_date() {
        assert_eq!(date_seed("20261116\n").unwrap(), 20_261_116);
        assert!(date_seed("today").is_err());
    }
}
