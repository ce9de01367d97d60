//! `cargo xtask bench`: benchmarks with lower bounds.

mod program;
mod yaql;

use std::path::PathBuf;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Failure, Outcome};

pub(crate) const COMMAND: Command = Command {
    name: "bench",
    about: "benchmark YAQL against the reference, the planner, the engine, the server, the agent, writers, states, runs and a fleet",
    help: "\
Usage: cargo xtask bench [yaql|planner|engine|server|agent|writers|states|runs|fleet] [--report-only] [FILE]

Builds in release mode, measures, prints Markdown tables and fails if a result misses its bound. Without a name runs all
benchmarks.

  yaql             Time of every case of FILE in Stoker and in the reference implementation, and their ratio. Both take
                   the minimum processor time of several rounds; results must be equal
  planner          Plans of 100, 1,000 and 10,000 nodes with no, some or all settings changed; needs ../shared/data
  engine           No-op instances through runs, sessions and agents in memory
  server           Merged reads and row inserts in process; requests per second and start-up time of the program
  agent            Processes per second: started directly, as tasks, and by an agent with its journal
  writers          50 concurrent writers of one PostgreSQL database, compared with one writer and with 50 writers of one
                   database each, which do not share the writer lock
  states           Growth of the database over 1,000 runs with few changes, and the cost of marking attempts
  runs             Instances per second through the database, with agents in memory and with real ones, compared with
                   ansible-core; a run of the real graph compared with its critical path; ten thousand agents connected
                   to one server (needs as many open files)
  fleet            A fleet at one server with PostgreSQL: time until all agents have joined, idle cost, and a run of the
                   real graph on all of them; needs ../shared/data, PostgreSQL and as many open files
  --agents N       Number of agents of the fleet (default 10,000)
  --database-url URL
                   Empty PostgreSQL database for the fleet (default: a private server, stopped at the end)
  FILE             Cases as JSON: {\"docs\": {NAME: …}, \"cases\": [{\"name\", \"doc\", \"expr\"}, …]}
                   (default: ../shared/data/yaql/bench.json if it exists, else xtask/data/bench.json)
  --report-only    Do not fail on missed bounds; different results still fail
",
    run: |mut args: Args| {
        let report_only = args.flag("--report-only");
        let fleet = fleet_options(&mut args)?;
        let mut first = args.positional();
        let is_known = |word: &str| word == "yaql" || program::MEASURED.iter().any(|(what, _)| *what == word);
        let only = first.take_if(|word| is_known(word));
        let file = first.or_else(|| args.positional()).map(PathBuf::from);
        args.finish()?;
        let is_selected = |name: &str| only.as_deref().is_none_or(|only| only == name);
        if file.is_some() && !is_selected("yaql") {
            return Err(Failure::new("only the benchmark `yaql` takes a file"));
        }
        if !fleet.is_empty() && only.as_deref() != Some(program::FLEET) {
            return Err(Failure::new("only the benchmark `fleet` takes `--agents` and `--database-url`"));
        }
        if is_selected("yaql") {
            yaql::run(file, report_only)?;
        }
        for (what, needs_stoker) in program::MEASURED {
            if is_selected(what) {
                let options = if *what == program::FLEET { fleet.as_slice() } else { &[] };
                program::run(what, *needs_stoker, options, report_only)?;
            }
        }
        Ok(())
    },
};

/// Returns the options of the benchmark `fleet`.
fn fleet_options(args: &mut Args) -> Outcome<Vec<String>> {
    let mut options = Vec::new();
    if let Some(n_agents) = args.number("--agents")? {
        options.extend(["--agents".to_owned(), n_agents.to_string()]);
    }
    if let Some(url) = args.option("--database-url")? {
        options.extend(["--database-url".to_owned(), url]);
    }
    Ok(options)
}
