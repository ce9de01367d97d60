//! Creation, update and deletion of the graph of an owner. The caller has checked access to the owner in the
//! same transaction.

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_graph::is_with_defaults;
use stoker_manifest::graph::GraphBody;
use stoker_model::{AuditChange, Graph, GraphMetadata, GraphSource, GraphType, Owner, Task};
use stoker_store::{StoreError, WriteTransaction};

use super::Graphs;
use super::upload::{UploadedGraph, check_tasks};
use crate::error::{ServiceError, ServiceResult};
use crate::precondition::{Precondition, graph_version};

/// Returns the graph type, which path and body must agree on.
pub fn agreed_type(path: Option<GraphType>, body: &GraphBody) -> ServiceResult<GraphType> {
    match (path, &body.graph_type) {
        (Some(path), Some(body)) if path != *body => Err(ServiceError::invalid(format!(
            "the path names graph type `{path}`, the body `{body}`; the type of a graph cannot change"
        ))),
        (Some(path), _) => Ok(path),
        (None, body) => Ok(body.clone().unwrap_or_default()),
    }
}

/// Returns the owner and the graph type that a body names: in `model`, `model_id` and `type`, or in `relations` as responses
/// show them.
pub fn named_owner(body: &GraphBody) -> ServiceResult<(Owner, GraphType)> {
    let relation = match &body.relations[..] {
        [] => None,
        [relation] => Some(relation),
        relations => {
            let n_relations = relations.len();
            let message = format!("`relations` names {n_relations} owners; a graph has exactly one");
            return Err(ServiceError::invalid(message));
        }
    };
    let Some(owner) = body.owner.or_else(|| relation.map(|relation| relation.owner)) else {
        let message = "missing owner: set `model_id` and, unless the owner is a cluster, `model` (`release` or `plugin`)";
        return Err(ServiceError::invalid(message));
    };
    let graph_type = body.graph_type.as_ref();
    if let Some(relation) = relation {
        if relation.owner != owner {
            let message = "`relations` and `model`, `model_id` name different owners; remove one of them";
            return Err(ServiceError::invalid(message));
        }
        if let (Some(own), Some(other)) = (graph_type, &relation.graph_type)
            && own != other
        {
            let message =
                format!("`type` is `{own}`, but `relations` has type `{other}`; remove one of them");
            return Err(ServiceError::invalid(message));
        }
    }
    let graph_type = graph_type.or_else(|| relation?.graph_type.as_ref());
    Ok((owner, graph_type.cloned().unwrap_or_default()))
}

/// Rejects a body that names an owner other than the path's.
pub fn agreed_owner(path: Owner, body: &GraphBody) -> ServiceResult<()> {
    match body.owner {
        Some(owner) if owner != path => Err(ServiceError::invalid(format!(
            "the graph belongs to {} {}, the body names {} {}; the owner of a graph cannot change",
            path.kind(),
            path.id(),
            owner.kind(),
            owner.id()
        ))),
        _ => Ok(()),
    }
}

/// A stored graph and its warnings.
pub struct Stored {
    pub graph: Graph,
    pub warnings: Vec<Diagnostic>,
}

/// An uploaded graph that passed all checks.
pub struct CheckedGraph {
    metadata: GraphMetadata,
    tasks: Vec<Task>,
    source: GraphSource,
    warnings: Vec<Diagnostic>,
}

impl CheckedGraph {
    /// Runs the checks before the write transaction begins: a large graph takes a while, and writers are serialized.
    pub fn new(graphs: &Graphs, owner: Owner, uploaded: UploadedGraph) -> ServiceResult<Self> {
        let UploadedGraph { body, source, mut warnings } = uploaded;
        let (metadata, tasks) = body.into_parts();
        warnings.extend(check_tasks(graphs, owner.kind(), &tasks, &source)?);
        Ok(Self { metadata, tasks, source, warnings })
    }
}

pub async fn graph_create(
    mut writing: WriteTransaction,
    owner: Owner,
    graph_type: GraphType,
    checked: CheckedGraph,
) -> ServiceResult<Stored> {
    let CheckedGraph { metadata, tasks, source, warnings } = checked;
    let created = writing.graph_create(owner, &graph_type, &metadata, &tasks).await;
    let graph = created.map_err(|error| match error {
        StoreError::AlreadyExists { .. } => {
            ServiceError::conflict(format!("Deployment graph with type \"{graph_type}\" already exist."))
        }
        error => error.into(),
    })?;
    writing.graph_source_put(&graph, &source).await?;
    writing.commit(describe("graph.create", &graph)).await?;
    Ok(Stored { graph, warnings })
}

/// An uploaded update of a graph that passed all checks.
pub struct CheckedUpdate {
    uploaded: UploadedGraph,
    /// Parent directory of plugin scripts on nodes.
    scripts_root: String,
}

impl CheckedUpdate {
    /// Runs the checks before the write transaction begins. They depend only on the upload; `graph` is read
    /// first, so that a request that cannot succeed is rejected before the expensive part.
    pub fn new(
        graphs: &Graphs,
        graph: &Graph,
        precondition: &Precondition,
        mut uploaded: UploadedGraph,
    ) -> ServiceResult<Self> {
        check_agreement(graph, precondition, &uploaded.body)?;
        let tasks = uploaded.body.tasks.as_deref().unwrap_or_default();
        uploaded.warnings.extend(check_tasks(graphs, graph.owner.kind(), tasks, &uploaded.source)?);
        Ok(Self { uploaded, scripts_root: graphs.settings.plugin_scripts_root.clone() })
    }
}

