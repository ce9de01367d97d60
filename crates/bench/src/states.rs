//! Storage of applied states: what the runs of a small cluster with few changes leave in the database, and the cost of the marks
//! that are written ahead of attempts. The documents of plans are left out: they are deleted with their runs.

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{
    Actor, AppliedMark, AppliedSuccess, AuditChange, ClusterId, DocumentId, GraphType, Json, JsonMap, Micros,
    NewCluster, NewPlan, NewRelease, NewTenant, ReleaseState, RunId, TaintCause,
};
use stoker_planner::{InputsKey, PlanExtras, encode_extras, inputs_digest, inputs_document};
use stoker_state::Secrets;
use stoker_store::{Database, StateDocument, Store, WriteTransaction};
use tempfile::TempDir;

use crate::row::{Limit, Row};

const N_RUNS: usize = 1000;
const N_NODES: usize = 20;
const N_TASKS: usize = 50;
/// One run in this many follows a change of a setting.
const CHANGE_EVERY: usize = 10;
/// Tasks of a run that follows a change; in other runs one task runs on each node.
const N_TASKS_CHANGED: usize = 5;
const N_SETTINGS: usize = 40;
const SETTING_BYTES: usize = 700;
const FACTS_BYTES: usize = 5000;
const COMMAND_BYTES: usize = 300;
const N_WARNINGS: usize = 5;
const KEY: InputsKey = InputsKey([7; 32]);

pub(crate) async fn measure() -> Result<Vec<Row>, Box<dyn Error>> {
    let folder = TempDir::new()?;
    let path = folder.path().join("states.db");
    let database = Database::Sqlite { path: path.clone() };
    let store = Store::open(&database).await?;
    let cluster = make_cluster(&store).await?;
    let mut cost = Cost::default();
    // The first run stores everything and is no growth.
    run(&store, cluster, 0, &mut cost).await?;
    store.close().await;
    let before = std::fs::metadata(&path)?.len();
    let store = Store::open(&database).await?;
    let mut cost = Cost::default();
    for number in 1..=N_RUNS {
        run(&store, cluster, number, &mut cost).await?;
    }
    store.close().await;
    let grown = std::fs::metadata(&path)?.len().saturating_sub(before);
    let copy_bytes = state_bytes();
    let per_run = grown as f64 / N_RUNS as f64;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / cost.n_instances as f64;
    Ok(vec![
        Row::new(
            format!("database growth of a run, of {N_RUNS} with {} changes", N_RUNS / CHANGE_EVERY),
            per_run / 1024.0,
            "KiB",
            Limit::AtMost(2.0),
        ),
        Row::new(
            format!("growth of a run, of a copy of the state of {N_NODES} nodes"),
            per_run / copy_bytes as f64,
            "times",
            Limit::AtMost(0.02),
        ),
        Row::new("mark of an instance before its attempt", micros(cost.marking), "µs", Limit::AtMost(1000.0)),
        Row::new("record of a success", micros(cost.recording), "µs", Limit::AtMost(1000.0)),
    ])
}

#[derive(Default)]
struct Cost {
    marking: Duration,
    recording: Duration,
    n_instances: usize,
}

/// Stores what a run stores about states: the documents of its plan, marks, and successes.
async fn run(
    store: &Store,
    cluster: ClusterId,
    number: usize,
    cost: &mut Cost,
) -> Result<(), Box<dyn Error>> {
    let graph_type = GraphType::default();
    let run = RunId(number as i64 + 1);
    let mut writing = begin(store).await?;
    let documents: Vec<StateDocument> = documents(number).into_iter().map(StateDocument::new).collect();
    let ids = writing.documents_put(&documents).await?;
    let (common_id, own) = (ids[0], &ids[1..]);
    let shared = [graph(), sources(), settled()].map(StateDocument::new);
    let shared = writing.documents_put(&shared).await?;
    let (graph_id, sources_id, settled_id) = (shared[0], Some(shared[1]), Some(shared[2]));
    let plan = writing
        .plan_create(&NewPlan {
            cluster_id: cluster,
            graph_type: graph_type.clone(),
            parent_id: None,
            request: json!({}),
            n_run: 0,
            n_skip: 0,
            inputs: json!({}),
            graph_id,
            common_id,
            nodes: own.iter().enumerate().map(|(node, id)| (node.to_string(), *id)).collect(),
            document: Vec::new(),
        })
        .await?;
    let snapshot = writing.plan_snapshot_put(plan.id, common_id, graph_id, sources_id, settled_id).await?;
    writing.plan_extras_put(plan.id, &encode_extras(&extras())).await?;
    commit(writing).await?;

    let is_changed = number.is_multiple_of(CHANGE_EVERY);
    let n_tasks = if number == 0 {
        N_TASKS
    } else if is_changed {
        N_TASKS_CHANGED
    } else {
        1
    };
    let instances = || (0..n_tasks).flat_map(|task| (0..N_NODES).map(move |node| (task, node)));
    let marks: Vec<AppliedMark> = instances()
        .map(|(task, node)| AppliedMark {
            node_uid: node.to_string(),
            task_name: format!("task-{task}"),
            cause: TaintCause::InFlight,
        })
        .collect();
    let inputs: Vec<Json> = instances().map(|(task, node)| inputs(task, node, number)).collect();
    let stored = inputs.iter().map(|inputs| inputs_document(inputs, &Secrets::default(), &KEY));
    let stored: Vec<StateDocument> = stored.map(StateDocument::new).collect();
    let started = Instant::now();
    let mut writing = begin(store).await?;
    writing.applied_mark(cluster, &graph_type, run, &marks).await?;
    commit(writing).await?;
    cost.marking += started.elapsed();
    let started = Instant::now();
    let mut writing = begin(store).await?;
    let inputs_ids = writing.documents_put(&stored).await?;
    let success =
        |(((task, node), inputs), inputs_id): (((usize, usize), &Json), &DocumentId)| AppliedSuccess {
            node_uid: node.to_string(),
            task_name: format!("task-{task}"),
            document_id: own[node],
            inputs: Some(inputs_digest("shell", inputs, &KEY).to_string()),
            inputs_id: Some(*inputs_id),
        };
    let successes: Vec<AppliedSuccess> = instances().zip(&inputs).zip(&inputs_ids).map(success).collect();
    writing.applied_put(cluster, &graph_type, run, snapshot, &successes).await?;
    commit(writing).await?;
    cost.recording += started.elapsed();
    cost.n_instances += marks.len();
    Ok(())
}

