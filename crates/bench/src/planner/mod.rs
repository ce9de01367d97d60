//! Planning time and memory for large fleets.
//!
//! Each fleet size and history is measured in a separate process, interleaved over several rounds, so that
//! load from other processes does not affect a single case. Planning is multi-threaded, so wall time is
//! normally below CPU time. If it is above, the machine was busy, and the CPU time is checked against the
//! limit.

mod case;
mod fleet;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::Command;

use stoker_model::Json;

use crate::row::{Limit, Row};
use case::Past;

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const MIDDLE: usize = SIZES[1];
const LARGE: usize = SIZES[2];
/// Number of plans per case in each of several rounds.
const N_ROUNDS: usize = 5;
const N_INTERLEAVED: usize = 3;

/// Result for a fleet size and history.
struct Measured {
    n_nodes: usize,
    past: Past,
    /// Median of all rounds.
    seconds: f64,
    /// CPU time of all threads.
    cpu_seconds: f64,
    /// Time to compute the reasons of the whole plan.
    explained_seconds: f64,
    result: Json,
}

pub(crate) const USAGE: &str = "planner-case NODES PAST ROUNDS";

/// Runs a child process.
pub(crate) fn run_case(words: &[String]) -> Result<String, Box<dyn Error>> {
    let [n_nodes, past, n_rounds] = words else { return Err(USAGE.into()) };
    let past = Past::ALL.into_iter().find(|candidate| candidate.as_str() == past).ok_or(USAGE)?;
    Ok(case::run(n_nodes.parse()?, past, n_rounds.parse()?)?.to_string())
}

/// Returns the result table and the checked limits.
pub(crate) fn measure() -> Result<(String, Vec<Row>), Box<dyn Error>> {
    let mut rounds: BTreeMap<(usize, usize), Vec<Json>> = BTreeMap::new();
    for _ in 0..N_INTERLEAVED {
        for (size_idx, n_nodes) in SIZES.iter().enumerate() {
            for (past_idx, past) in Past::ALL.iter().enumerate() {
                rounds.entry((size_idx, past_idx)).or_default().push(run_round(*n_nodes, *past)?);
            }
        }
    }
    let measured: Vec<Measured> = rounds
        .into_iter()
        .map(|((size_idx, past_idx), mut rounds)| {
            let number = |round: &Json, key: &str| round[key].as_f64().unwrap_or(f64::INFINITY);
            let median = |key: &str| {
                let mut all: Vec<f64> = rounds.iter().map(|round| number(round, key)).collect();
                all.sort_by(f64::total_cmp);
                all[all.len() / 2]
            };
            let cpu_seconds = median("cpu_seconds");
            let seconds = median("seconds").min(cpu_seconds);
            let explained_seconds = median("explained_seconds").min(median("explained_cpu_seconds"));
            let (n_nodes, past) = (SIZES[size_idx], Past::ALL[past_idx]);
            let result = rounds.swap_remove(0);
            Measured { n_nodes, past, seconds, cpu_seconds, explained_seconds, result }
        })
        .collect();
    Ok((table(&measured), limits(&measured)))
}

fn run_round(n_nodes: usize, past: Past) -> Result<Json, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let rounds = N_ROUNDS.to_string();
    let output = Command::new(program)
        .args(["planner-case", &n_nodes.to_string(), past.as_str(), &rounds])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{n_nodes} nodes, {}: {}", past.as_str(), output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn find(measured: &[Measured], n_nodes: usize, past: Past) -> Option<&Measured> {
    measured.iter().find(|case| case.n_nodes == n_nodes && case.past == past)
}

fn table(measured: &[Measured]) -> String {
    let mut text = String::from(
        "| nodes | past | instances | run | edges kept | evaluations | seconds | worked | nodes/s | to 1,000 nodes | \
         state | peak | reasons |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for case in measured {
        let Measured { n_nodes, past, seconds, cpu_seconds, explained_seconds, result } = case;
        let ratio = find(measured, MIDDLE, *past).map_or(f64::NAN, |middle| seconds / middle.seconds);
        let _ = writeln!(
            text,
            "| {n_nodes} | {} | {} | {} | {} | {} | {seconds:.4} | {cpu_seconds:.4} | {:.0} | {ratio:.2}x | {} MiB | {} MiB | \
             {} in {explained_seconds:.2} s |",
            past.as_str(),
            result["instances"],
            result["run"],
            result["edges"],
            result["evaluations"],
            *n_nodes as f64 / seconds,
            result["before_mib"],
            result["peak_mib"],
            result["reasons"],
        );
    }
    text
}

/// Returns the limits for every history.
fn limits(measured: &[Measured]) -> Vec<Row> {
    let mut rows = Vec::new();
    for past in Past::ALL {
        let name = past.as_str();
        let (Some(middle), Some(large)) = (find(measured, MIDDLE, past), find(measured, LARGE, past)) else {
            continue;
        };
        rows.push(Row::new(format!("{MIDDLE} nodes, {name}"), middle.seconds, "s", Limit::AtMost(0.2)));
        rows.push(Row::new(format!("{LARGE} nodes, {name}"), large.seconds, "s", Limit::AtMost(2.0)));
        let growth = large.seconds / middle.seconds;
        rows.push(Row::new(
            format!("{name}: time ratio of {LARGE} to {MIDDLE} nodes"),
            growth,
            "x",
            Limit::AtMost(12.0),
        ));
        let peak = large.result["peak_mib"].as_f64().unwrap_or(f64::INFINITY);
        rows.push(Row::new(format!("{LARGE} nodes, {name}, peak"), peak, "MiB", Limit::AtMost(1536.0)));
        let growth = large.explained_seconds / middle.explained_seconds;
        let label = format!("{name}: time ratio of {LARGE} to {MIDDLE} nodes, with reasons");
        rows.push(Row::new(label, growth, "x", Limit::AtMost(12.0)));
    }
    for n_nodes in [MIDDLE, LARGE] {
        let seconds = |past: Past| find(measured, n_nodes, past).map_or(f64::NAN, |case| case.cpu_seconds);
        let ratio = seconds(Past::OneSetting) / seconds(Past::None);
        let label = format!("{n_nodes} nodes: CPU time ratio of one changed setting to a first run");
        rows.push(Row::new(label, ratio, "x", Limit::AtMost(1.05)));
    }
    rows
}
