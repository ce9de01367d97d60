//! A server, three nodes, and an agent for each: all of them processes that can be killed and started again.

use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stoker_testkit::Folder;

use crate::process::{Client, PASSWORD};

/// Longer than anything here should take, on however busy a machine.
pub(crate) const LONG: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(10);
const ROLES: [&str; 3] = ["controller", "compute", "storage"];

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

/// Variables by name.
type Env = Vec<(String, String)>;

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

    /// The signal that cannot be caught.
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
    /// Taken when a test fails, so that somebody can look at it.
    folder: Option<Folder>,
    listen: String,
    extra: Vec<String>,
    /// Folder of the authority, where connections are encrypted.
    ca: Option<PathBuf>,
    agent_extra: Vec<String>,
    /// Variables of the server and of its agents.
    env: Env,
    server: Option<Daemon>,
    agents: Vec<Option<Daemon>>,
    others: Vec<Daemon>,
    pub(crate) client: Client,
    pub(crate) cluster: i64,
    /// Ids of the nodes: a controller, a compute, a storage.
    pub(crate) nodes: Vec<i64>,
    token: String,
}

impl Site {
    pub(crate) fn new(tasks: &Value) -> Self {
        Self::with(tasks, &[])
    }

    /// With further options for the server.
    pub(crate) fn with(tasks: &Value, extra: &[&str]) -> Self {
        Self::with_agents(tasks, extra, &[])
    }

    /// With further options for the server and for its agents.
    pub(crate) fn with_agents(tasks: &Value, extra: &[&str], agent_extra: &[&str]) -> Self {
        Self::build(Folder::new(), None, tasks, (extra, agent_extra), &[])
    }

    /// With further variables for the server and its agents.
    pub(crate) fn with_env(tasks: &Value, env: &[(&str, &str)]) -> Self {
        Self::build(Folder::new(), None, tasks, (&[], &[]), env)
    }

    /// With an authority, and agents that know it by its fingerprint.
    pub(crate) fn encrypted(tasks: &Value, extra: &[&str]) -> Self {
        let folder = Folder::new();
        let ca = folder.file("ca");
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        assert!(command.args(["ca", "init", "--dir"]).arg(&ca).output().unwrap().status.success());
        let mut options = vec!["--ca-dir", ca.to_str().unwrap()];
        options.extend(extra);
        Self::build(folder, Some(ca.clone()), tasks, (&options, &[]), &[])
    }

