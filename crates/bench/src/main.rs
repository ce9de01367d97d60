//! Benchmarks of the planner, the engine, the server and the agent, with limits: `cargo xtask bench` runs
//! this in release mode.
//!
//! Prints Markdown tables to standard output. Exits with 1 if a limit is missed.

#![expect(clippy::print_stdout, reason = "a developer tool prints to standard output")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod agent;
mod engine;
mod fleet;
mod graph;
mod http;
mod idle;
mod line;
mod load;
mod merged;
mod planner;
mod real;
mod row;
mod runs;
mod server;
mod states;
mod usage;
mod writers;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use row::Row;

/// Same allocator as the real program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(rows) => {
            let missed: Vec<&Row> = rows.iter().filter(|row| !row.is_met()).collect();
            for row in &missed {
                eprintln!("missed: {}", row.label);
            }
            if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<Vec<Row>, Box<dyn Error>> {
    let rows = match words {
        [what, program] if what == "server" => server_rows(Path::new(program))?,
        [what] if what == "planner" => {
            let (table, rows) = planner::measure()?;
            println!("{table}");
            rows
        }
        [what, case @ ..] if what == "planner-case" => {
            println!("{}", planner::run_case(case)?);
            return Ok(Vec::new());
        }
        [what] if what == "engine" => engine::measure()?,
        [what] if what == "agent" => agent::measure()?,
        [what] if what == "writers" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(writers::measure())?
        }
        [what] if what == "states" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(states::measure())?
        }
        [what, program, playbook @ ..] if what == "runs" && playbook.len() < 2 => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(runs::measure(Path::new(program), playbook.first().map(Path::new)))?
        }
        [what, program, options @ ..] if what == "fleet" => {
            let options = fleet::Options::read(options)?;
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(fleet::measure(Path::new(program), options))?
        }
        [what, agents @ ..] if what == "fleet-agents" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(fleet::run_agents(agents))?;
            return Ok(Vec::new());
        }
        _ => {
            let usage = "server STOKER-PATH, runs STOKER-PATH [ANSIBLE-PLAYBOOK-PATH], or planner, engine, agent, writers, states";
            return Err(format!("usage: stoker-bench {usage}, or {}", fleet::USAGE).into());
        }
    };
    println!("{}", row::table(&rows));
    Ok(rows)
}

fn server_rows(program: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut rows = runtime.block_on(merged::measure())?;
    rows.extend(runtime.block_on(load::measure(program))?);
    Ok(rows)
}
