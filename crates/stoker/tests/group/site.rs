//! Servers that share a PostgreSQL, three nodes, and an agent for each.

use std::fs::OpenOptions;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use stoker_model::{RunId, RunWork};
use stoker_store::{Database, Store};
use stoker_testkit::{Folder, TestDatabase};

use crate::client::{Client, PASSWORD};
use crate::island::Island;

/// Longer than anything here should take, on however busy a machine.
pub(crate) const LONG: Duration = Duration::from_mins(3);
const LOOK: Duration = Duration::from_millis(10);
pub(crate) const N_NODES: usize = 3;

/// Waits for something to be so.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "in vain: {what}");
        std::thread::sleep(LOOK);
    }
}

/// A child whose log is a file; killed when dropped.
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

    fn end(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) struct Site {
    /// Taken when a test fails, so that somebody can look at it.
    folder: Option<Folder>,
    database: Database,
    options: Vec<String>,
    /// Addresses.
    pub(crate) servers: Vec<String>,
    daemons: Vec<Option<Daemon>>,
    /// Of agents that are started from now on.
    pub(crate) agent_options: Vec<String>,
    /// What their command begins with.
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
    /// On a database of its own; `None` when tests of PostgreSQL are left out on purpose.
    pub(crate) fn new(n_servers: usize, options: &[&str]) -> Option<Self> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let shared = runtime.block_on(TestDatabase::create())?;
        let mut site = Self::on(shared.database(), n_servers, options);
        site.shared = Some(shared);
        Some(site)
    }

    /// Two servers on this side of a cable, and agents on the other.
    pub(crate) fn on_island(island: &Island, options: &[&str]) -> Option<Self> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let shared = runtime.block_on(TestDatabase::create())?;
        let mut site = Self::at(island.here, shared.database(), 2, options);
        site.agent_prefix = island.prefix();
        site.shared = Some(shared);
        Some(site)
    }

    /// All servers start at once.
    pub(crate) fn on(database: Database, n_servers: usize, options: &[&str]) -> Self {
        Self::at(Ipv4Addr::LOCALHOST, database, n_servers, options)
    }

    fn at(host: Ipv4Addr, database: Database, n_servers: usize, options: &[&str]) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let folder = Folder::new();
        let servers: Vec<String> = (0..n_servers).map(|_| free_address(host)).collect();
        let options: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
        let start = |place: usize| start_server(&folder, &database, &servers[place], place, &options);
        let daemons: Vec<Option<Daemon>> = (0..n_servers).map(|place| Some(start(place))).collect();
        for address in &servers {
            await_server(address);
        }
        let store = runtime.block_on(Store::open(&database)).unwrap();
        let client = Client::log_in(&servers[0]);
        let cluster = make_cluster(&client, &servers[0]);
        let nodes = make_nodes(&client, &servers[0], cluster);
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

    /// Starts the agent of the next node, which knows these servers.
    pub(crate) fn start_agent(&mut self, servers: &[usize]) {
        let place = self.agents.len();
        let body = json!({"may_replace": true});
        let token = self.post(0, 201, "/api/v1/join_tokens", &body)["token"].as_str().unwrap().to_owned();
        let mut words = self.agent_prefix.iter().map(String::as_str).chain([env!("CARGO_BIN_EXE_stoker")]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).arg("agent");
        for server in servers {
            command.args(["--server", &format!("http://{}", self.servers[*server])]);
        }
        command.args(["--node", &self.nodes[place].to_string()]);
        command.arg("--state").arg(self.file(&format!("agent-{place}"))).args(&self.agent_options);
        command.env("STOKER_LOG", "info,stoker_agent=debug").env("STOKER_JOIN_TOKEN", token);
        self.agents.push(Daemon::start(command, &self.file(&format!("agent-{place}.log"))));
        let uid = self.nodes[place].to_string();
        until("the agent is known to be connected", || self.is_connected(0, &uid).then_some(()));
    }

    /// The machines of all agents are lost with all that is on them.
    pub(crate) fn lose_agents(&mut self) {
        for place in 0..self.agents.len() {
            self.agents[place].end();
            std::fs::remove_dir_all(self.file(&format!("agent-{place}"))).unwrap();
        }
        self.agents.clear();
    }

    pub(crate) fn is_connected(&self, server: usize, uid: &str) -> bool {
        let agents = self.get(server, "/api/v1/agents").unwrap_or_default();
        let mut agents = agents.as_array().into_iter().flatten();
        agents.any(|agent| agent["uid"] == uid && agent["is_connected"] == true)
    }

    pub(crate) fn kill_server(&mut self, place: usize) {
        self.daemons[place].take().unwrap().end();
    }

    /// Asks it to end, as a service manager does, and waits for it.
    pub(crate) fn terminate_server(&mut self, place: usize) {
        let mut daemon = self.daemons[place].take().unwrap();
        daemon.signal(Signal::SIGTERM);
        assert!(daemon.child.wait().unwrap().success());
    }

    pub(crate) fn signal_server(&self, place: usize, signal: Signal) {
        self.daemons[place].as_ref().unwrap().signal(signal);
    }

    /// At the same place; it answers when this returns.
    pub(crate) fn start_server(&mut self, place: usize) {
        let folder = self.folder.as_ref().unwrap();
        let daemon = start_server(folder, &self.database, &self.servers[place], place, &self.options);
        self.daemons[place] = Some(daemon);
        await_server(&self.servers[place]);
    }

    /// The place of the server that carries out a part of a run, while it does.
    pub(crate) fn driver(&self, part: i64) -> Option<usize> {
        let (work, members) = self.runtime.block_on(async {
            let mut session = self.store.read().await.ok()?;
            Some((session.run_work(RunId(part)).await.ok()??, session.servers().await.ok()?))
        })?;
        let RunWork { owner, lease_until, .. } = work;
        let owner = owner.filter(|_| lease_until.is_some())?;
        let member = members.into_iter().find(|member| member.id == owner)?;
        self.servers.iter().position(|address| *address == member.address)
    }

    /// Its generation: how often a part of a run was taken up.
    pub(crate) fn generation(&self, part: i64) -> i64 {
        let work =
            self.runtime.block_on(async { self.store.read().await.unwrap().run_work(RunId(part)).await });
        work.unwrap().unwrap().lease_generation
    }

    /// Nothing where the server is away, or says no.
    pub(crate) fn get(&self, server: usize, path: &str) -> Option<Value> {
        let (status, answer) = self.client.call(&self.servers[server], "GET", path, None).ok()?;
        (status == 200).then_some(answer)
    }

    #[track_caller]
    pub(crate) fn post(&self, server: usize, status: u16, path: &str, body: &Value) -> Value {
        self.client.expect(status, &self.servers[server], "POST", path, Some(body))
    }

    pub(crate) fn upload(&self, tasks: &Value) {
        let path = format!("/api/v1/clusters/{}/deployment_tasks/?graph_type=default", self.cluster);
        self.client.expect(200, &self.servers[0], "PUT", &path, Some(tasks));
    }

    /// Begins a run of the graph through one server: the run and its part.
    pub(crate) fn execute(&self, server: usize) -> (i64, i64) {
        let body = json!({"cluster": self.cluster, "graphs": [{"type": "default"}]});
        let run = self.post(server, 202, "/api/v1/graphs/execute", &body)["id"].as_i64().unwrap();
        let part = until("the run has a part", || {
            let runs = self.get(server, "/api/v1/transactions/")?;
            runs.as_array()?.iter().find(|part| part["parent_id"] == run)?["id"].as_i64()
        });
        (run, part)
    }

    /// The run when it has ended, from whichever server answers.
    #[track_caller]
    pub(crate) fn ended(&self, run: i64) -> Value {
        until("the run ends", || {
            let path = format!("/api/v1/transactions/{run}");
            let shown = (0..self.servers.len()).find_map(|server| self.get(server, &path))?;
            (shown["status"] == "ready" || shown["status"] == "error").then_some(shown)
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
                eprintln!("what the processes wrote is in {}", folder.path().display());
                std::mem::forget(folder);
            }
        } else if let Some(shared) = self.shared.take() {
            shared.remove();
        }
    }
}

