//! Agents in the test process: the real session state machine, journal writes that are acknowledged without
//! being stored, and tasks whose `cmd` parameter selects their behaviour (`fail`, `time out`,
//! `interrupt`, `refuse`, `hang`, `forge`, `change nothing`, `take a moment`).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use stoker_engine::session::agent::{AgentLimits, AgentSession, Identity, Input, Output};
use stoker_engine::session::{
    Attempt, AttemptKey, AttemptResult, CheckItem, CheckOutcome, CheckReport, CheckRequest, FromAgent,
    ResultKind, Stream,
};
use stoker_model::{InstanceIdx, JsonMap, Micros, TaskReport};
use stoker_server::{AgentSpawner, App, LocalAgent, LocalConnection};
use tokio::sync::mpsc;

/// Attempts in the order of their start, as `task@node`, with their secrets and traces. Clones share the log.
#[derive(Clone, Default)]
pub(crate) struct AttemptLog {
    entries: Arc<Mutex<Vec<String>>>,
    secrets: Arc<Mutex<Vec<String>>>,
    traces: Arc<Mutex<Vec<String>>>,
    n_debug: Arc<Mutex<usize>>,
    facts: Arc<Mutex<JsonMap>>,
    hosts: Arc<Mutex<HashMap<String, CheckOutcome>>>,
    checked: Arc<Mutex<Vec<String>>>,
}

impl AttemptLog {
    pub(crate) fn entries(&self) -> Vec<String> {
        self.entries.lock().clone()
    }

    /// Returns the secrets that agents received to mask them in output.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.secrets.lock().clone()
    }

    /// Returns the `traceparent` values of attempts.
    pub(crate) fn traces(&self) -> Vec<String> {
        self.traces.lock().clone()
    }

    /// Returns the number of attempts with debug output.
    pub(crate) fn n_debug(&self) -> usize {
        *self.n_debug.lock()
    }

    /// Sets the machine id of agents that connect from now on.
    pub(crate) fn set_machine(&self, machine_id: &str) {
        self.set_fact("machine_id", machine_id.into());
    }

    /// Sets a fact that agents report when they connect from now on.
    pub(crate) fn set_fact(&self, name: &str, value: Value) {
        self.facts.lock().insert(name.to_owned(), value);
    }

    /// Sets the result of checks of the resource with this `path`.
    pub(crate) fn set_host(&self, path: &str, result: CheckOutcome) {
        self.hosts.lock().insert(path.to_owned(), result);
    }

    /// Removes and returns what was checked, as `path@node`, sorted.
    pub(crate) fn take_checked(&self) -> Vec<String> {
        let mut checked = std::mem::take(&mut *self.checked.lock());
        checked.sort();
        checked
    }

    fn check(&self, request: CheckRequest) -> CheckReport {
        let in_sync = CheckOutcome::Compared { diff: Vec::new() };
        let result = |item: &CheckItem| {
            let path = item.parameters["path"].as_str().unwrap_or_default();
            self.checked.lock().push(format!("{path}@{}", request.node));
            self.hosts.lock().get(path).unwrap_or(&in_sync).clone()
        };
        CheckReport { results: request.items.iter().map(result).collect(), id: request.id }
    }

    /// Removes and returns the entries.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.entries.lock())
    }
}

/// Makes the server spawn in-process agents that record their attempts in the returned log.
pub(crate) fn install_agents(app: &App) -> AttemptLog {
    let attempts = AttemptLog::default();
    let log = attempts.clone();
    let spawner: AgentSpawner = Arc::new(move |agent: LocalAgent| {
        tokio::spawn(run_agent(agent, log.clone()));
    });
    app.set_agent_spawner(spawner);
    attempts
}

struct Running {
    kill: mpsc::Sender<()>,
}

async fn run_agent(agent: LocalAgent, attempts: AttemptLog) {
    let LocalAgent { uid, connections, .. } = agent;
    let (send, mut messages) = mpsc::channel(64);
    let (reports, receive) = mpsc::channel(64);
    connections.send(LocalConnection { send, receive }).await.unwrap();
    let identity = Identity { node: uid, version: "test".to_owned(), journal_id: None };
    let mut session = AgentSession::new(identity, AgentLimits::default());
    let (exits, mut exited) = mpsc::channel::<(AttemptKey, ResultKind, TaskReport)>(64);
    let mut running: HashMap<AttemptKey, Running> = HashMap::new();
    let mut inputs = VecDeque::from([Input::Connected { facts: attempts.facts.lock().clone() }]);
    loop {
        while let Some(input) = inputs.pop_front() {
            for output in session.step(input, Micros(1)) {
                match output {
                    Output::Write { seq, .. } | Output::Rewrite { seq, .. } => {
                        inputs.push_back(Input::Written { seq });
                    }
                    Output::Send(message) => {
                        if reports.send(message).await.is_err() {
                            return;
                        }
                    }
                    Output::Start(attempt) => {
                        attempts.entries.lock().push(describe(&attempt));
                        attempts.secrets.lock().extend(attempt.secrets.iter().cloned());
                        attempts.traces.lock().extend(attempt.trace.clone());
                        *attempts.n_debug.lock() += usize::from(attempt.debug);
                        let (kill, killed) = mpsc::channel(1);
                        running.insert(attempt.key, Running { kill });
                        send_output(&reports, &attempt).await;
                        send_forged_reports(&reports, &attempt).await;
                        tokio::spawn(execute(attempt, killed, exits.clone()));
                    }
                    Output::Kill(key) => {
                        if let Some(running) = running.get(&key) {
                            attempts.entries.lock().push("killed".to_owned());
                            let _ = running.kill.try_send(());
                        }
                    }
                    Output::Check(request) => {
                        if reports.send(FromAgent::Checked(attempts.check(request))).await.is_err() {
                            return;
                        }
                    }
                    Output::HeartbeatEvery { .. } | Output::Ignored { .. } => {}
                }
            }
        }
        tokio::select! {
            message = messages.recv() => match message {
                Some(message) => inputs.push_back(Input::Message(message)),
                None => return,
            },
            Some((key, end, report)) = exited.recv() => {
                running.remove(&key);
                inputs.push_back(Input::Exited { key, end, report });
            }
        }
    }
}

