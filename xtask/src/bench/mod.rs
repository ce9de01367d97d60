//! `cargo xtask bench`: speed, measured in one command and held to its limits.

mod server;
mod yaql;

use std::path::PathBuf;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Failure;

pub(crate) const COMMAND: Command = Command {
    name: "bench",
    about: "measure the YAQL engine against the reference implementation, and the server",
    help: "\
Usage: cargo xtask bench [yaql|server] [--report-only] [FILE]

Builds in release mode, measures, prints Markdown tables and fails when a limit is missed. Without a name both.

  yaql             times every case of FILE with our engine and with the reference implementation and prints the
                   ratios; both take the least processor time of several rounds; results must be equal
  server           merged reads and rows written in process, requests a second and start-up of the real program
  FILE             cases as JSON: {\"docs\": {NAME: …}, \"cases\": [{\"name\", \"doc\", \"expr\"}, …]}
                   (default: the larger set beside the clone if there is one, else xtask/data/bench.json)
  --report-only    missed limits do not fail; different results still do
",
    run: |mut args: Args| {
        let report_only = args.flag("--report-only");
        let mut first = args.positional();
        let only = first.take_if(|word| matches!(word.as_str(), "yaql" | "server"));
        let file = first.or_else(|| args.positional()).map(PathBuf::from);
        args.finish()?;
        if only.as_deref() == Some("server") && file.is_some() {
            return Err(Failure::new("the server is measured without a file of cases"));
        }
        if only.as_deref() != Some("server") {
            yaql::run(file, report_only)?;
        }
        if only.as_deref() == Some("yaql") { Ok(()) } else { server::run(report_only) }
    },
};