fn start_server(
    folder: &Folder,
    database: &Database,
    listen: &str,
    place: usize,
    options: &[String],
) -> Daemon {
    let Database::Postgres { url } = database else { panic!("several servers need PostgreSQL") };
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(["serve", "--listen", listen, "--no-master-agent"]).args(options);
    // What they have to have in common.
    command.arg("--modules-key-file").arg(folder.file("modules.key"));
    command.arg("--plugins-root").arg(folder.file("plugins"));
    command
        .env("STOKER_DATABASE_URL", url)
        .env("STOKER_ADMIN_PASSWORD", PASSWORD)
        .env("STOKER_LOG", "info,stoker_server=debug")
        .env("XDG_DATA_HOME", folder.file("data"));
    Daemon::start(command, &folder.file(&format!("server-{place}.log")))
}

fn await_server(address: &str) {
    let url = format!("http://{address}/health");
    until("the server answers", || ureq::get(&url).call().ok());
}

/// Beyond the ports that systems give to clients: one of those that knock while the server is away could be given the
/// very port it knocks at, and would then be talking with itself.
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

fn make_cluster(client: &Client, address: &str) -> i64 {
    let release = json!({
        "name": "R", "version": "1.0-10.0", "operating_system": "Ubuntu", "state": "available",
        "roles_metadata": {"compute": {"name": "N"}},
        "attributes_metadata": {"generated": {}, "editable": {}},
    });
    let make = |path: &str, body: &Value| client.expect(201, address, "POST", path, Some(body))["id"].clone();
    let release = make("/api/v1/releases/", &release);
    make("/api/v1/clusters/", &json!({"name": "demo", "release_id": release})).as_i64().unwrap()
}

fn make_nodes(client: &Client, address: &str, cluster: i64) -> Vec<i64> {
    let make = |number: usize| {
        let body = json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover"});
        client.expect(201, address, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap()
    };
    let nodes: Vec<i64> = (0..N_NODES).map(make).collect();
    let roles: Vec<Value> = nodes.iter().map(|id| json!({"id": id, "roles": ["compute"]})).collect();
    let path = format!("/api/v1/clusters/{cluster}/assignment");
    client.expect(200, address, "POST", &path, Some(&json!(roles)));
    nodes
}
