//! Random histories on a real server with real agents. A machine is a directory, and the truth is what its files contain.
//!
//! Each history has graph types of its own, so it starts without applied states. After each step the plans are compared with a model that
//! knows, for each graph type, task and node, the last success and whether an attempt did not succeed since; every instance
//! that a plan skips must have the right content on its machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::kills::SeededRng;
use crate::site::{Site, touch, until};

/// Histories of the test command; `STOKER_HISTORIES` overrides it.
const N_HISTORIES: u64 = 20;
const N_STEPS: u64 = 6;
const SEED: u64 = 20_261_116;

/// Writes `CONTENT` to the file of a task, unless a marker file says how the attempt ends.
const SCRIPT: &str = r#"
task=$1 machine=$2/machine-$3 content=$4
mkdir -p "$machine"
echo attempt >>"$machine/$task.log"
if [ -e "$machine.fail-$task" ]; then echo partial >"$machine/$task"; exit 1; fi
echo "$content" >"$machine/$task"
if [ -e "$machine.hang-$task" ]; then echo $$ >"$machine.pid"; mv "$machine.pid" "$machine.hanging"; exec sleep 600; fi
"#;

/// A task of all histories.
struct TaskKind {
    name: &'static str,
    condition: Option<&'static str>,
    /// Expression of the content that the task writes, besides the version of its definition.
    content: &'static str,
}

const PORT: &str = "$.web.port";
const TASKS: &[TaskKind] = &[
    TaskKind { name: "a-inputs", condition: None, content: "str($.web.port)" },
    TaskKind { name: "b-changed", condition: Some("changed($.web.port)"), content: "str($.web.port)" },
    TaskKind { name: "c-nodes", condition: Some("changed($.nodes)"), content: "'fixed'" },
    TaskKind { name: "d-statuses", condition: None, content: "$.nodes.status.join('-')" },
];

/// Graph types of a history, which have the same tasks in different versions.
const N_TYPES: usize = 2;

/// Index of the graph type, name of the task, and index of the node.
type Instance = (usize, &'static str, usize);

/// What a task read when it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Success {
    version: u64,
    port: i64,
    labels: Vec<u64>,
}

/// What the model knows about a task on a node.
#[derive(Clone, Debug, Default)]
struct Known {
    success: Option<Success>,
    is_tainted: bool,
    /// The attempt did not start in a run that failed. If it was sent and cancelled, the applied state is tainted.
    may_be_tainted: bool,
}

/// What happens to one attempt of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    Fails,
    /// The agent is killed while the task is running, and restarted.
    LosesAgent,
    /// The machine is replaced by an empty one while the task is running.
    LosesMachine,
    /// The run is stopped while the task is running.
    IsStopped,
}

struct History<'s> {
    site: &'s mut Site,
    rng: &'s mut SeededRng,
    graph_types: [String; N_TYPES],
    folder: PathBuf,
    port: i64,
    /// Value of the label of each node.
    labels: Vec<u64>,
    /// Version of the definition of each task, by graph type.
    versions: [BTreeMap<&'static str, u64>; N_TYPES],
    known: BTreeMap<Instance, Known>,
    log: Vec<String>,
}

#[test]
fn plans_agree_with_the_machines() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let seed = number("STOKER_TEST_SEED", SEED);
    println!("STOKER_TEST_SEED={seed}");
    let mut rng = SeededRng(seed);
    let mut site = Site::with(&json!([]), &["--plans-per-minute", "100000"]);
    (0..site.nodes.len()).for_each(|node_idx| site.await_agent(node_idx));
    for number in 0..number("STOKER_HISTORIES", N_HISTORIES) {
        History::new(&mut site, &mut rng, number).replay();
    }
}

