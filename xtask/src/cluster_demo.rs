//! `cargo xtask cluster-demo`: builds and starts the demo of `crates/bench`, in which a server is killed
//! during a deployment. The demo is not part of xtask, because it needs the REST client and the test servers,
//! with which every `cargo xtask` would compile for minutes.

use std::process::Command as Process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Outcome;
use crate::process::run;
use crate::tools;
use crate::workspace::{self, Metadata, Profile};

pub(crate) const COMMAND: Command = Command {
    name: "cluster-demo",
    about: "run three servers and fifty agents and kill the driving server during a deployment",
    help: "\
Usage: cargo xtask cluster-demo [--agents N]

Builds `stoker` and starts a private PostgreSQL, a private NATS, three servers that share them, and one agent per node.
Starts a deployment, kills the server that drives it, and checks that another server finishes it with every task executed
exactly once. Everything listens on loopback and is deleted at the end. Installs Debian's `postgresql` and `nats-server`
if they are missing.

  --agents N    Number of nodes (default 50)
",
    run: |mut args: Args| {
        let n_agents = args.number("--agents")?;
        args.finish()?;
        run_demo(n_agents)
    },
};

fn run_demo(n_agents: Option<u64>) -> Outcome {
    tools::postgres::ensure()?;
    tools::nats::ensure()?;
    let root = workspace::root();
    let metadata = Metadata::load(&root)?;
    let stoker = metadata.build_stoker(&root, Profile::Dev)?;
    let demo = metadata.build_binary(&root, "stoker-cluster-demo", Profile::Dev)?;
    run(Process::new(demo).arg(stoker).args(n_agents.map(|n_agents| n_agents.to_string())))
}
