//! Demo of `cargo xtask cluster-demo`: three servers on one PostgreSQL and one NATS, fifty agents, a
//! deployment, and the death of the server that drives it.
//!
//! `stoker-cluster-demo STOKER-PATH [N-AGENTS]`. Everything runs on loopback and in a temporary directory, and
//! is removed at the end.

#![expect(clippy::print_stdout, reason = "a demo prints its progress")]
#![expect(clippy::disallowed_methods, reason = "reads arguments and clocks")]

mod group;
mod ledger;
mod process;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use group::Group;
use ledger::Ledger;
use stoker_store::Database;
use stoker_testkit::{TestDatabase, TestNats};
use work::Deployment;

/// Result with a human-readable error.
pub(crate) type Outcome<T = ()> = Result<T, String>;

const N_SERVERS: usize = 3;
const N_AGENTS: usize = 50;
/// Timeout of each phase, generous for slow machines.
const TIMEOUT: Duration = Duration::from_mins(5);

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next().map(PathBuf::from) else {
        eprintln!("Usage: stoker-cluster-demo STOKER-PATH [N-AGENTS]");
        return ExitCode::from(2);
    };
    let n_agents = words.next().and_then(|word| word.to_str()?.parse().ok()).unwrap_or(N_AGENTS);
    match run_demo(&program, n_agents) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("the demo failed: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run_demo(program: &std::path::Path, n_agents: usize) -> Outcome {
    let folder =
        tempfile::Builder::new().prefix("stoker-cluster-demo-").tempdir().map_err(|e| e.to_string())?;
    let folder = WorkFolder::new(folder);

    title("Shared database and bus");
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let database = runtime.block_on(TestDatabase::create()).ok_or("PostgreSQL is not available")?;
    let Database::Postgres { url: database_url } = database.database() else {
        return Err("no PostgreSQL".to_owned());
    };
    let nats = TestNats::start_open().ok_or("NATS is not available")?;
    println!("  PostgreSQL  {database_url}\n  NATS        {}", nats.url());

    title(&format!("{N_SERVERS} servers"));
    let mut group = Group::start(program, folder.path(), &database_url, &nats.url(), N_SERVERS)?;
    for server in group.servers() {
        println!("  {}  {}", server.name, server.url);
    }

    title(&format!("{n_agents} nodes, each with an agent that can connect to all servers"));
    let ledger = Ledger::new(folder.path());
    let deployment = Deployment::prepare(&group, &ledger, n_agents)?;
    let mut agents = deployment.start_agents(program, folder.path(), &group)?;
    deployment.await_agents(&group, TIMEOUT)?;
    println!("  all agents are connected");

    title("A deployment, started through one server and observed through another");
    let run = deployment.execute(&group.client(1))?;
    let n_instances = deployment.n_instances();
    watch(&group, &ledger, n_instances, n_instances / 3)?;

    let driver = group.driver_of(run)?;
    title(&format!("Kill the driver of the run, {} (SIGKILL)", group.servers()[driver].name));
    let n_before = ledger.n_lines()?;
    let killed_at = Instant::now();
    group.kill(driver);
    let successor = group.await_takeover(run, driver, TIMEOUT)?;
    println!(
        "  {} took over the run after {:.1} s, with {n_before} of {n_instances} task instances done",
        group.servers()[successor].name,
        killed_at.elapsed().as_secs_f64()
    );
    watch(&group, &ledger, n_instances, n_instances)?;
    let status = Deployment::await_end(&group, run, TIMEOUT)?;

    title("Result");
    println!("  run status `{status}`");
    ledger.check(&deployment.expected())?;
    println!("  {n_instances} task instances, each executed exactly once");
    let n_history = Deployment::n_in_history(&group, run)?;
    println!("  {n_history} of them `ready` in the history");
    if status != "ready" || n_history != n_instances {
        return Err("the run did not succeed".to_owned());
    }
    agents.clear();
    drop(group);
    database.drop_database();
    folder.remove();
    println!("\nTo set this up on your own hosts, see docs/several-servers.md");
    Ok(())
}

/// Prints the progress until `n_target` lines are written.
fn watch(group: &Group, ledger: &Ledger, n_all: usize, n_target: usize) -> Outcome {
    let started_at = Instant::now();
    let mut last_tenths = usize::MAX;
    loop {
        let n_done = ledger.n_lines()?;
        if n_done * 10 / n_all != last_tenths {
            last_tenths = n_done * 10 / n_all;
            println!("  [{:<20}] {n_done}/{n_all}", "#".repeat(n_done * 20 / n_all));
        }
        if n_done >= n_target {
            return Ok(());
        }
        if started_at.elapsed() > TIMEOUT {
            return Err(format!("{n_done} of {n_target} in {} s; see {}", TIMEOUT.as_secs(), group.logs()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn title(text: &str) {
    println!("\n{text}");
}

/// Temporary directory that is kept on failure, for inspection.
struct WorkFolder(Option<tempfile::TempDir>, PathBuf);

impl WorkFolder {
    fn new(folder: tempfile::TempDir) -> Self {
        let path = folder.path().to_owned();
        Self(Some(folder), path)
    }

    fn path(&self) -> &std::path::Path {
        &self.1
    }

    fn remove(mut self) {
        // Best effort: it is a temporary directory.
        _ = self.0.take().map(tempfile::TempDir::close);
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            println!("logs are in {}", folder.keep().display());
        }
    }
}