    fn build(
        folder: Folder,
        ca: Option<PathBuf>,
        tasks: &Value,
        (extra, agent_extra): (&[&str], &[&str]),
        env: &[(&str, &str)],
    ) -> Self {
        let env: Env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let listen = free_address();
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let (extra, agent_extra) = (owned(extra), owned(agent_extra));
        let certificate = ca.as_ref().map(|ca| ca.join("ca.pem"));
        let url = url(&listen, ca.as_deref());
        let server = start_server(folder.path(), &listen, &extra, ca.as_deref(), &env);
        let client = Client::log_in_to(&url, certificate.as_deref(), PASSWORD);
        let cluster = make_cluster(&client);
        let nodes = make_nodes(&client, cluster);
        let token = join_token(&client, &json!({"may_replace": true}));
        let agents = nodes.iter().map(|_| None).collect();
        let (folder, server) = (Some(folder), Some(server));
        let others = Vec::new();
        let mut site = Self {
            folder,
            listen,
            extra,
            ca,
            agent_extra,
            env,
            server,
            agents,
            others,
            client,
            cluster,
            nodes,
            token,
        };
        site.upload(tasks);
        for place in 0..site.nodes.len() {
            site.start_agent(place);
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

    /// Asks it to end, as a service manager does, and waits for it.
    pub(crate) fn terminate_server(&mut self) {
        let mut server = self.server.take().unwrap();
        let id = server.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert!(server.child.wait().unwrap().success());
    }

    /// On the same folder and the same port; it answers when this returns.
    pub(crate) fn start_server(&mut self) {
        let folder = self.folder.as_ref().unwrap();
        let (listen, ca) = (&self.listen, self.ca.as_deref());
        self.server = Some(start_server(folder.path(), listen, &self.extra, ca, &self.env));
    }

    pub(crate) fn kill_agent(&mut self, place: usize) {
        self.agents[place].take().unwrap().kill();
    }

    pub(crate) fn start_agent(&mut self, place: usize) {
        let command = self.agent_command(place, &format!("agent-{place}"), Some(&self.token));
        let log = self.file(&format!("agent-{place}.log"));
        self.agents[place] = Some(Daemon::start(command, &log));
    }

    /// Starts another agent of the same node, in another folder.
    pub(crate) fn start_agent_in(&mut self, place: usize, state: &str) {
        let command = self.agent_command(place, state, Some(&self.token));
        self.others.push(Daemon::start(command, &self.file(&format!("{state}.log"))));
    }

    /// The same, through somebody who stands between.
    pub(crate) fn start_agent_by_way_of(&mut self, place: usize, url: &str, state: &str) {
        let command = self.agent_command_to(url, place, state, Some(&self.token));
        self.others.push(Daemon::start(command, &self.file(&format!("{state}.log"))));
    }

    /// Starts an agent under a name, which is that of its folder too.
    pub(crate) fn start_agent_called(&mut self, name: &str, token: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        command.args(["agent", "--server", &self.url(), "--node", name, "--state"]).arg(self.file(name));
        command.env("STOKER_LOG", "info").env("STOKER_JOIN_TOKEN", token);
        self.others.push(Daemon::start(command, &self.file(&format!("{name}.log"))));
    }

    pub(crate) fn listens_on(&self) -> &str {
        &self.listen
    }

    /// Starts it if it was killed.
    pub(crate) fn ensure_agent(&mut self, place: usize) {
        if self.agents[place].is_none() {
            self.start_agent(place);
        }
    }

    fn agent_command(&self, place: usize, state: &str, token: Option<&str>) -> Command {
        self.agent_command_to(&self.url(), place, state, token)
    }

    fn agent_command_to(&self, url: &str, place: usize, state: &str, token: Option<&str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        command.args(["agent", "--server", url]);
        if let Some(ca) = &self.ca {
            let certificate = stoker_tls::Certificate::read_file(&ca.join("ca.pem")).unwrap().remove(0);
            command.args(["--ca-fingerprint", &certificate.fingerprint.to_string()]);
        }
        command.args(["--node", &self.nodes[place].to_string()]);
        command.arg("--state").arg(self.file(state)).args(&self.agent_extra);
        command.env("STOKER_LOG", "info").env_remove("STOKER_JOIN_TOKEN").envs(self.env.clone());
        if let Some(token) = token {
            command.env("STOKER_JOIN_TOKEN", token);
        }
        command
    }

    /// Starts an agent of the first node in a folder of its own, with this token, and waits for its end.
    pub(crate) fn refused_agent(&self, state: &str, token: Option<&str>) -> Output {
        let mut command = self.agent_command(0, state, token);
        command.stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn await_agent(&self, place: usize) {
        let uid = self.nodes[place].to_string();
        until("the agent connects", || {
            let agents = self.get("/api/v1/agents")?;
            let mut agents = agents.as_array()?.iter();
            agents.any(|agent| agent["uid"] == uid.as_str() && agent["is_connected"] == true).then_some(())
        });
    }

    /// Nothing where the server is away, or says no.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        let (status, answer) = self.client.call("GET", path, None).ok()?;
        (status == 200).then_some(answer)
    }

    /// Begins a run of the graph: its id.
    pub(crate) fn execute(&self, extra: &Value) -> i64 {
        let mut body = json!({"cluster": self.cluster, "graphs": [{"type": "default"}]});
        for (key, value) in extra.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.client.expect(202, "POST", "/api/v1/graphs/execute", Some(&body))["id"].as_i64().unwrap()
    }

    /// The run when it has ended; whoever dies meanwhile has to be started again by others.
    #[track_caller]
    pub(crate) fn ended(&self, run: i64) -> Value {
        until("the run ends", || self.if_ended(run))
    }

    pub(crate) fn if_ended(&self, run: i64) -> Option<Value> {
        let shown = self.get(&format!("/api/v1/transactions/{run}"))?;
        (shown["status"] == "ready" || shown["status"] == "error").then_some(shown)
    }

    #[track_caller]
    pub(crate) fn deploy(&self, extra: &Value) -> Value {
        self.ended(self.execute(extra))
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
            eprintln!("what the processes wrote is in {}", folder.path().display());
            std::mem::forget(folder);
        }
    }
}

fn url(listen: &str, ca: Option<&Path>) -> String {
    format!("http{}://{listen}", if ca.is_some() { "s" } else { "" })
}

fn start_server(folder: &Path, listen: &str, extra: &[String], ca: Option<&Path>, env: &Env) -> Daemon {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(["serve", "--listen", listen, "--data-dir"]).arg(folder.join("data")).args(extra);
    // All nodes are this machine, whose own folders are none of our business.
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
    until("the server answers", || {
        assert!(!server.has_ended(), "the server does not start; see {}", folder.display());
        agent.get(&url).call().ok()
    });
    server
}

/// Beyond the ports that systems give to clients: one of those that knock while the server is away could be given the
/// very port it knocks at, and would then be talking with itself.
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

fn make_cluster(client: &Client) -> i64 {
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

fn make_nodes(client: &Client, cluster: i64) -> Vec<i64> {
    let make = |number: usize| {
        let body = json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover"});
        client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap()
    };
    let nodes: Vec<i64> = (0..ROLES.len()).map(make).collect();
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

/// Makes sure that a file can be written to from the beginning.
pub(crate) fn touch(path: &Path) {
    File::create(path).unwrap();
}
