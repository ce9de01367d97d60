//! The largest fleet that one server must support, over real connections and with PostgreSQL: time until all
//! agents have joined, cost while idle, and throughput of the real graph.

mod generator;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_model::Json;
use stoker_testkit::PrivatePostgres;

use crate::real::Real;
use crate::row::{Limit, Row};
use crate::runs::{wait_for_end, wait_for_plan};
use crate::server::{Api as _, Process, Remote};
use crate::usage::{cpu_seconds, cpu_seconds_below, peak_mib, resident_mib};
use generator::Generator;

pub(crate) use generator::run as run_agents;

pub(crate) const USAGE: &str = "fleet STOKER-PATH [--agents N] [--database-url URL]";

const N_AGENTS: usize = 10_000;
const JOIN_SECONDS_MAX: f64 = 60.0;
/// Duration of the idle measurement: long enough for several heartbeats of each agent.
const QUIET: Duration = Duration::from_mins(1);
const QUIET_CORE_PERCENT_MAX: f64 = 25.0;
const INSTANCES_MIN: f64 = 3000.0;
const MEMORY_MIB_MAX: f64 = 2048.0;

pub(crate) struct Options {
    n_agents: usize,
    url: Option<String>,
}

impl Options {
    pub(crate) fn read(words: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { n_agents: N_AGENTS, url: None };
        for pair in words.chunks(2) {
            match pair {
                [name, value] if name == "--agents" => options.n_agents = value.parse()?,
                [name, value] if name == "--database-url" => options.url = Some(value.clone()),
                _ => return Err(format!("usage: stoker-bench {USAGE}").into()),
            }
        }
        Ok(options)
    }
}

pub(crate) async fn measure(program: &Path, options: Options) -> Result<Vec<Row>, Box<dyn Error>> {
    let Options { n_agents, url } = options;
    let real = Real::read()?;
    let own_postgres = url.is_none().then(PrivatePostgres::start_durable);
    let url = url.or_else(|| own_postgres.as_ref().map(PrivatePostgres::url)).unwrap_or_default();
    let server = Process::on_postgres(program, &url, &["--no-master-agent"]).await?;
    let fleet =
        Fleet { server: &server, remote: server.log_in().await?, database: own_postgres.as_ref(), n_agents };
    let token = fleet.remote.json("POST", "/api/v1/join_tokens", Some(&json!({"may_replace": true}))).await?;
    let token = token["token"].as_str().ok_or("no join token")?;
    let mut agents = Generator::start(&server.address, token, n_agents, &real.network_scheme()).await?;
    let joined = agents.wait_until_joined().await?;
    let mut rows = vec![Row::new(
        format!("until {n_agents} agents have joined"),
        joined,
        "s",
        Limit::AtMost(JOIN_SECONDS_MAX),
    )];
    fleet.print_usage(&agents, "joined");
    rows.push(fleet.quiet(&agents).await?);
    rows.extend(fleet.deploy(&real, &agents).await?);
    rows.push(Row::new(
        format!("peak memory of the server with {n_agents} agents"),
        peak_mib(server.id()?)?,
        "MiB",
        Limit::AtMost(MEMORY_MIB_MAX),
    ));
    let (n_done, n_lost) = agents.end().await?;
    eprintln!("the agents executed {n_done} tasks");
    rows.push(Row::new("connections lost", n_lost, "", Limit::AtMost(0.0)));
    Ok(rows)
}

struct Fleet<'f> {
    server: &'f Process,
    remote: Remote,
    database: Option<&'f PrivatePostgres>,
    n_agents: usize,
}

impl Fleet<'_> {
    /// Returns the CPU time so far: server, agents, and the database if it was started here.
    fn cpu_time(&self, agents: &Generator) -> Result<[f64; 3], Box<dyn Error>> {
        let database = self.database.map_or(Ok(0.0), |database| cpu_seconds_below(database.process_id()))?;
        Ok([cpu_seconds(self.server.id()?)?, cpu_seconds(agents.id()?)?, database])
    }

    /// Prints intermediate figures; unavailable ones are left out.
    fn print_usage(&self, agents: &Generator, label: &str) {
        let (Ok([server, fleet, database]), Ok(id)) = (self.cpu_time(agents), self.server.id()) else {
            return;
        };
        let (now, peak) = (resident_mib(id).unwrap_or_default(), peak_mib(id).unwrap_or_default());
        eprintln!(
            "{label}: server {server:.1} s and {now:.0} MiB (peak {peak:.0}), agents {fleet:.1} s, database {database:.1} s"
        );
    }

    /// Measures the cost of idle agents.
    async fn quiet(&self, agents: &Generator) -> Result<Row, Box<dyn Error>> {
        let (before, since) = (self.cpu_time(agents)?, Instant::now());
        tokio::time::sleep(QUIET).await;
        let (after, seconds) = (self.cpu_time(agents)?, since.elapsed().as_secs_f64());
        self.print_usage(agents, "quiet");
        Ok(Row::new(
            format!("of a core used by the server with {} idle agents", self.n_agents),
            100.0 * (after[0] - before[0]) / seconds,
            "%",
            Limit::AtMost(QUIET_CORE_PERCENT_MAX),
        ))
    }

    /// Deploys the real graph on all nodes.
    async fn deploy(&self, real: &Real, agents: &Generator) -> Result<Vec<Row>, Box<dyn Error>> {
        let file = tempfile::NamedTempFile::new()?;
        let cluster = real.make(&self.remote, self.n_agents, file.path()).await?;
        self.print_usage(agents, "cluster created");
        let body =
            json!({"cluster": cluster, "graphs": [{"type": "default"}], "nodes_at_once": self.n_agents + 1});
        let run = self.remote.create("/api/v1/graphs/execute", &body).await?;
        let since = Instant::now();
        wait_for_plan(&self.remote, run).await?;
        eprintln!("planned after {:.1} s", since.elapsed().as_secs_f64());
        self.print_usage(agents, "planned");
        let seconds = wait_for_end(&self.remote, run).await?.as_secs_f64();
        self.print_usage(agents, "deployed");
        let plan = self.remote.json("GET", "/api/v1/plans/1", None).await?;
        let (n_run, n_skip) = (number(&plan, "n_run")?, number(&plan, "n_skip")?);
        eprintln!("{n_run} instances were run, {n_skip} skipped, in {seconds:.1} s");
        Ok(vec![Row::new(
            format!("executed instances of the real graph on {} nodes", self.n_agents),
            n_run / seconds,
            "a second",
            Limit::AtLeast(INSTANCES_MIN),
        )])
    }
}

fn number(value: &Json, key: &str) -> Result<f64, Box<dyn Error>> {
    value[key].as_f64().ok_or_else(|| format!("a plan without `{key}`").into())
}
