//! Runs seeds: `stoker-sim FIRST COUNT`, or `stoker-sim --tell SEED` to log every event of one seed. With `plans` as the
//! first argument, simulates histories of plans instead of runs.

#![expect(clippy::print_stdout, reason = "a developer tool prints to standard output")]

use std::process::ExitCode;

use stoker_sim::{
    PlanSabotage, PlansReport, Sabotage, SimReport, describe_shrunk, simulate, simulate_logged,
    simulate_plans,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    match (arguments.first().map(String::as_str), numbers.as_slice()) {
        (Some("plans"), [seed]) => plan_many(*seed, 1),
        (Some("plans"), [first, count]) => plan_many(*first, *count),
        (Some("--tell"), [seed]) => run_one(*seed),
        (_, [first, count]) => run_many(*first, *count),
        _ => {
            eprintln!(
                "usage: stoker-sim [plans] FIRST COUNT | stoker-sim --tell SEED | stoker-sim plans SEED"
            );
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

/// Share of instances without a change that plans must skip.
const SKIPPED_MIN: f64 = 0.999;

fn plan_many(first: u64, count: u64) -> ExitCode {
    let mut total = PlansReport::default();
    for seed in first..first.saturating_add(count) {
        let report = simulate_plans(seed, PlanSabotage::None);
        if let Some(violation) = report.violations.first() {
            println!("seed {seed} violates a check; replay it with `cargo xtask sim plans --seed {seed}`:");
            println!("{}", describe_shrunk(seed, violation.check, PlanSabotage::None).unwrap_or_default());
            return ExitCode::FAILURE;
        }
        total.add(&report);
    }
    let PlansReport { n_plans, n_instances, n_running, n_unaffected, n_unaffected_skipped, .. } = total;
    println!(
        "{count} histories from {first}: {n_plans} plans of {n_instances} instances, {n_running} of them run; all as the \
         oracle decides; {n_unaffected_skipped} of {n_unaffected} unaffected instances skipped"
    );
    if (n_unaffected_skipped as f64) < n_unaffected as f64 * SKIPPED_MIN {
        println!("less than {SKIPPED_MIN} of the unaffected instances were skipped");
        return ExitCode::FAILURE;
    }
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