/// Rendered parameters of a task. Those of the tasks of a changed run have changed with it.
fn inputs(task: usize, node: usize, run: usize) -> Json {
    let n_changes = if task < N_TASKS_CHANGED { run / CHANGE_EVERY } else { 0 };
    json!({"cmd": format!("{task:0>COMMAND_BYTES$}"), "node": node, "setting": n_changes})
}

/// Fields by task.
fn graph() -> JsonMap {
    let task = |task: usize| {
        let cmd = format!("{task:0>COMMAND_BYTES$}");
        json!({"type": "shell", "version": "3.0.0", "roles": "*", "parameters": {"cmd": cmd, "timeout": 60}})
    };
    (0..N_TASKS).map(|number| (format!("task-{number}"), task(number))).collect()
}

fn sources() -> JsonMap {
    let files = |task: usize| (format!("task-{task}"), json!({"/etc/motd": format!("{task:0>64}")}));
    JsonMap::from_iter([("files".to_owned(), (0..N_TASKS).map(files).collect())])
}

fn settled() -> JsonMap {
    let nodes = (0..N_NODES).map(|node| (node.to_string(), json!("ready"))).collect();
    JsonMap::from_iter([("nodes".to_owned(), nodes), ("cluster".to_owned(), json!("operational"))])
}

fn extras() -> PlanExtras {
    let warning = |task: usize| {
        let message = "parameters read `$.a`, but the condition observes only `$.b`: the task does not run when they change";
        let help = "add `or inputsChanged()` to the condition, or `changed()` of these paths";
        let warning = Diagnostic::warning("graph-unobserved-input", message).help(help);
        warning.task(&format!("task-{task}"), "condition")
    };
    PlanExtras { warnings: (0..N_WARNINGS).map(warning).collect(), ..PlanExtras::default() }
}

/// The common document and the documents of the nodes, after as many changes of settings as there were by this run.
fn documents(run: usize) -> Vec<JsonMap> {
    let n_changes = run / CHANGE_EVERY;
    let value = |setting: usize| {
        let n_own = (n_changes + N_SETTINGS - setting) / N_SETTINGS;
        format!("{n_own:0>SETTING_BYTES$}")
    };
    let settings: JsonMap =
        (0..N_SETTINGS).map(|setting| (format!("s{setting}"), json!({"value": value(setting)}))).collect();
    let records: Vec<Json> = (0..N_NODES)
        .map(|node| json!({"uid": node.to_string(), "role": "worker", "status": "ready"}))
        .collect();
    let common = json!({"settings": settings, "nodes": records, "cluster": {"status": "operational"}});
    let own = |node: usize| json!({"uid": node.to_string(), "status": "ready", "facts": format!("{node:0>FACTS_BYTES$}")});
    let all = std::iter::once(common).chain((0..N_NODES).map(own));
    all.filter_map(|document| document.as_object().cloned()).collect()
}

fn state_bytes() -> usize {
    documents(0)
        .iter()
        .filter_map(|document| serde_json::to_string(document).ok())
        .map(|text| text.len())
        .sum()
}

async fn make_cluster(store: &Store) -> Result<ClusterId, Box<dyn Error>> {
    let mut writing = begin(store).await?;
    let tenant = NewTenant { name: "bench".to_owned(), description: None, enabled: true };
    let tenant_id = writing.tenant_create(&tenant).await?.id;
    let release = NewRelease {
        name: "bench".to_owned(),
        version: "1.0".to_owned(),
        description: None,
        operating_system: "Debian".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: JsonMap::new(),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        required_component_types: Vec::new(),
        extensions: Vec::new(),
        extra: JsonMap::new(),
    };
    let release_id = writing.release_create(&release).await?.id;
    let cluster = NewCluster {
        tenant_id,
        release_id,
        name: "bench".to_owned(),
        mode: "ha_compact".to_owned(),
        net_provider: "neutron".to_owned(),
        net_segment_type: None,
        components: Vec::new(),
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: None,
        merge_mode: None,
    };
    let cluster = writing.cluster_create(&cluster).await?;
    commit(writing).await?;
    Ok(cluster.id)
}

async fn begin(store: &Store) -> Result<WriteTransaction, Box<dyn Error>> {
    Ok(store.begin_write(&Actor::server(), Micros(1)).await?)
}

async fn commit(writing: WriteTransaction) -> Result<(), Box<dyn Error>> {
    let change = AuditChange { action: "bench", target: "bench".to_owned(), detail: json!({}) };
    Ok(writing.commit(change).await?)
}
