//! The deployment: a few stages on every node; each task appends a line to the ledger.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_client::{Body, Client, Json, Method, RestRequest};

use crate::Outcome;
use crate::group::Group;
use crate::ledger::Ledger;
use crate::process::Process;

/// Task order on each node; each task waits for the previous one on all nodes.
const TASKS: &[&str] = &["packages", "network", "storage", "database", "service", "monitoring", "smoke"];
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) struct Deployment {
    cluster: i64,
    nodes: Vec<i64>,
    token: String,
}

impl Deployment {
    pub(crate) fn prepare(group: &Group, ledger: &Ledger, n_nodes: usize) -> Outcome<Self> {
        let client = group.client(0);
        let release = json!({
            "name": "Cluster demo", "version": "1.0", "operating_system": "any", "state": "available",
            "roles_metadata": {"worker": {"name": "Worker"}},
            "attributes_metadata": {"editable": {}},
        });
        let release = post(&client, "/api/v1/releases/", &release)?["id"].clone();
        let cluster =
            post(&client, "/api/v1/clusters/", &json!({"name": "cluster-demo", "release_id": release}))?;
        let cluster = id(&cluster)?;
        let mut nodes = Vec::new();
        for number in 0..n_nodes {
            let mac = format!("52:54:00:00:{:02x}:{:02x}", number / 256, number % 256);
            nodes.push(id(&post(&client, "/api/v1/nodes/", &json!({"mac": mac, "status": "discover"}))?)?);
        }
        let roles: Vec<Json> = nodes.iter().map(|node| json!({"id": node, "roles": ["worker"]})).collect();
        post(&client, &format!("/api/v1/clusters/{cluster}/assignment"), &json!(roles))?;
        let path = format!("/api/v1/clusters/{cluster}/deployment_tasks/?graph_type=default");
        send(&client, Method::Put, &path, &graph(ledger))?;
        let token = post(&client, "/api/v1/join_tokens", &json!({"may_replace": true}))?;
        let token = token["token"].as_str().ok_or("no join token")?.to_owned();
        Ok(Self { cluster, nodes, token })
    }

    pub(crate) fn n_instances(&self) -> usize {
        TASKS.len() * self.nodes.len()
    }

    /// Returns the expected lines of the ledger after the deployment.
    pub(crate) fn expected(&self) -> Vec<String> {
        let of_node = |node: &i64| TASKS.iter().map(|task| format!("{task}@{node}")).collect::<Vec<_>>();
        self.nodes.iter().flat_map(of_node).collect()
    }

    pub(crate) fn start_agents(&self, program: &Path, folder: &Path, group: &Group) -> Outcome<Vec<Process>> {
        let start = |node: &i64| {
            let mut command = Command::new(program);
            command.arg("agent").args(["--node", &node.to_string()]);
            for server in group.servers() {
                command.args(["--server", &server.url]);
            }
            command.arg("--state").arg(folder.join(format!("agent-{node}")));
            command.env("STOKER_JOIN_TOKEN", &self.token).env("STOKER_LOG", "info");
            Process::start(&mut command, &folder.join(format!("agent-{node}.log")))
        };
        self.nodes.iter().map(start).collect()
    }

    pub(crate) fn await_agents(&self, group: &Group, timeout: Duration) -> Outcome {
        let started_at = Instant::now();
        loop {
            let agents = get(&group.client(2), "/api/v1/agents?limit=1000")?;
            let connected = |agent: &&Json| agent["is_connected"] == true && agent["uid"] != "master";
            let n_connected = agents.as_array().map_or(0, |agents| agents.iter().filter(connected).count());
            if n_connected >= self.nodes.len() {
                return Ok(());
            }
            if started_at.elapsed() > timeout {
                return Err(format!(
                    "{n_connected} of {} agents connected; see {}",
                    self.nodes.len(),
                    group.logs()
                ));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    pub(crate) fn execute(&self, client: &Client) -> Outcome<i64> {
        let body = json!({"cluster": self.cluster, "graphs": [{"type": "default"}]});
        id(&post(client, "/api/v1/graphs/execute", &body)?)
    }

    pub(crate) fn await_end(group: &Group, run: i64, timeout: Duration) -> Outcome<String> {
        let started_at = Instant::now();
        loop {
            let transaction = get(&group.client(2), &format!("/api/v1/transactions/{run}"))?;
            let status = transaction["status"].as_str().unwrap_or_default();
            if matches!(status, "ready" | "error") {
                return Ok(status.to_owned());
            }
            if started_at.elapsed() > timeout {
                return Err(format!("run {run} is still `{status}`; see {}", group.logs()));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the number of task instances that succeeded according to the history.
    pub(crate) fn n_in_history(group: &Group, run: i64) -> Outcome<usize> {
        let history = get(&group.client(0), &format!("/api/v1/transactions/{run}/deployment_history"))?;
        let is_ours =
            |row: &&Json| row["status"] == "ready" && TASKS.iter().any(|task| row["task_name"] == *task);
        Ok(history.as_array().map_or(0, |rows| rows.iter().filter(is_ours).count()))
    }
}

fn graph(ledger: &Ledger) -> Json {
    let task = |(at, name): (usize, &&str)| {
        let mut task = json!({
            "id": name, "type": "shell", "version": "2.1.0", "roles": ["worker"],
            "parameters": {"cmd": format!("sleep 0.2; {}", ledger.command(&format!("{name}@$STOKER_NODE"))), "timeout": 60},
        });
        if at > 0 {
            task["cross-depends"] = json!([{"name": TASKS[at - 1], "role": ["worker"]}]);
        }
        task
    };
    TASKS.iter().enumerate().map(task).collect()
}

fn id(answer: &Json) -> Outcome<i64> {
    answer["id"].as_i64().ok_or_else(|| format!("a response without id: {answer}"))
}

fn get(client: &Client, path: &str) -> Outcome<Json> {
    client.json(&RestRequest::get(path)).map_err(|error| format!("{path}: {error}"))
}

fn post(client: &Client, path: &str, body: &Json) -> Outcome<Json> {
    send(client, Method::Post, path, body)
}

fn send(client: &Client, method: Method, path: &str, body: &Json) -> Outcome<Json> {
    let request = RestRequest::new(method, path).body(Body::Json(body));
    client.json(&request).map_err(|error| format!("{path}: {error}"))
}
