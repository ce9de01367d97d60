//! `cargo xtask cluster-demo`: several servers, one of which dies; the story is told by `crates/cluster-demo`.

use std::process::Command as Process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Outcome;
use crate::process::run;
use crate::tools;
use crate::workspace::{self, Metadata, Profile};

pub(crate) const COMMAND: Command = Command {
    name: "cluster-demo",
    about: "three servers and fifty agents; the driving server is killed and the deployment finishes",
    help: "\
Usage: cargo xtask cluster-demo [--agents N]

Builds `stoker`, starts a private PostgreSQL and a private NATS, three servers that share them, and an agent for each of
fifty nodes. Deploys, kills the server that drives the run in the middle of it, and shows that another one finishes it with
every task carried out exactly once. Everything is on loopback and gone at the end. Debian's `postgresql` and
`nats-server` are installed where they are missing.

  --agents N    how many nodes (default 50)
",
    run: |mut args: Args| {
        let n_agents = args.number("--agents")?;
        args.finish()?;
        play(n_agents)
    },
};

fn play(n_agents: Option<u64>) -> Outcome {
    tools::postgres::ensure()?;
    tools::nats::ensure()?;
    let root = workspace::root();
    let metadata = Metadata::load(&root)?;
    let stoker = metadata.build_stoker(&root, Profile::Dev)?;
    let demo = metadata.build_binary(&root, "stoker-cluster-demo", Profile::Dev)?;
    run(Process::new(demo).arg(stoker).args(n_agents.map(|n_agents| n_agents.to_string())))
}
