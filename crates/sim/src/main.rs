//! Runs seeds: `stoker-sim FIRST COUNT`, or `stoker-sim --tell SEED` to log every event of one seed. With `plans` as the
//! first argument, simulates histories of plans instead of runs.

#![expect(clippy::print_stdout, reason = "a developer tool prints to standard output")]

use std::num::NonZero;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Maximum number of threads. Each holds one history; more threads than this were never measured.
const N_THREADS_MAX: usize = 64;

/// Replays histories on all cores. The result does not depend on the number of threads: seeds are handed out in order, and
/// a violation ends only the work on higher seeds.
fn plan_many(first: u64, count: u64) -> ExitCode {
    let last = first.saturating_add(count);
    let (next, end) = (AtomicU64::new(first), AtomicU64::new(last));
    let work = || {
        let (mut total, mut violated) = (PlansReport::default(), None);
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end.load(Ordering::Relaxed) {
                return (total, violated);
            }
            let report = simulate_plans(seed, PlanSabotage::None);
            if let Some(violation) = report.violations.first() {
                end.fetch_min(seed, Ordering::Relaxed);
                violated = Some((seed, violation.check));
            }
            total.add(&report);
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(N_THREADS_MAX);
    let results: Vec<(PlansReport, Option<(u64, &str)>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    if let Some((seed, check)) = results.iter().filter_map(|(_, violated)| *violated).min() {
        println!("seed {seed} violates a check; replay it with `cargo xtask sim plans --seed {seed}`:");
        println!("{}", describe_shrunk(seed, check, PlanSabotage::None).unwrap_or_default());
        return ExitCode::FAILURE;
    }
    let mut total = PlansReport::default();
    for (report, _) in &results {
        total.add(report);
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
