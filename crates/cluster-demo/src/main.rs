//! The story of `cargo xtask cluster-demo`: three servers on one PostgreSQL and one NATS, fifty agents, a deployment,
//! and the death of the server that drives it.
//!
//! `stoker-cluster-demo PATH-OF-STOKER [N-AGENTS]`. Everything is on loopback and in a temporary folder, and goes with
//! the program.

#![expect(clippy::print_stdout, reason = "it tells a story")]
#![expect(clippy::disallowed_methods, reason = "arguments and clocks are read here and nowhere else")]

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

/// What went wrong, in words.
pub(crate) type Outcome<T = ()> = Result<T, String>;

const N_SERVERS: usize = 3;
const N_AGENTS: usize = 50;
/// Longer than the deployment takes on however slow a machine.
const PATIENCE: Duration = Duration::from_mins(5);

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next().map(PathBuf::from) else {
        eprintln!("Usage: stoker-cluster-demo PATH-OF-STOKER [N-AGENTS]");
        return ExitCode::from(2);
    };
    let n_agents = words.next().and_then(|word| word.to_str()?.parse().ok()).unwrap_or(N_AGENTS);
    match play(&program, n_agents) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("the demo failed: {why}");
            ExitCode::FAILURE
        }
    }
}

fn play(program: &std::path::Path, n_agents: usize) -> Outcome {
    let folder =
        tempfile::Builder::new().prefix("stoker-cluster-demo-").tempdir().map_err(|e| e.to_string())?;
    let folder = Kept::new(folder);

    title("A database and a bus that all servers share");
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let database = runtime.block_on(TestDatabase::create()).ok_or("tests of PostgreSQL are left out")?;
    let Database::Postgres { url: database_url } = database.database() else {
        return Err("no PostgreSQL".to_owned());
    };
    let nats = TestNats::open().ok_or("tests of NATS are left out")?;
    println!("  PostgreSQL  {database_url}\n  NATS        {}", nats.url());

    title(&format!("{N_SERVERS} servers"));
    let mut group = Group::start(program, folder.path(), &database_url, &nats.url(), N_SERVERS)?;
    for server in group.servers() {
        println!("  {}  {}", server.name, server.url);
    }

    title(&format!("{n_agents} nodes, each with an agent that knows all servers"));
    let ledger = Ledger::new(folder.path());
    let deployment = Deployment::prepare(&group, &ledger, n_agents)?;
    let mut agents = deployment.start_agents(program, folder.path(), &group)?;
    deployment.await_agents(&group, PATIENCE)?;
    println!("  all of them are there");

    title("A deployment, asked for at one server and watched at another");
    let run = deployment.execute(&group.client(1))?;
    let n_instances = deployment.n_instances();
    watch(&group, &ledger, n_instances, n_instances / 3)?;

    let driver = group.driver_of(run)?;
    title(&format!("{} drives the run, and is killed (SIGKILL)", group.servers()[driver].name));
    let n_before = ledger.n_lines()?;
    let killed_at = Instant::now();
    group.kill(driver);
    let heir = group.await_heir(run, driver, PATIENCE)?;
    println!(
        "  {} took the run over after {:.1} s, with {n_before} of {n_instances} task instances done",
        group.servers()[heir].name,
        killed_at.elapsed().as_secs_f64()
    );
    watch(&group, &ledger, n_instances, n_instances)?;
    let status = Deployment::await_end(&group, run, PATIENCE)?;

    title("What came of it");
    println!("  the run ended as `{status}`");
    ledger.judge(&deployment.expected())?;
    println!("  {n_instances} task instances, each carried out exactly once");
    let n_history = Deployment::n_in_history(&group, run)?;
    println!("  {n_history} of them in the history as `ready`");
    if status != "ready" || n_history != n_instances {
        return Err("the run did not end as it should".to_owned());
    }
    agents.clear();
    drop(group);
    database.remove();
    folder.remove();
    println!("\nHow to do the same on machines of your own: docs/several-servers.md");
    Ok(())
}

/// Shows the progress until so many lines are written.
fn watch(group: &Group, ledger: &Ledger, n_all: usize, n_wanted: usize) -> Outcome {
    let began = Instant::now();
    let mut shown = usize::MAX;
    loop {
        let n_done = ledger.n_lines()?;
        if n_done * 10 / n_all != shown {
            shown = n_done * 10 / n_all;
            println!("  [{:<20}] {n_done}/{n_all}", "#".repeat(n_done * 20 / n_all));
        }
        if n_done >= n_wanted {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{n_done} of {n_wanted} in {} s; see {}", PATIENCE.as_secs(), group.logs()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn title(text: &str) {
    println!("\n{text}");
}

/// A folder that stays where something went wrong, so that somebody can look at it.
struct Kept(Option<tempfile::TempDir>, PathBuf);

impl Kept {
    fn new(folder: tempfile::TempDir) -> Self {
        let path = folder.path().to_owned();
        Self(Some(folder), path)
    }

    fn path(&self) -> &std::path::Path {
        &self.1
    }

    fn remove(mut self) {
        // What cannot be removed is a temporary folder.
        _ = self.0.take().map(tempfile::TempDir::close);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            println!("what the processes wrote is in {}", folder.keep().display());
        }
    }
}