fn cmd(attempt: &Attempt) -> String {
    attempt.parameters.get("cmd").and_then(Value::as_str).unwrap_or_default().to_owned()
}

async fn send_output(reports: &mpsc::Sender<FromAgent>, attempt: &Attempt) {
    let text = format!("{} says {}\n", attempt.task, cmd(attempt));
    let _ = reports.send(FromAgent::Output { key: attempt.key, stream: Stream::Out, offset: 0, text }).await;
}

/// Sends output and success reports for instances of other agents in the same run, if the command is `forge`.
async fn send_forged_reports(reports: &mpsc::Sender<FromAgent>, attempt: &Attempt) {
    if cmd(attempt) != "forge" {
        return;
    }
    for instance in InstanceIdx::first(4).filter(|instance| *instance != attempt.key.instance) {
        let key = AttemptKey { instance, ..attempt.key };
        let text = "forged\n".to_owned();
        let _ = reports.send(FromAgent::Output { key, stream: Stream::Out, offset: 99, text }).await;
        let finished =
            AttemptResult { key, at: Micros(1), end: ResultKind::Succeeded, report: TaskReport::default() };
        let _ = reports.send(FromAgent::Finished(finished)).await;
    }
}

/// Describes an attempt as `task@node`, or as `action module,module@node` for module tasks.
fn describe(attempt: &Attempt) -> String {
    let Some(modules) = attempt.parameters.get("modules").and_then(Value::as_array) else {
        return format!("{}@{}", attempt.task, attempt.node);
    };
    let names: Vec<&str> = modules.iter().filter_map(|module| module["name"].as_str()).collect();
    format!("{} {}@{}", attempt.parameters["action"].as_str().unwrap(), names.join(","), attempt.node)
}

async fn execute(
    attempt: Attempt,
    mut killed: mpsc::Receiver<()>,
    exits: mpsc::Sender<(AttemptKey, ResultKind, TaskReport)>,
) {
    let mut report = TaskReport::default();
    let end = match cmd(&attempt).as_str() {
        "fail" => ResultKind::Failed { message: "exit code 1".to_owned() },
        "time out" => ResultKind::TimedOut,
        "interrupt" => ResultKind::Interrupted,
        "refuse" => ResultKind::Refused { message: "disk full".to_owned() },
        "hang" => {
            killed.recv().await;
            ResultKind::Cancelled
        }
        "change nothing" => {
            report.changed = Some(false);
            ResultKind::Succeeded
        }
        "take a moment" => {
            tokio::time::sleep(std::time::Duration::from_millis(600)).await;
            ResultKind::Succeeded
        }
        _ if attempt.parameters.get("modules").is_some() => {
            let (end, module_results) = execute_modules(&attempt.parameters["modules"], &mut killed).await;
            report.summary = module_results;
            end
        }
        _ => ResultKind::Succeeded,
    };
    let _ = exits.send((attempt.key, end, report)).await;
}

/// Executes a module task. The prefix of a module's name selects its behaviour: `hang`, `slow`, `refuse` or
/// `bad`.
async fn execute_modules(modules: &Value, killed: &mut mpsc::Receiver<()>) -> (ResultKind, JsonMap) {
    let mut results = Vec::new();
    for module in modules.as_array().unwrap() {
        let name = module["name"].as_str().unwrap();
        if name.starts_with("hang") {
            killed.recv().await;
            return (ResultKind::TimedOut, JsonMap::new());
        }
        if name.starts_with("slow") {
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
        if name.starts_with("refuse") {
            return (ResultKind::Refused { message: "no such driver".to_owned() }, JsonMap::new());
        }
        let status = if name.starts_with("bad") { "ERROR" } else { "OK" };
        let md5 = stoker_modules::md5_hex(module["contents"].as_str().unwrap());
        results
            .push(json!({"id": module["id"], "status": status, "message": format!("{name}\0"), "md5": md5}));
    }
    (ResultKind::Succeeded, JsonMap::from_iter([("modules".to_owned(), Value::Array(results))]))
}
