//! Plays seeds: `stoker-sim FIRST COUNT`, or `stoker-sim --tell SEED` for one of them with everything that happens.

#![expect(clippy::print_stdout, reason = "a tool for developers talks on standard output")]

use std::process::ExitCode;

use stoker_sim::{Sabotage, Story, simulate, tell};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    match (arguments.first().map(String::as_str), numbers.as_slice()) {
        (Some("--tell"), [seed]) => one(*seed),
        (_, [first, count]) => many(*first, *count),
        _ => {
            eprintln!("usage: stoker-sim FIRST COUNT | stoker-sim --tell SEED");
            ExitCode::from(2)
        }
    }
}

fn one(seed: u64) -> ExitCode {
    let story = tell(seed);
    for line in &story.log {
        println!("{line}");
    }
    verdict(seed, &story)
}

fn many(first: u64, count: u64) -> ExitCode {
    let (mut n_steps, mut n_events, mut n_executions, mut n_crashes) = (0, 0, 0, 0);
    for seed in first..first.saturating_add(count) {
        let story = simulate(seed, Sabotage::None);
        if !story.broken.is_empty() {
            return verdict(seed, &story);
        }
        n_steps += story.n_steps;
        n_events += story.n_events;
        n_executions += story.n_executions;
        n_crashes += story.n_server_crashes + story.n_agent_crashes;
    }
    println!(
        "{count} seeds from {first}: {n_steps} steps, {n_events} events, {n_executions} processes, {n_crashes} crashes; \
         no rule was broken"
    );
    ExitCode::SUCCESS
}

fn verdict(seed: u64, story: &Story) -> ExitCode {
    if story.broken.is_empty() {
        println!("seed {seed}: no rule was broken");
        return ExitCode::SUCCESS;
    }
    println!("seed {seed} breaks rules; see it happen with `cargo xtask sim --seed {seed}`:");
    for broken in &story.broken {
        println!("  {broken}");
    }
    ExitCode::FAILURE
}