/// Restores the stored form of tasks that were downloaded from a merged graph, which shows the defaults of plugin tasks, so
/// that uploading them again changes nothing.
async fn without_defaults(
    session: &mut WriteTransaction,
    graph: &Graph,
    scripts_root: &str,
    tasks: &mut [Task],
) -> ServiceResult<()> {
    let Owner::Plugin(id) = graph.owner else { return Ok(()) };
    let Some(plugin) = session.plugin_get(id).await? else { return Ok(()) };
    let folder = plugin.scripts_folder(scripts_root);
    for task in tasks {
        let stored = graph.tasks.iter().map(|stored| &stored.task).find(|stored| stored.name == task.name);
        if let Some(stored) = stored.filter(|stored| is_with_defaults(&plugin, &folder, stored, task)) {
            task.fields.clone_from(&stored.fields);
        }
    }
    Ok(())
}

fn check_agreement(graph: &Graph, precondition: &Precondition, body: &GraphBody) -> ServiceResult<()> {
    precondition.check(graph_version(graph))?;
    agreed_type(Some(graph.graph_type.clone()), body)?;
    agreed_owner(graph.owner, body)
}

/// Updates `graph`, which was read in the same transaction. The graph may have changed since the upload was
/// checked, so the precondition is checked again and the metadata is merged into the current metadata.
pub async fn graph_update(
    mut writing: WriteTransaction,
    graph: Graph,
    precondition: &Precondition,
    checked: CheckedUpdate,
) -> ServiceResult<Stored> {
    let CheckedUpdate { uploaded: UploadedGraph { body, source, warnings }, scripts_root } = checked;
    check_agreement(&graph, precondition, &body)?;
    let mut metadata = graph.metadata.clone();
    let mut tasks = body.apply(&mut metadata);
    if let Some(tasks) = &mut tasks {
        without_defaults(&mut writing, &graph, &scripts_root, tasks).await?;
    }
    let graph = writing.graph_update(graph.id, graph.generation, &metadata, tasks.as_deref()).await?;
    if tasks.is_some() {
        writing.graph_source_put(&graph, &source).await?;
    }
    writing.commit(describe("graph.update", &graph)).await?;
    Ok(Stored { graph, warnings })
}

/// Maximum number of attempts to edit a graph that other requests change concurrently. One request succeeds
/// in each round, so this many requests can edit a graph concurrently.
pub const EDIT_ATTEMPTS_MAX: usize = 16;

/// Tasks derived from one version of a graph that passed all checks.
pub struct CheckedEdit {
    version: String,
    tasks: Vec<Task>,
}

impl CheckedEdit {
    /// Runs the checks before the write transaction begins. `tasks` were derived from those of `graph`.
    pub fn new(graphs: &Graphs, graph: &Graph, tasks: Vec<Task>) -> ServiceResult<Self> {
        check_tasks(graphs, graph.owner.kind(), &tasks, &GraphSource::default())?;
        Ok(Self { version: graph_version(graph), tasks })
    }

    /// Stores the tasks. `graph` was read in the same transaction. Returns `None` and changes nothing if it is not the
    /// version that the tasks were derived from.
    pub async fn store(
        self,
        mut writing: WriteTransaction,
        graph: &Graph,
        action: &'static str,
    ) -> ServiceResult<Option<Graph>> {
        if graph_version(graph) != self.version {
            return Ok(None);
        }
        let graph =
            writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(&self.tasks)).await?;
        writing.commit(describe(action, &graph)).await?;
        Ok(Some(graph))
    }
}

pub async fn graph_delete(
    mut writing: WriteTransaction,
    graph: Graph,
    precondition: &Precondition,
) -> ServiceResult<()> {
    precondition.check(graph_version(&graph))?;
    writing.graph_delete(graph.id).await?;
    Ok(writing.commit(describe("graph.delete", &graph)).await?)
}

/// Replaces the tasks of the owner's graph of that type and creates the graph if needed. Requires [`check_tasks`].
pub async fn graph_tasks_replace(
    mut writing: WriteTransaction,
    owner: Owner,
    graph_type: &GraphType,
    precondition: &Precondition,
    tasks: &[Task],
    source: &GraphSource,
) -> ServiceResult<Graph> {
    let graph = if let Some(graph) = writing.graph_find(owner, graph_type).await? {
        precondition.check(graph_version(&graph))?;
        writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(tasks)).await?
    } else {
        precondition.check_absent()?;
        writing.graph_create(owner, graph_type, &GraphMetadata::default(), tasks).await?
    };
    writing.graph_source_put(&graph, source).await?;
    writing.commit(describe("graph.update", &graph)).await?;
    Ok(graph)
}

/// Returns the audit log entry of a change.
fn describe(action: &'static str, graph: &Graph) -> AuditChange {
    let detail = json!({
        "type": graph.graph_type.as_str(),
        "owner": format!("{} {}", graph.owner.kind(), graph.owner.id()),
        "n_tasks": graph.tasks.len(),
    });
    AuditChange { action, target: format!("graph {}", graph.id), detail }
}
