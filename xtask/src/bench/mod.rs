//! `cargo xtask bench`: speed, measured in one command and held to its limits.

mod program;
mod yaql;

use std::path::PathBuf;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Failure, Outcome};

pub(crate) const COMMAND: Command = Command {
    name: "bench",
    about: "measure the YAQL engine against the reference implementation, the planner, the engine, the server, the \
            agent, runs and a fleet",
    help: "\
Usage: cargo xtask bench [yaql|planner|engine|server|agent|runs|fleet] [--report-only] [FILE]

Builds in release mode, measures, prints Markdown tables and fails when a limit is missed. Without a name all.

  yaql             times every case of FILE with our engine and with the reference implementation and prints the
                   ratios; both take the least processor time of several rounds; results must be equal
  planner          plans of 100, 1,000 and 10,000 nodes after nothing, something or everything has changed; needs the
                   real graph and cluster beside the clone
  engine           instances that do nothing through runs, sessions and agents in memory
  server           merged reads and rows written in process, requests a second and start-up of the real program
  agent            programs started a second: by the machine, as tasks, and by an agent with its journal
  runs             instances a second with everything in the database, with agents in memory and with real ones, which
                   ansible-core is measured beside; a run of the real graph beside the best that is possible; ten
                   thousand agents connected to one server (needs as many open files)
  fleet            agents of a whole fleet at one server with PostgreSQL: until all have joined, what they cost while
                   nothing happens, and the real graph on all of them; needs the real graph beside the clone,
                   PostgreSQL and as many open files
  --agents N       how many agents the fleet has (default: 10,000)
  --database-url URL
                   an empty PostgreSQL for the fleet (default: one of its own, stopped at the end)
  FILE             cases as JSON: {\"docs\": {NAME: …}, \"cases\": [{\"name\", \"doc\", \"expr\"}, …]}
                   (default: the larger set beside the clone if there is one, else xtask/data/bench.json)
  --report-only    missed limits do not fail; different results still do
",
    run: |mut args: Args| {
        let report_only = args.flag("--report-only");
        let fleet = fleet_options(&mut args)?;
        let mut first = args.positional();
        let is_known = |word: &str| word == "yaql" || program::MEASURED.iter().any(|(what, _)| *what == word);
        let only = first.take_if(|word| is_known(word));
        let file = first.or_else(|| args.positional()).map(PathBuf::from);
        args.finish()?;
        let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
        if file.is_some() && !is_wanted("yaql") {
            return Err(Failure::new("only `yaql` is measured with a file of cases"));
        }
        if !fleet.is_empty() && only.as_deref() != Some(program::FLEET) {
            return Err(Failure::new("only `fleet` has a number of agents and a database"));
        }
        if is_wanted("yaql") {
            yaql::run(file, report_only)?;
        }
        for (what, needs_stoker) in program::MEASURED {
            if is_wanted(what) {
                let options = if *what == program::FLEET { fleet.as_slice() } else { &[] };
                program::run(what, *needs_stoker, options, report_only)?;
            }
        }
        Ok(())
    },
};

/// What is handed on to the measuring of a fleet.
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
