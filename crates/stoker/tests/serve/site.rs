//! Fixture: a server, three nodes, and an agent for each, as processes that can be killed and restarted.

use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stoker_testkit::TempFolder;

use crate::process::{Client, PASSWORD};

/// Upper bound of every wait, with a margin for a busy machine.
pub(crate) const LONG: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const ROLES: [&str; 3] = ["controller", "compute", "storage"];

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

/// Environment variables.
type Env = Vec<(String, String)>;

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

    /// Sends SIGKILL and waits.
    pub(crate) fn kill(&mut self) {
        _ = self.child.kill();
        self.child.wait().unwrap();
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

pub(crate) struct Site {
    /// Data directory; kept on disk for inspection if a test fails.
    folder: Option<TempFolder>,
    listen: String,
    options: Vec<String>,
    /// Directory of the certificate authority if TLS is used.
    ca: Option<PathBuf>,
    agent_options: Vec<String>,
    /// Environment variables of the server and its agents.
    env: Env,
    server: Option<Daemon>,
    agents: Vec<Option<Daemon>>,
    other_agents: Vec<Daemon>,
    pub(crate) client: Client,
    pub(crate) cluster: i64,
    /// IDs of the nodes: controller, compute, storage.
    pub(crate) nodes: Vec<i64>,
    token: String,
}

impl Site {
    pub(crate) fn new(tasks: &Value) -> Self {
        Self::with(tasks, &[])
    }

    /// Passes additional options to the server.
    pub(crate) fn with(tasks: &Value, options: &[&str]) -> Self {
        Self::with_agents(tasks, options, &[])
    }

    /// Passes additional options to the server and its agents.
    pub(crate) fn with_agents(tasks: &Value, options: &[&str], agent_options: &[&str]) -> Self {
        Self::build(TempFolder::new(), None, tasks, (options, agent_options), &[])
    }

    /// Sets environment variables of the server and its agents.
    pub(crate) fn with_env(tasks: &Value, env: &[(&str, &str)]) -> Self {
        Self::build(TempFolder::new(), None, tasks, (&[], &[]), env)
    }

    /// Starts a site with TLS; agents trust the authority by its fingerprint.
    pub(crate) fn encrypted(tasks: &Value, options: &[&str]) -> Self {
        let folder = TempFolder::new();
        let ca = folder.file("ca");
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        assert!(command.args(["ca", "init", "--dir"]).arg(&ca).output().unwrap().status.success());
        let mut all_options = vec!["--ca-dir", ca.to_str().unwrap()];
        all_options.extend(options);
        Self::build(folder, Some(ca.clone()), tasks, (&all_options, &[]), &[])
    }

    fn build(
        folder: TempFolder,
        ca: Option<PathBuf>,
        tasks: &Value,
        (options, agent_options): (&[&str], &[&str]),
        env: &[(&str, &str)],
    ) -> Self {
        let env: Env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let listen = free_address();
        let to_owned_vec =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let (options, agent_options) = (to_owned_vec(options), to_owned_vec(agent_options));
        let certificate = ca.as_ref().map(|ca| ca.join("ca.pem"));
        let url = url(&listen, ca.as_deref());
        let server = start_server(folder.path(), &listen, &options, ca.as_deref(), &env);
        let client = Client::log_in_to(&url, certificate.as_deref(), PASSWORD);
        let cluster = create_cluster(&client);
        let nodes = create_nodes(&client, cluster);
        let token = join_token(&client, &json!({"may_replace": true}));
        let agents = nodes.iter().map(|_| None).collect();
        let (folder, server) = (Some(folder), Some(server));
        let other_agents = Vec::new();
        let mut site = Self {
            folder,
            listen,
            options,
            ca,
            agent_options,
            env,
            server,
            agents,
            other_agents,
            client,
            cluster,
            nodes,
            token,
        };
        site.upload(tasks);
        for node_idx in 0..site.nodes.len() {
            site.start_agent(node_idx);
        }
        site
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.as_ref().unwrap().file(name)
    }

    pub(crate) fn url(&self) -> String {
        url(&self.listen, self.ca.as_deref())
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    pub(crate) fn upload(&self, tasks: &Value) {
        let path = format!("/api/v1/clusters/{}/deployment_tasks/?graph_type=default", self.cluster);
        self.client.expect(200, "PUT", &path, Some(tasks));
    }

    pub(crate) fn kill_server(&mut self) {
        self.server.take().unwrap().kill();
    }

    /// Sends SIGTERM, as a service manager does, and waits for the exit.
    pub(crate) fn terminate_server(&mut self) {
        let mut server = self.server.take().unwrap();
        let id = server.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert!(server.child.wait().unwrap().success());
    }

    /// Restarts the server on the same directory and port, and waits until it responds.
    pub(crate) fn start_server(&mut self) {
        let folder = self.folder.as_ref().unwrap();
        let (listen, ca) = (&self.listen, self.ca.as_deref());
        self.server = Some(start_server(folder.path(), listen, &self.options, ca, &self.env));
    }

    pub(crate) fn kill_agent(&mut self, node_idx: usize) {
        self.agents[node_idx].take().unwrap().kill();
    }

    pub(crate) fn start_agent(&mut self, node_idx: usize) {
        let command = self.agent_command(node_idx, &format!("agent-{node_idx}"), Some(&self.token));
        let log = self.file(&format!("agent-{node_idx}.log"));
        self.agents[node_idx] = Some(Daemon::start(command, &log));
    }

    /// Replaces the machine of a node: its agent is killed and another one joins without a journal.
    pub(crate) fn replace_machine(&mut self, node_idx: usize) {
        self.kill_agent(node_idx);
        std::fs::remove_dir_all(self.file(&format!("agent-{node_idx}"))).unwrap();
        let before = self.joined_at(node_idx);
        self.start_agent(node_idx);
        self.await_join(node_idx, &before);
    }

    /// When the agent of a node joined.
    pub(crate) fn joined_at(&self, node_idx: usize) -> Value {
        let uid = self.nodes[node_idx].to_string();
        let agents = self.client.expect(200, "GET", "/api/v1/agents", None);
        let mut agents = agents.as_array().unwrap().iter();
        agents.find(|agent| agent["uid"] == uid.as_str()).unwrap()["joined_at"].clone()
    }

    /// Waits until an agent is connected that did not join at `before`.
    pub(crate) fn await_join(&self, node_idx: usize, before: &Value) {
        until("another agent joins", || (self.joined_at(node_idx) != *before).then_some(()));
        self.await_agent(node_idx);
        let path = format!("/api/v1/nodes/{}", self.nodes[node_idx]);
        until("the node is online", || (self.get(&path)?["online"] == true).then_some(()));
    }

    /// Starts another agent of the same node with another state directory.
    pub(crate) fn start_agent_in(&mut self, node_idx: usize, state: &str) {
        let command = self.agent_command(node_idx, state, Some(&self.token));
        self.other_agents.push(Daemon::start(command, &self.file(&format!("{state}.log"))));
    }

    /// Starts another agent of the same node that connects through a proxy.
    pub(crate) fn start_agent_via_proxy(&mut self, node_idx: usize, url: &str, state: &str) {
        let command = self.agent_command_to(url, node_idx, state, Some(&self.token));
        self.other_agents.push(Daemon::start(command, &self.file(&format!("{state}.log"))));
    }

    /// Starts an agent with this node name; its state directory has the same name.
    pub(crate) fn start_agent_named(&mut self, name: &str, token: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        command.args(["agent", "--server", &self.url(), "--node", name, "--state"]).arg(self.file(name));
        command.env("STOKER_LOG", "info").env("STOKER_JOIN_TOKEN", token);
        self.other_agents.push(Daemon::start(command, &self.file(&format!("{name}.log"))));
    }

    pub(crate) fn listen_address(&self) -> &str {
        &self.listen
    }

    /// Starts the agent if it was killed.
    pub(crate) fn ensure_agent(&mut self, node_idx: usize) {
        if self.agents[node_idx].is_none() {
            self.start_agent(node_idx);
        }
    }

    fn agent_command(&self, node_idx: usize, state: &str, token: Option<&str>) -> Command {
        self.agent_command_to(&self.url(), node_idx, state, token)
    }

    fn agent_command_to(&self, url: &str, node_idx: usize, state: &str, token: Option<&str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        command.args(["agent", "--server", url]);
        if let Some(ca) = &self.ca {
            let certificate = stoker_tls::Certificate::read_file(&ca.join("ca.pem")).unwrap().remove(0);
            command.args(["--ca-fingerprint", &certificate.fingerprint.to_string()]);
        }
        command.args(["--node", &self.nodes[node_idx].to_string()]);
        command.arg("--state").arg(self.file(state)).args(&self.agent_options);
        command.env("STOKER_LOG", "info").env_remove("STOKER_JOIN_TOKEN").envs(self.env.clone());
        if let Some(token) = token {
            command.env("STOKER_JOIN_TOKEN", token);
        }
        command
    }

    /// Starts an agent of the first node with a new state directory, and waits for it to be rejected.
    pub(crate) fn run_rejected_agent(&self, state: &str, token: Option<&str>) -> Output {
        let mut command = self.agent_command(0, state, token);
        command.stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn await_agent(&self, node_idx: usize) {
        let uid = self.nodes[node_idx].to_string();
        until("the agent connects", || {
            let agents = self.get("/api/v1/agents")?;
            let mut agents = agents.as_array()?.iter();
            agents.any(|agent| agent["uid"] == uid.as_str() && agent["is_connected"] == true).then_some(())
        });
    }

    /// Returns `None` if the server is unavailable or rejects the request.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        let (status, response) = self.client.call("GET", path, None).ok()?;
        (status == 200).then_some(response)
    }

    /// Starts a run of the graph and returns its ID.
    pub(crate) fn execute(&self, options: &Value) -> i64 {
        let mut body = json!({"cluster": self.cluster, "graphs": [{"type": "default"}]});
        for (key, value) in options.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.client.expect(202, "POST", "/api/v1/graphs/execute", Some(&body))["id"].as_i64().unwrap()
    }

    /// Waits for the end of a run and returns it. Killed processes must be restarted concurrently.
    #[track_caller]
    pub(crate) fn wait_for_end(&self, run: i64) -> Value {
        until("the run ends", || self.if_ended(run))
    }

    pub(crate) fn if_ended(&self, run: i64) -> Option<Value> {
        let details = self.get(&format!("/api/v1/transactions/{run}"))?;
        (details["status"] == "ready" || details["status"] == "error").then_some(details)
    }

    #[track_caller]
    pub(crate) fn deploy(&self, options: &Value) -> Value {
        self.wait_for_end(self.execute(options))
    }

    #[track_caller]
    pub(crate) fn history(&self, run: i64) -> Vec<Value> {
        let path = format!("/api/v1/transactions/{run}/deployment_history?include_summary=1");
        self.client.expect(200, "GET", &path, None).as_array().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn events(&self, run: i64) -> Vec<Value> {
        let path = format!("/api/v1/runs/{run}/events?limit=10000");
        self.client.expect(200, "GET", &path, None).as_array().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = self.folder.take()
        {
            eprintln!("logs are in {}", folder.path().display());
            std::mem::forget(folder);
        }
    }
}

fn url(listen: &str, ca: Option<&Path>) -> String {
    format!("http{}://{listen}", if ca.is_some() { "s" } else { "" })
}

fn start_server(folder: &Path, listen: &str, options: &[String], ca: Option<&Path>, env: &Env) -> Daemon {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(["serve", "--listen", listen, "--data-dir"]).arg(folder.join("data")).args(options);
    // All nodes are this machine; keep tasks away from its real directories.
    command.arg("--plugin-scripts-root").arg(folder.join("node/plugins"));
    command.arg("--node-root").arg(folder.join("node"));
    command
        .env("STOKER_ADMIN_PASSWORD", PASSWORD)
        .env("STOKER_LOG", "info")
        .env_remove("STOKER_DATABASE_URL")
        .envs(env.clone());
    let mut server = Daemon::start(command, &folder.join("server.log"));
    let url = format!("{}/health", url(listen, ca));
    let agent = crate::process::agent(ca.map(|ca| ca.join("ca.pem")).as_deref());
    until("the server responds", || {
        assert!(!server.has_ended(), "the server exited; see {}", folder.display());
        agent.get(&url).call().ok()
    });
    server
}

/// Returns an address below the ephemeral port range: a client that reconnects to a stopped server could get the
/// server's port as its own source port and connect to itself.
fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + (std::process::id() % 1800) as u16 * 10;
    loop {
        let address = format!("127.0.0.1:{}", first + NEXT.fetch_add(1, Ordering::Relaxed));
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

fn create_cluster(client: &Client) -> i64 {
    let roles = json!({"controller": {"name": "C"}, "compute": {"name": "N"}, "storage": {"name": "S"}});
    let release = json!({
        "name": "R", "version": "1.0-10.0", "operating_system": "Ubuntu", "state": "available",
        "roles_metadata": roles,
        "attributes_metadata": {"generated": {}, "editable": {
            "common": {"debug": {"value": false, "type": "checkbox"}},
            "web": {"port": {"value": 80, "type": "number"}},
            "db": {"entry": {"value": "", "type": "password"}},
        }},
    });
    let release = client.expect(201, "POST", "/api/v1/releases/", Some(&release))["id"].clone();
    let cluster = json!({"name": "demo", "release_id": release});
    client.expect(201, "POST", "/api/v1/clusters/", Some(&cluster))["id"].as_i64().unwrap()
}

fn create_nodes(client: &Client, cluster: i64) -> Vec<i64> {
    let create = |number: usize| {
        let body = json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover"});
        client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap()
    };
    let nodes: Vec<i64> = (0..ROLES.len()).map(create).collect();
    let roles: Vec<Value> =
        nodes.iter().zip(ROLES).map(|(id, role)| json!({"id": id, "roles": [role]})).collect();
    let path = format!("/api/v1/clusters/{cluster}/assignment");
    client.expect(200, "POST", &path, Some(&json!(roles)));
    nodes
}

pub(crate) fn join_token(client: &Client, body: &Value) -> String {
    let token = client.expect(201, "POST", "/api/v1/join_tokens", Some(body));
    token["token"].as_str().unwrap().to_owned()
}

/// Creates an empty file.
pub(crate) fn touch(path: &Path) {
    File::create(path).unwrap();
}
