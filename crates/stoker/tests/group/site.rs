//! Fixture: servers that share a PostgreSQL, three nodes, and an agent for each.

use std::fs::OpenOptions;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use stoker_model::{RunExecution, RunId};
use stoker_store::{Database, Store};
use stoker_testkit::{TempFolder, TestDatabase};

use crate::client::{Client, PASSWORD};
use crate::network_namespace::NetworkNamespace;

/// Upper bound of every wait, with a margin for a busy machine.
pub(crate) const LONG: Duration = Duration::from_mins(3);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
pub(crate) const N_NODES: usize = 3;

/// Polls until `poll` returns a value; panics after [`LONG`].
#[track_caller]
pub(crate) fn until<T>(condition: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < deadline, "timed out waiting until {condition}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A child process that logs to a file; killed on drop.
pub(crate) struct Daemon {
    child: Child,
}

impl Daemon {
    fn start(mut command: Command, log: &Path) -> Self {
        let log = OpenOptions::new().create(true).append(true).open(log).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Self { child }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    fn stop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) struct Site {
    /// Data directory; kept on disk for inspection if a test fails.
    folder: Option<TempFolder>,
    database: Database,
    options: Vec<String>,
    /// Addresses of the servers.
    pub(crate) servers: Vec<String>,
    daemons: Vec<Option<Daemon>>,
    /// Additional options of agents that are started later.
    pub(crate) agent_options: Vec<String>,
    /// Command prefix of agents.
    agent_prefix: Vec<String>,
    agents: Vec<Daemon>,
    pub(crate) client: Client,
    pub(crate) cluster: i64,
    pub(crate) nodes: Vec<i64>,
    runtime: tokio::runtime::Runtime,
    store: Store,
    shared: Option<TestDatabase>,
}

impl Site {
    /// Starts servers on a new database; `None` if PostgreSQL tests are skipped.
    pub(crate) fn new(n_servers: usize, options: &[&str]) -> Option<Self> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let shared = runtime.block_on(TestDatabase::create())?;
        let mut site = Self::on(shared.database(), n_servers, options);
        site.shared = Some(shared);
        Some(site)
    }

    /// Starts two servers outside a network namespace; agents run inside.
    pub(crate) fn in_namespace(namespace: &NetworkNamespace, options: &[&str]) -> Option<Self> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let shared = runtime.block_on(TestDatabase::create())?;
        let mut site = Self::at(namespace.outer_address, shared.database(), 2, options);
        site.agent_prefix = namespace.prefix();
        site.shared = Some(shared);
        Some(site)
    }

    /// Starts all servers concurrently.
    pub(crate) fn on(database: Database, n_servers: usize, options: &[&str]) -> Self {
        Self::at(Ipv4Addr::LOCALHOST, database, n_servers, options)
    }

    fn at(host: Ipv4Addr, database: Database, n_servers: usize, options: &[&str]) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let folder = TempFolder::new();
        let servers: Vec<String> = (0..n_servers).map(|_| free_address(host)).collect();
        let options: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
        let start = |idx: usize| start_server(&folder, &database, &servers[idx], idx, &options);
        let daemons: Vec<Option<Daemon>> = (0..n_servers).map(|idx| Some(start(idx))).collect();
        for address in &servers {
            await_server(address);
        }
        let store = runtime.block_on(Store::open(&database)).unwrap();
        let client = Client::log_in(&servers[0]);
        let cluster = create_cluster(&client, &servers[0]);
        let nodes = create_nodes(&client, &servers[0], cluster);
        let (folder, agents, shared) = (Some(folder), Vec::new(), None);
        Self {
            folder,
            database,
            options,
            servers,
            daemons,
            agent_options: Vec::new(),
            agent_prefix: Vec::new(),
            agents,
            client,
            cluster,
            nodes,
            runtime,
            store,
            shared,
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.as_ref().unwrap().file(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Starts the agent of the next node with the addresses of these servers.
    pub(crate) fn start_agent(&mut self, servers: &[usize]) {
        let idx = self.agents.len();
        let daemon = self.agent(idx, servers);
        self.agents.push(daemon);
    }

    /// Starts an agent that was killed, with the state that it had.
    pub(crate) fn restart_agent(&mut self, idx: usize, servers: &[usize]) {
        self.agents[idx] = self.agent(idx, servers);
        let path = format!("/api/v1/nodes/{}", self.nodes[idx]);
        until("the node is online", || (self.get(0, &path)?["online"] == true).then_some(()));
    }

    pub(crate) fn kill_agent(&mut self, idx: usize) {
        self.agents[idx].stop();
    }

    /// Starts the agent of a node and waits until it is connected.
    fn agent(&self, idx: usize, servers: &[usize]) -> Daemon {
        let body = json!({"may_replace": true});
        let token = self.post(0, 201, "/api/v1/join_tokens", &body)["token"].as_str().unwrap().to_owned();
        let mut args = self.agent_prefix.iter().map(String::as_str).chain([env!("CARGO_BIN_EXE_stoker")]);
        let mut command = Command::new(args.next().unwrap());
        command.args(args).arg("agent");
        for server in servers {
            command.args(["--server", &format!("http://{}", self.servers[*server])]);
        }
        command.args(["--node", &self.nodes[idx].to_string()]);
        command.arg("--state").arg(self.file(&format!("agent-{idx}"))).args(&self.agent_options);
        command.env("STOKER_LOG", "info,stoker_agent=debug").env("STOKER_JOIN_TOKEN", token);
        let daemon = Daemon::start(command, &self.file(&format!("agent-{idx}.log")));
        let uid = self.nodes[idx].to_string();
        until("the agent is connected", || self.is_connected(0, &uid).then_some(()));
        daemon
    }

    /// Kills all agents and deletes their state.
    pub(crate) fn lose_agents(&mut self) {
        for idx in 0..self.agents.len() {
            self.agents[idx].stop();
            std::fs::remove_dir_all(self.file(&format!("agent-{idx}"))).unwrap();
        }
        self.agents.clear();
    }

    pub(crate) fn is_connected(&self, server: usize, uid: &str) -> bool {
        let agents = self.get(server, "/api/v1/agents").unwrap_or_default();
        let mut agents = agents.as_array().into_iter().flatten();
        agents.any(|agent| agent["uid"] == uid && agent["is_connected"] == true)
    }

    pub(crate) fn kill_server(&mut self, idx: usize) {
        self.daemons[idx].take().unwrap().stop();
    }

    /// Sends SIGTERM, as a service manager does, and waits for the exit.
    pub(crate) fn terminate_server(&mut self, idx: usize) {
        let mut daemon = self.daemons[idx].take().unwrap();
        daemon.signal(Signal::SIGTERM);
        assert!(daemon.child.wait().unwrap().success());
    }

    pub(crate) fn signal_server(&self, idx: usize, signal: Signal) {
        self.daemons[idx].as_ref().unwrap().signal(signal);
    }

    /// Restarts a server at the same address and waits until it responds.
    pub(crate) fn start_server(&mut self, idx: usize) {
        let folder = self.folder.as_ref().unwrap();
        let daemon = start_server(folder, &self.database, &self.servers[idx], idx, &self.options);
        self.daemons[idx] = Some(daemon);
        await_server(&self.servers[idx]);
    }

    /// Returns the index of the server that holds the lease of a child run.
    pub(crate) fn driver(&self, child: i64) -> Option<usize> {
        let (work, members) = self.runtime.block_on(async {
            let mut session = self.store.read().await.ok()?;
            Some((session.run_work(RunId(child)).await.ok()??, session.servers().await.ok()?))
        })?;
        let RunExecution { owner, lease_until, .. } = work;
        let owner = owner.filter(|_| lease_until.is_some())?;
        let member = members.into_iter().find(|member| member.id == owner)?;
        self.servers.iter().position(|address| *address == member.address)
    }

    /// Returns the lease generation of a child run, which counts takeovers.
    pub(crate) fn generation(&self, child: i64) -> i64 {
        let work =
            self.runtime.block_on(async { self.store.read().await.unwrap().run_work(RunId(child)).await });
        work.unwrap().unwrap().lease_generation
    }

    /// Returns `None` if the server is unavailable or rejects the request.
    pub(crate) fn get(&self, server: usize, path: &str) -> Option<Value> {
        let (status, response) = self.client.call(&self.servers[server], "GET", path, None).ok()?;
        (status == 200).then_some(response)
    }

    #[track_caller]
    pub(crate) fn post(&self, server: usize, status: u16, path: &str, body: &Value) -> Value {
        self.client.expect(status, &self.servers[server], "POST", path, Some(body))
    }

    pub(crate) fn upload(&self, tasks: &Value) {
        let path = format!("/api/v1/clusters/{}/deployment_tasks/?graph_type=default", self.cluster);
        self.client.expect(200, &self.servers[0], "PUT", &path, Some(tasks));
    }

    /// Starts a run through one server; returns the run and its child run.
    pub(crate) fn execute(&self, server: usize) -> (i64, i64) {
        let body = json!({"cluster": self.cluster, "graphs": [{"type": "default"}]});
        let run = self.post(server, 202, "/api/v1/graphs/execute", &body)["id"].as_i64().unwrap();
        let child = until("the run has a child run", || {
            let runs = self.get(server, "/api/v1/transactions/")?;
            runs.as_array()?.iter().find(|child| child["parent_id"] == run)?["id"].as_i64()
        });
        (run, child)
    }

    /// Waits for the end of a run and returns it, from any server that responds.
    #[track_caller]
    pub(crate) fn wait_for_end(&self, run: i64) -> Value {
        until("the run ends", || {
            let path = format!("/api/v1/transactions/{run}");
            let details = (0..self.servers.len()).find_map(|server| self.get(server, &path))?;
            (details["status"] == "ready" || details["status"] == "error").then_some(details)
        })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.daemons.clear();
        self.agents.clear();
        self.runtime.block_on(self.store.close());
        if std::thread::panicking() {
            if let Some(folder) = self.folder.take() {
                eprintln!("logs are in {}", folder.path().display());
                std::mem::forget(folder);
            }
        } else if let Some(shared) = self.shared.take() {
            shared.drop_database();
        }
    }
}

fn start_server(
    folder: &TempFolder,
    database: &Database,
    listen: &str,
    idx: usize,
    options: &[String],
) -> Daemon {
    let Database::Postgres { url } = database else { panic!("several servers need PostgreSQL") };
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(["serve", "--listen", listen, "--no-master-agent"]).args(options);
    // Shared by all servers.
    command.arg("--modules-key-file").arg(folder.file("modules.key"));
    command.arg("--plugins-root").arg(folder.file("plugins"));
    command
        .env("STOKER_DATABASE_URL", url)
        .env("STOKER_ADMIN_PASSWORD", PASSWORD)
        .env("STOKER_LOG", "info,stoker_server=debug,stoker_orchestrator=debug")
        .env("XDG_DATA_HOME", folder.file("data"));
    Daemon::start(command, &folder.file(&format!("server-{idx}.log")))
}

fn await_server(address: &str) {
    let url = format!("http://{address}/health");
    until("the server responds", || ureq::get(&url).call().ok());
}

/// Returns an address below the ephemeral port range: a client that reconnects to a stopped server could get the
/// server's port as its own source port and connect to itself.
fn free_address(host: Ipv4Addr) -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + (std::process::id() % 1800) as u16 * 10;
    loop {
        let address = format!("{host}:{}", first + NEXT.fetch_add(1, Ordering::Relaxed));
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

fn create_cluster(client: &Client, address: &str) -> i64 {
    let release = json!({
        "name": "R", "version": "1.0-10.0", "operating_system": "Ubuntu", "state": "available",
        "roles_metadata": {"compute": {"name": "N"}},
        "attributes_metadata": {"generated": {}, "editable": {}},
    });
    let create =
        |path: &str, body: &Value| client.expect(201, address, "POST", path, Some(body))["id"].clone();
    let release = create("/api/v1/releases/", &release);
    create("/api/v1/clusters/", &json!({"name": "demo", "release_id": release})).as_i64().unwrap()
}

fn create_nodes(client: &Client, address: &str, cluster: i64) -> Vec<i64> {
    let create = |number: usize| {
        let body = json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover"});
        client.expect(201, address, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap()
    };
    let nodes: Vec<i64> = (0..N_NODES).map(create).collect();
    let roles: Vec<Value> = nodes.iter().map(|id| json!({"id": id, "roles": ["compute"]})).collect();
    let path = format!("/api/v1/clusters/{cluster}/assignment");
    client.expect(200, address, "POST", &path, Some(&json!(roles)));
    nodes
}
