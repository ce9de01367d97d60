//! Random histories on a real server with real agents. A machine is a directory, and the truth is what its files contain.
//!
//! Each history has a graph type of its own, so it starts without applied states. After each step the plan is compared with a model that
//! knows, for each task and node, the last success and whether an attempt did not succeed since; every instance
//! that the plan skips must have the right content on its machine.

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

/// What the model knows about a task on a node.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Version and port of the last success.
    success: Option<(u64, i64)>,
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
}

struct History<'s> {
    site: &'s mut Site,
    rng: &'s mut SeededRng,
    graph_type: String,
    folder: PathBuf,
    port: i64,
    /// Version of the definition of each task.
    versions: BTreeMap<&'static str, u64>,
    known: BTreeMap<(&'static str, usize), Known>,
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
        let versions = TASKS.iter().map(|task| (task.name, 1)).collect();
        let graph_type = format!("history{number}");
        let mut history = Self {
            site,
            rng,
            graph_type,
            folder,
            port: 80,
            versions,
            known: BTreeMap::new(),
            log: Vec::new(),
        };
        history.set_port(80);
        history.upload();
        history
    }

    fn replay(mut self) {
        self.run(false);
        for _ in 0..N_STEPS {
            match self.rng.below(9) {
                0 | 1 => {
                    let port = 80 + self.rng.below(2) as i64;
                    self.set_port(port);
                }
                2 => {
                    let task = TASKS[self.rng.below(TASKS.len() as u64) as usize].name;
                    *self.versions.entry(task).or_default() += 1;
                    self.log.push(format!("edit {task}"));
                    self.upload();
                }
                3 => self.reinstall(),
                4 => self.replace(),
                5 => self.run(true),
                _ => self.run(false),
            }
            self.check();
        }
        // One run without failures converges from any state.
        self.run(false);
        assert_eq!(self.planned(), BTreeSet::new(), "not converged after {:#?}", self.log);
        self.check();
    }

    fn set_port(&mut self, port: i64) {
        self.log.push(format!("port {port}"));
        self.port = port;
        let settings = json!({"editable": {"web": {"port": {"value": port}}}});
        let path = format!("/api/v1/clusters/{}/attributes", self.site.cluster);
        self.site.client.expect(200, "PUT", &path, Some(&settings));
    }

    fn upload(&self) {
        let task = |(idx, task): (usize, &TaskKind)| {
            let (script, folder) = (self.folder.join("task.sh"), self.folder.display());
            let version = self.versions[task.name];
            let cmd = format!(
                "'sh {} {} {folder} ' + $.uid + ' {version}-' + {}",
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
        let (cluster, graph_type) = (self.site.cluster, &self.graph_type);
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
        self.known.retain(|(_, known_idx), _| *known_idx != node_idx);
    }

    /// Replaces the machine of a node by an empty one, whose agent joins without a journal.
    fn replace(&mut self) {
        let node_idx = self.rng.below(self.site.nodes.len() as u64) as usize;
        self.log.push(format!("replace node {}", self.site.nodes[node_idx]));
        _ = fs::remove_dir_all(self.machine(node_idx));
        self.site.replace_machine(node_idx);
        self.known.retain(|(_, known_idx), _| *known_idx != node_idx);
    }

    fn machine(&self, node_idx: usize) -> PathBuf {
        self.folder.join(format!("machine-{}", self.site.nodes[node_idx]))
    }

    fn marker(&self, node_idx: usize, text: &str) -> PathBuf {
        self.folder.join(format!("machine-{}.{text}", self.site.nodes[node_idx]))
    }

    fn n_attempts(&self, task: &str, node_idx: usize) -> usize {
        let log = fs::read_to_string(self.machine(node_idx).join(format!("{task}.log")));
        log.unwrap_or_default().lines().count()
    }

    /// Runs the graph. On request, one task on one node fails, or its agent is killed or its machine replaced while it is
    /// running.
    fn run(&mut self, is_disturbed: bool) {
        let planned = self.planned();
        let nodes = 0..self.site.nodes.len();
        let before: BTreeMap<(&str, usize), usize> = TASKS
            .iter()
            .flat_map(|task| nodes.clone().map(move |node_idx| (task.name, node_idx)))
            .map(|(task, node_idx)| ((task, node_idx), self.n_attempts(task, node_idx)))
            .collect();
        let victim = planned.iter().nth(self.rng.below(planned.len().max(1) as u64) as usize).copied();
        let victim = victim.filter(|_| is_disturbed);
        let disturbance = match self.rng.below(3) {
            0 => Disturbance::Fails,
            1 => Disturbance::LosesAgent,
            _ => Disturbance::LosesMachine,
        };
        let hangs = disturbance != Disturbance::Fails;
        let marker = victim.as_ref().map(|(task, node_idx)| {
            let marker = self.marker(*node_idx, &format!("{}-{task}", if hangs { "hang" } else { "fail" }));
            touch(&marker);
            marker
        });
        self.log.push(format!("run {planned:?}, disturbed: {victim:?} {disturbance:?}"));
        let run = self.site.execute(&json!({"graphs": [{"type": self.graph_type}]}));
        if let Some((_, node_idx)) = victim.as_ref().filter(|_| hangs) {
            let hanging = self.marker(*node_idx, "hanging");
            until("the task hangs", || hanging.exists().then_some(()));
            let process = fs::read_to_string(&hanging).unwrap();
            fs::remove_file(hanging).unwrap();
            if disturbance == Disturbance::LosesMachine {
                self.site.replace_machine(*node_idx);
                // The processes of the former machine are gone, and its files.
                _ = Command::new("kill").args(["-9", process.trim()]).status();
                _ = fs::remove_dir_all(self.machine(*node_idx));
            } else {
                self.site.kill_agent(*node_idx);
                self.site.start_agent(*node_idx);
            }
        }
        self.site.wait_for_end(run);
        if let Some((_, node_idx)) = victim {
            self.site.await_agent(node_idx);
        }
        marker.map(fs::remove_file).transpose().unwrap();
        let replaced =
            victim.filter(|_| disturbance == Disturbance::LosesMachine).map(|(_, node_idx)| node_idx);
        self.known.retain(|(_, node_idx), _| Some(*node_idx) != replaced);
        for task in TASKS {
            for node_idx in nodes.clone().filter(|node_idx| Some(*node_idx) != replaced) {
                let n_attempts = self.n_attempts(task.name, node_idx) - before[&(task.name, node_idx)];
                let is_planned = planned.contains(&(task.name, node_idx));
                assert!(n_attempts <= usize::from(is_planned), "{}: {:#?}", task.name, self.log);
                let known = self.known.entry((task.name, node_idx)).or_default();
                if n_attempts == 0 {
                    assert!(!is_planned || victim.is_some(), "{} did not run: {:#?}", task.name, self.log);
                    known.may_be_tainted |= is_planned;
                    continue;
                }
                known.may_be_tainted = false;
                known.is_tainted = victim == Some((task.name, node_idx));
                if !known.is_tainted {
                    known.success = Some((self.versions[task.name], self.port));
                }
            }
        }
    }

    /// The instances that a new plan runs.
    fn planned(&self) -> BTreeSet<(&'static str, usize)> {
        let path = format!("/api/v1/clusters/{}/plans", self.site.cluster);
        let plan = self.site.client.expect(201, "POST", &path, Some(&json!({"graph_type": self.graph_type})));
        let path = format!("/api/v1/plans/{}/instances?action=run", plan["id"]);
        let instances = self.site.client.expect(200, "GET", &path, None);
        let name = |instance: &Value| {
            let task = TASKS.iter().find(|task| instance["task"] == task.name).unwrap().name;
            let uid = instance["node"].as_str().unwrap();
            (task, self.site.nodes.iter().position(|node| node.to_string() == uid).unwrap())
        };
        instances.as_array().unwrap().iter().map(name).collect()
    }

    /// Compares the plan with the model, and the skipped instances with the machines.
    fn check(&self) {
        let (planned, are_ready) = (self.planned(), self.are_nodes_ready());
        for task in TASKS {
            for node_idx in 0..self.site.nodes.len() {
                let instance = (task.name, node_idx);
                let known = self.known.get(&instance).cloned().unwrap_or_default();
                let version = self.versions[task.name];
                let is_due = match known.success {
                    _ if known.is_tainted => true,
                    None => true,
                    Some((applied, _)) if applied != version => true,
                    Some((_, port)) if task.content.contains(PORT) => port != self.port,
                    Some(_) => task.condition.is_some() && !are_ready,
                };
                let context = || format!("{instance:?} {known:?} after {:#?}", self.log);
                let is_planned = planned.contains(&instance);
                assert!(is_planned == is_due || is_planned && known.may_be_tainted, "{}", context());
                if !is_planned && task.content.contains(PORT) {
                    let content =
                        fs::read_to_string(self.machine(node_idx).join(task.name)).unwrap_or_default();
                    assert_eq!(content.trim(), format!("{version}-{}", self.port), "{}", context());
                }
            }
        }
    }

    fn are_nodes_ready(&self) -> bool {
        let path = format!("/api/v1/nodes?cluster_id={}", self.site.cluster);
        let nodes = self.site.client.expect(200, "GET", &path, None);
        nodes.as_array().unwrap().iter().all(|node| node["status"] == "ready")
    }
}
