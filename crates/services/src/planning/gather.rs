//! Inputs of planning, read from one consistent snapshot.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::json;
use stoker_model::{Cluster, FactsKind, GraphType, NodeId, Task};
use stoker_planner::{EvaluationSettings, InputsKey, compares_inputs, default_condition};
use stoker_settings::EvaluationLimits;
use stoker_state::{MASTER, SuppliedDocuments};
use stoker_store::Session;
use stoker_yaql::Library;

use crate::error::{ServiceError, ServiceResult};
use crate::random;

use super::Planning;
use super::ancestors::Assumed;
use super::old::Applied;
use super::records::{Records, supplied};
use super::request::PlanRequest;
use crate::graphs::{GraphCheck, PlannedGraph, checked_graph, planned_graph};

/// Records of the store, and the merged graph, from which a plan is computed.
pub(super) struct PlanRecords {
    pub(super) records: Records,
    pub(super) supplied: SuppliedDocuments,
    pub(super) graph: PlannedGraph,
    pub(super) graph_check: GraphCheck,
    pub(super) old: Applied,
    pub(super) request: PlanRequest,
    pub(super) library: Arc<Library>,
    pub(super) settings: EvaluationSettings,
    pub(super) placeholders: BTreeMap<String, String>,
    pub(super) inputs_key: InputsKey,
}

impl PlanRecords {
    /// Key for fair scheduling of the computation.
    pub(super) fn cluster_id(&self) -> i64 {
        self.records.cluster.id.0
    }

    pub(super) async fn read(
        planning: &Planning,
        session: &mut Session,
        cluster: Cluster,
        request: PlanRequest,
    ) -> ServiceResult<Self> {
        let (mut graph, graph_check) =
            checked_graph(&planning.graphs, session, &cluster, &request.graph_type).await?;
        if graph.metadata.node_filter.is_none() && !provisions(planning, session, &cluster).await? {
            graph.metadata.node_filter = Some(STAYING.to_owned());
        }
        let mut records = Records::read(&planning.graphs, session, &cluster).await?;
        let assumed = Assumed::read(planning, session, request.parent_id, &request.graph_type).await?;
        assumed.settle(&mut records.nodes);
        extend_default_conditions(&mut graph.tasks, &records);
        check(&request, &graph, &records)?;
        let old = if request.force {
            Applied::default()
        } else {
            let tasks: Vec<&str> = graph.tasks.iter().map(|task: &Task| task.name.as_str()).collect();
            let uids: Vec<String> =
                records.nodes.iter().map(|node| node.id.to_string()).chain([MASTER.to_owned()]).collect();
            let mut applied =
                Applied::read(session, cluster.id, &request.graph_type, &tasks, &uids, assumed).await?;
            // Fingerprints that are not read are replaced by a comparison of rendered parameters, so a call inside of a
            // helper need not be found.
            if graph.tasks.iter().any(compares_inputs) {
                applied.read_inputs(session, cluster.id, &request.graph_type, &tasks).await?;
            }
            applied
        };
        Ok(Self {
            supplied: supplied(session, &cluster, FactsKind::Deployment).await?,
            library: planning.graphs.library(),
            settings: settings(planning)?,
            placeholders: placeholders(planning, &records),
            inputs_key: planning.inputs_key,
            records,
            graph,
            graph_check,
            old,
            request,
        })
    }
}

/// Default node filter: excludes nodes that are pending deletion.
const STAYING: &str = "not $.pending_deletion";

/// Reports whether Stoker provisions the nodes of the cluster. Without a provision graph, nodes are deployable as
/// discovered; with one, the default node filter excludes nodes until they are provisioned.
async fn provisions(planning: &Planning, session: &mut Session, cluster: &Cluster) -> ServiceResult<bool> {
    let Ok(graph_type) = GraphType::new("provision") else { return Ok(false) };
    Ok(!planned_graph(&planning.graphs, session, cluster, &graph_type).await?.tasks.is_empty())
}

/// Lets tasks with the default condition also run on the nodes that the roles of the cluster demand to update. A
/// condition of the task itself takes precedence.
fn extend_default_conditions(tasks: &mut [Task], records: &Records) {
    let Some(update) = records.update_condition() else { return };
    for task in tasks {
        if let Some(default) = default_condition(task) {
            let condition = json!({"yaql_exp": format!("{default} or {update}")});
            task.fields.insert("condition".to_owned(), condition);
        }
    }
}

/// Checks a request without planning it.
pub(super) fn check(request: &PlanRequest, graph: &PlannedGraph, records: &Records) -> ServiceResult<()> {
    let (cluster, release) = (&records.cluster, &records.release);
    // With errors in the graph, a missing task may be one of the broken ones; planning reports all of them together.
    let is_complete = graph.errors.is_empty();
    if is_complete && graph.tasks.is_empty() {
        return Err(ServiceError::invalid(format!(
            "There are no deployment tasks for graph type '{}'. Checked cluster (ID={}), its plugins and release \
             (ID={}).",
            request.graph_type.as_str(),
            cluster.id,
            release.id
        )));
    }
    let members: HashSet<NodeId> = records.nodes.iter().map(|node| node.id).collect();
    let foreign_nodes = request.nodes.iter().flatten().filter(|id| !members.contains(id));
    let foreign_nodes: Vec<String> = foreign_nodes.map(NodeId::to_string).collect();
    if !foreign_nodes.is_empty() {
        let message = format!("Nodes {} do not belong to cluster {}", foreign_nodes.join(", "), cluster.id);
        return Err(ServiceError::invalid(message));
    }
    let names: HashSet<&str> = graph.tasks.iter().map(|task| task.name.as_str()).collect();
    let unknown = request.tasks.iter().flatten().filter(|name| !names.contains(name.as_str()));
    let unknown: Vec<&str> = unknown.map(String::as_str).collect();
    if unknown.is_empty() || !is_complete {
        return Ok(());
    }
    Err(ServiceError::invalid(format!("Tasks {} are not present in deployment graph", unknown.join(","))))
}

fn settings(planning: &Planning) -> ServiceResult<EvaluationSettings> {
    let EvaluationLimits { limit_iterators, memory_quota } = planning.settings.evaluation;
    Ok(EvaluationSettings {
        limit_iterators,
        memory_quota,
        now_micros: planning.clock.now().0,
        random_bits: u64::from_le_bytes(random::bytes()?),
        n_threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    })
}

/// Values of `{NAME}` placeholders in task fields.
fn placeholders(planning: &Planning, records: &Records) -> BTreeMap<String, String> {
    let address = planning.settings.listen.ip();
    let address = if address.is_unspecified() { "127.0.0.1".to_owned() } else { address.to_string() };
    BTreeMap::from([
        ("CLUSTER_ID".to_owned(), records.cluster.id.to_string()),
        ("OPENSTACK_VERSION".to_owned(), records.release.body.version.clone()),
        ("MASTER_IP".to_owned(), address),
    ])
}
