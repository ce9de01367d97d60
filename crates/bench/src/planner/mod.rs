//! How long plans of large fleets take, and what they weigh.
//!
//! Every size and every past is measured in a process of its own, in turns, so that a busy moment of the machine does
//! not fall on one of them alone. Planning uses several threads, so on a machine with nothing else to do it takes less
//! time than it works. Where it takes longer than it works, others were busy, and its work is what is held to a limit.

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
/// How often each case is planned, in each of several turns.
const N_ROUNDS: usize = 5;
const N_TURNS: usize = 3;

/// What was found out about a size and a past.
struct Measured {
    n_nodes: usize,
    past: Past,
    /// Of all turns the median one.
    seconds: f64,
    /// What all threads worked together.
    cpu_seconds: f64,
    /// For the reasons of the whole plan.
    explained_seconds: f64,
    found: Json,
}

pub(crate) const USAGE: &str = "planner-case NODES PAST ROUNDS";

/// What the processes do that this one starts.
pub(crate) fn run_case(words: &[String]) -> Result<String, Box<dyn Error>> {
    let [n_nodes, past, n_rounds] = words else { return Err(USAGE.into()) };
    let past = Past::ALL.into_iter().find(|known| known.as_str() == past).ok_or(USAGE)?;
    Ok(case::run(n_nodes.parse()?, past, n_rounds.parse()?)?.to_string())
}

/// The table, and what it is held to.
pub(crate) fn measure() -> Result<(String, Vec<Row>), Box<dyn Error>> {
    let mut turns: BTreeMap<(usize, usize), Vec<Json>> = BTreeMap::new();
    for _ in 0..N_TURNS {
        for (size_idx, n_nodes) in SIZES.iter().enumerate() {
            for (past_idx, past) in Past::ALL.iter().enumerate() {
                turns.entry((size_idx, past_idx)).or_default().push(one_turn(*n_nodes, *past)?);
            }
        }
    }
    let measured: Vec<Measured> = turns
        .into_iter()
        .map(|((size_idx, past_idx), mut turns)| {
            let number = |turn: &Json, key: &str| turn[key].as_f64().unwrap_or(f64::INFINITY);
            let median = |key: &str| {
                let mut all: Vec<f64> = turns.iter().map(|turn| number(turn, key)).collect();
                all.sort_by(f64::total_cmp);
                all[all.len() / 2]
            };
            let cpu_seconds = median("cpu_seconds");
            let seconds = median("seconds").min(cpu_seconds);
            let explained_seconds = median("explained_seconds").min(median("explained_cpu_seconds"));
            let (n_nodes, past) = (SIZES[size_idx], Past::ALL[past_idx]);
            let found = turns.swap_remove(0);
            Measured { n_nodes, past, seconds, cpu_seconds, explained_seconds, found }
        })
        .collect();
    Ok((table(&measured), limits(&measured)))
}

fn one_turn(n_nodes: usize, past: Past) -> Result<Json, Box<dyn Error>> {
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
        let Measured { n_nodes, past, seconds, cpu_seconds, explained_seconds, found } = case;
        let ratio = find(measured, MIDDLE, *past).map_or(f64::NAN, |middle| seconds / middle.seconds);
        let _ = writeln!(
            text,
            "| {n_nodes} | {} | {} | {} | {} | {} | {seconds:.4} | {cpu_seconds:.4} | {:.0} | {ratio:.2}x | {} MiB | {} MiB | \
             {} in {explained_seconds:.2} s |",
            past.as_str(),
            found["instances"],
            found["run"],
            found["edges"],
            found["evaluations"],
            *n_nodes as f64 / seconds,
            found["before_mib"],
            found["peak_mib"],
            found["reasons"],
        );
    }
    text
}

/// What must hold, whichever the past.
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
        rows.push(Row::new(format!("{LARGE} nodes to {MIDDLE}, {name}"), growth, "x", Limit::AtMost(12.0)));
        let peak = large.found["peak_mib"].as_f64().unwrap_or(f64::INFINITY);
        rows.push(Row::new(format!("{LARGE} nodes, {name}, peak"), peak, "MiB", Limit::AtMost(1536.0)));
        let growth = large.explained_seconds / middle.explained_seconds;
        let what = format!("reasons of {LARGE} nodes to {MIDDLE}, {name}");
        rows.push(Row::new(what, growth, "x", Limit::AtMost(12.0)));
    }
    for n_nodes in [MIDDLE, LARGE] {
        let seconds = |past: Past| find(measured, n_nodes, past).map_or(f64::NAN, |case| case.cpu_seconds);
        let ratio = seconds(Past::OneSetting) / seconds(Past::None);
        let what = format!("{n_nodes} nodes, one setting changed to first run");
        rows.push(Row::new(what, ratio, "x", Limit::AtMost(1.05)));
    }
    rows
}
