//! Runs seeds: `stoker-sim FIRST COUNT`, or `stoker-sim --tell SEED` to log every event of one seed.

#![expect(clippy::print_stdout, reason = "a developer tool prints to standard output")]

use std::process::ExitCode;

use stoker_sim::{Sabotage, SimReport, simulate, simulate_logged};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    match (arguments.first().map(String::as_str), numbers.as_slice()) {
        (Some("--tell"), [seed]) => run_one(*seed),
        (_, [first, count]) => run_many(*first, *count),
        _ => {
            eprintln!("usage: stoker-sim FIRST COUNT | stoker-sim --tell SEED");
            ExitCode::from(2)
        }
    }
}

fn run_one(seed: u64) -> ExitCode {
    let report = simulate_logged(seed);
    for line in &report.log {
        println!("{line}");
    }
    print_violations(seed, &report)
}

fn run_many(first: u64, count: u64) -> ExitCode {
    let (mut n_steps, mut n_events, mut n_executions, mut n_crashes) = (0, 0, 0, 0);
    for seed in first..first.saturating_add(count) {
        let report = simulate(seed, Sabotage::None);
        if !report.violations.is_empty() {
            return print_violations(seed, &report);
        }
        n_steps += report.n_steps;
        n_events += report.n_events;
        n_executions += report.n_executions;
        n_crashes += report.n_server_crashes + report.n_agent_crashes;
    }
    println!(
        "{count} seeds from {first}: {n_steps} steps, {n_events} events, {n_executions} processes, {n_crashes} crashes; \
         no invariant was violated"
    );
    ExitCode::SUCCESS
}

fn print_violations(seed: u64, report: &SimReport) -> ExitCode {
    if report.violations.is_empty() {
        println!("seed {seed}: no invariant was violated");
        return ExitCode::SUCCESS;
    }
    println!("seed {seed} violates invariants; replay it with `cargo xtask sim --seed {seed}`:");
    for violation in &report.violations {
        println!("  {violation}");
    }
    ExitCode::FAILURE
}