impl<'s> History<'s> {
    fn new(site: &'s mut Site, rng: &'s mut SeededRng, number: u64) -> Self {
        let folder = site.file(&format!("history-{number}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("task.sh"), SCRIPT).unwrap();
        let versions: BTreeMap<_, _> = TASKS.iter().map(|task| (task.name, 1)).collect();
        let labels = vec![0; site.nodes.len()];
        let mut history = Self {
            site,
            rng,
            graph_types: std::array::from_fn(|type_idx| format!("history{number}-{type_idx}")),
            folder,
            port: 80,
            labels,
            versions: [versions.clone(), versions],
            known: BTreeMap::new(),
            log: Vec::new(),
        };
        history.set_port(80);
        for node_idx in 0..history.site.nodes.len() {
            history.set_label(node_idx, 0);
        }
        (0..N_TYPES).for_each(|type_idx| history.upload(type_idx));
        history
    }

    fn replay(mut self) {
        self.run(0, false);
        for _ in 0..N_STEPS {
            let type_idx = self.rng.below(N_TYPES as u64) as usize;
            match self.rng.below(12) {
                0 | 1 => {
                    let port = 80 + self.rng.below(2) as i64;
                    self.set_port(port);
                }
                2 => {
                    let task = TASKS[self.rng.below(TASKS.len() as u64) as usize].name;
                    *self.versions[type_idx].entry(task).or_default() += 1;
                    self.log.push(format!("edit {task} of graph {type_idx}"));
                    self.upload(type_idx);
                }
                3 => self.reinstall(),
                4 => self.replace(),
                5 => {
                    let node_idx = self.rng.below(self.site.nodes.len() as u64) as usize;
                    let value = self.rng.below(2);
                    self.set_label(node_idx, value);
                }
                6 => self.dry_run(type_idx),
                7 | 8 => self.run(type_idx, true),
                _ => self.run(type_idx, false),
            }
            self.check();
        }
        // One run of each graph without failures converges from any state.
        (0..N_TYPES).for_each(|type_idx| self.run(type_idx, false));
        let planned: Vec<_> = (0..N_TYPES).map(|type_idx| self.planned(type_idx)).collect();
        assert_eq!(planned, vec![BTreeSet::new(); N_TYPES], "not converged after {:#?}", self.log);
        self.check();
    }

    fn set_label(&mut self, node_idx: usize, value: u64) {
        self.log.push(format!("label {value} on node {}", self.site.nodes[node_idx]));
        self.labels[node_idx] = value;
        let path = format!("/api/v1/nodes/{}", self.site.nodes[node_idx]);
        let labels = json!({"labels": {"rack": value.to_string()}});
        self.site.client.expect(200, "PUT", &path, Some(&labels));
    }

    /// A dry run decides like a plan and starts no attempt.
    fn dry_run(&mut self, type_idx: usize) {
        let planned = self.planned(type_idx);
        self.log.push(format!("dry run of graph {type_idx}: {planned:?}"));
        let before = self.attempts(type_idx);
        let graphs = json!([{"type": self.graph_types[type_idx]}]);
        let run = self.site.execute(&json!({"graphs": graphs, "dry_run": true}));
        let ended = self.site.wait_for_end(run);
        assert_eq!(ended["status"], "ready", "{ended} {:#?}", self.log);
        let details = self.site.client.expect(200, "GET", &format!("/api/v1/runs/{run}"), None);
        assert_eq!(details["parts"].as_array().unwrap().len(), 1, "{details}");
        assert_eq!(self.running(&details["parts"][0]["plan_id"]), planned, "{:#?}", self.log);
        assert_eq!(self.attempts(type_idx), before, "{:#?}", self.log);
    }

    fn set_port(&mut self, port: i64) {
        self.log.push(format!("port {port}"));
        self.port = port;
        let settings = json!({"editable": {"web": {"port": {"value": port}}}});
        let path = format!("/api/v1/clusters/{}/attributes", self.site.cluster);
        self.site.client.expect(200, "PUT", &path, Some(&settings));
    }

    fn upload(&self, type_idx: usize) {
        let task = |(idx, task): (usize, &TaskKind)| {
            let (script, folder) = (self.folder.join("task.sh"), self.folder.display());
            let version = self.versions[type_idx][task.name];
            let cmd = format!(
                "'sh {} {type_idx}-{} {folder} ' + $.uid + ' {version}-' + {}",
                script.display(),
                task.name,
                task.content
            );
            let mut fields = json!({
                "id": task.name, "type": "shell", "version": "3.0.0", "roles": "*",
                "parameters": {"cmd": {"yaql_exp": cmd}, "retries": 0, "timeout": 900},
            });
            if let Some(condition) = task.condition {
                fields["condition"] = json!({"yaql_exp": condition});
            }
            if idx > 0 {
                fields["requires"] = json!([TASKS[idx - 1].name]);
            }
            fields
        };
        let tasks: Vec<Value> = TASKS.iter().enumerate().map(task).collect();
        let (cluster, graph_type) = (self.site.cluster, &self.graph_types[type_idx]);
        let path = format!("/api/v1/clusters/{cluster}/deployment_tasks/?graph_type={graph_type}");
        self.site.client.expect(200, "PUT", &path, Some(&json!(tasks)));
    }

    /// The machine of a node is installed anew.
    fn reinstall(&mut self) {
        let node_idx = self.rng.below(self.site.nodes.len() as u64) as usize;
        self.log.push(format!("reinstall node {}", self.site.nodes[node_idx]));
        _ = fs::remove_dir_all(self.machine(node_idx));
        let path = format!("/api/v1/nodes/{}", self.site.nodes[node_idx]);
        self.site.client.expect(200, "PUT", &path, Some(&json!({"status": "provisioned"})));
        self.known.retain(|(_, _, known_idx), _| *known_idx != node_idx);
    }

    /// Replaces the machine of a node by an empty one, whose agent joins without a journal.
    fn replace(&mut self) {
        let node_idx = self.rng.below(self.site.nodes.len() as u64) as usize;
        self.log.push(format!("replace node {}", self.site.nodes[node_idx]));
        _ = fs::remove_dir_all(self.machine(node_idx));
        self.site.replace_machine(node_idx);
        self.known.retain(|(_, _, known_idx), _| *known_idx != node_idx);
    }

    fn machine(&self, node_idx: usize) -> PathBuf {
        self.folder.join(format!("machine-{}", self.site.nodes[node_idx]))
    }

    fn marker(&self, node_idx: usize, text: &str) -> PathBuf {
        self.folder.join(format!("machine-{}.{text}", self.site.nodes[node_idx]))
    }

    /// Number of attempts of the tasks of a graph.
    fn attempts(&self, type_idx: usize) -> BTreeMap<(&'static str, usize), usize> {
        let nodes = 0..self.site.nodes.len();
        let instances =
            TASKS.iter().flat_map(|task| nodes.clone().map(move |node_idx| (task.name, node_idx)));
        let n_attempts = |(task, node_idx): (&str, usize)| {
            let log = self.machine(node_idx).join(format!("{type_idx}-{task}.log"));
            fs::read_to_string(log).unwrap_or_default().lines().count()
        };
        instances.map(|instance| (instance, n_attempts(instance))).collect()
    }

    /// Runs a graph. On request, one task on one node fails, or while it is running, its agent is killed, its machine is
    /// replaced or the run is stopped.
    fn run(&mut self, type_idx: usize, is_disturbed: bool) {
        let planned = self.planned(type_idx);
        let before = self.attempts(type_idx);
        let victim = planned.iter().nth(self.rng.below(planned.len().max(1) as u64) as usize).copied();
        let victim = victim.filter(|_| is_disturbed);
        let disturbance = match self.rng.below(4) {
            0 => Disturbance::Fails,
            1 => Disturbance::LosesAgent,
            2 => Disturbance::LosesMachine,
            _ => Disturbance::IsStopped,
        };
        let hangs = disturbance != Disturbance::Fails;
        let marker = victim.as_ref().map(|(task, node_idx)| {
            let end = if hangs { "hang" } else { "fail" };
            let marker = self.marker(*node_idx, &format!("{end}-{type_idx}-{task}"));
            touch(&marker);
            marker
        });
        self.log.push(format!("run graph {type_idx}: {planned:?}, disturbed: {victim:?} {disturbance:?}"));
        let run = self.site.execute(&json!({"graphs": [{"type": self.graph_types[type_idx]}]}));
        if let Some((_, node_idx)) = victim.as_ref().filter(|_| hangs) {
            let hanging = self.marker(*node_idx, "hanging");
            until("the task hangs", || hanging.exists().then_some(()));
            let process = fs::read_to_string(&hanging).unwrap();
            fs::remove_file(hanging).unwrap();
            match disturbance {
                Disturbance::LosesMachine => {
                    self.site.replace_machine(*node_idx);
                    // The processes of the former machine are gone, and its files.
                    _ = Command::new("kill").args(["-9", process.trim()]).status();
                    _ = fs::remove_dir_all(self.machine(*node_idx));
                }
                Disturbance::IsStopped => {
                    let path = format!("/api/v1/runs/{run}/stop");
                    self.site.client.expect(202, "POST", &path, Some(&json!({"how": "now"})));
                }
                Disturbance::LosesAgent | Disturbance::Fails => {
                    self.site.kill_agent(*node_idx);
                    self.site.start_agent(*node_idx);
                }
            }
        }
        self.site.wait_for_end(run);
        if let Some((_, node_idx)) = victim {
            self.site.await_agent(node_idx);
        }
        marker.map(fs::remove_file).transpose().unwrap();
        let replaced =
            victim.filter(|_| disturbance == Disturbance::LosesMachine).map(|(_, node_idx)| node_idx);
        self.known.retain(|(_, _, node_idx), _| Some(*node_idx) != replaced);
        let attempts = self.attempts(type_idx).into_iter();
        for ((task, node_idx), n_attempts) in
            attempts.filter(|((_, node_idx), _)| Some(*node_idx) != replaced)
        {
            let n_attempts = n_attempts - before[&(task, node_idx)];
            let is_planned = planned.contains(&(task, node_idx));
            assert!(n_attempts <= usize::from(is_planned), "{task}: {:#?}", self.log);
            let known = self.known.entry((type_idx, task, node_idx)).or_default();
            if n_attempts == 0 {
                assert!(!is_planned || victim.is_some(), "{task} did not run: {:#?}", self.log);
                known.may_be_tainted |= is_planned;
                continue;
            }
            known.may_be_tainted = false;
            known.is_tainted = victim == Some((task, node_idx));
            // Another attempt may have been cancelled with the run.
            known.may_be_tainted |= victim.is_some() && disturbance == Disturbance::IsStopped;
            if !known.is_tainted {
                let (version, labels) = (self.versions[type_idx][task], self.labels.clone());
                known.success = Some(Success { version, port: self.port, labels });
            }
        }
    }

    /// The instances that a new plan of a graph runs.
    fn planned(&self, type_idx: usize) -> BTreeSet<(&'static str, usize)> {
        let path = format!("/api/v1/clusters/{}/plans", self.site.cluster);
        let request = json!({"graph_type": self.graph_types[type_idx]});
        self.running(&self.site.client.expect(201, "POST", &path, Some(&request))["id"])
    }

    fn running(&self, plan: &Value) -> BTreeSet<(&'static str, usize)> {
        let path = format!("/api/v1/plans/{plan}/instances?action=run");
        let instances = self.site.client.expect(200, "GET", &path, None);
        let name = |instance: &Value| {
            let task = TASKS.iter().find(|task| instance["task"] == task.name).unwrap().name;
            let uid = instance["node"].as_str().unwrap();
            (task, self.site.nodes.iter().position(|node| node.to_string() == uid).unwrap())
        };
        instances.as_array().unwrap().iter().map(name).collect()
    }

    /// Compares the plans with the model, and the skipped instances with the machines.
    fn check(&self) {
        let are_ready = self.are_nodes_ready();
        for type_idx in 0..N_TYPES {
            let planned = self.planned(type_idx);
            for task in TASKS {
                for node_idx in 0..self.site.nodes.len() {
                    let is_planned = planned.contains(&(task.name, node_idx));
                    self.check_instance(task, (type_idx, task.name, node_idx), is_planned, are_ready);
                }
            }
        }
    }

    fn check_instance(&self, task: &TaskKind, instance: Instance, is_planned: bool, are_ready: bool) {
        let (type_idx, name, node_idx) = instance;
        let known = self.known.get(&instance).cloned().unwrap_or_default();
        let version = self.versions[type_idx][name];
        let is_due = match &known.success {
            _ if known.is_tainted => true,
            None => true,
            Some(success) if success.version != version => true,
            Some(success) if task.content.contains(PORT) => success.port != self.port,
            Some(success) => task.condition.is_some() && (!are_ready || success.labels != self.labels),
        };
        let context = || format!("{instance:?} {known:?} after {:#?}", self.log);
        assert!(is_planned == is_due || is_planned && known.may_be_tainted, "{}", context());
        if !is_planned && task.content.contains(PORT) {
            let file = self.machine(node_idx).join(format!("{type_idx}-{name}"));
            let content = fs::read_to_string(file).unwrap_or_default();
            assert_eq!(content.trim(), format!("{version}-{}", self.port), "{}", context());
        }
    }

    fn are_nodes_ready(&self) -> bool {
        let path = format!("/api/v1/nodes?cluster_id={}", self.site.cluster);
        let nodes = self.site.client.expect(200, "GET", &path, None);
        nodes.as_array().unwrap().iter().all(|node| node["status"] == "ready")
    }
}
