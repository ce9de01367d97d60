//! Creation, update and deletion of stored graphs. Graphs are checked before the write transaction begins: a large graph takes a
//! while, and writers are serialized. Inside the transaction, each use case checks that the caller may see the owner.

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_graph::is_with_defaults;
use stoker_manifest::graph::GraphBody;
use stoker_model::{AuditChange, Graph, GraphMetadata, GraphSource, GraphType, Owner, Task};
use stoker_store::{StoreError, WriteTransaction};

use super::Graphs;
use super::key::{GraphKey, require_owner};
use super::upload::{UploadedGraph, check_tasks};
use crate::error::{ServiceError, ServiceResult};
use crate::plugins::enabling::LegacyTasksGuard;
use crate::precondition::{Precondition, graph_version};
use crate::principal::Principal;

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

/// Maximum number of attempts to edit a graph that other requests change concurrently. One request succeeds
/// in each round, so this many requests can edit a graph concurrently.
const EDIT_ATTEMPTS_MAX: usize = 16;

impl Graphs {
    pub async fn create(
        &self,
        principal: &Principal,
        owner: Owner,
        graph_type: GraphType,
        uploaded: UploadedGraph,
    ) -> ServiceResult<Stored> {
        let UploadedGraph { body, source, mut warnings } = uploaded;
        let (metadata, tasks) = body.into_parts();
        warnings.extend(check_tasks(self, owner.kind(), &tasks, &source)?);
        let mut writing = self.change(principal).await?;
        require_owner(&mut writing, principal.tenants, owner).await?;
        let guard = LegacyTasksGuard::before(&mut writing, owner).await?;
        let created = writing.graph_create(owner, &graph_type, &metadata, &tasks).await;
        let graph = created.map_err(|error| match error {
            StoreError::AlreadyExists { .. } => {
                ServiceError::conflict(format!("Deployment graph with type \"{graph_type}\" already exist."))
            }
            error => error.into(),
        })?;
        guard.check(&mut writing).await?;
        writing.graph_source_put(&graph, &source).await?;
        writing.commit(describe("graph.create", &graph)).await?;
        Ok(Stored { graph, warnings })
    }

    pub async fn update(
        &self,
        principal: &Principal,
        key: &GraphKey,
        precondition: &Precondition,
        uploaded: UploadedGraph,
    ) -> ServiceResult<Stored> {
        let UploadedGraph { body, source, mut warnings } = uploaded;
        // The checks depend only on the upload; the graph is read first, so that a request that cannot succeed is rejected
        // before the expensive part.
        let graph = key.find(&mut self.store.snapshot().await?, principal.tenants).await?;
        check_agreement(&graph, precondition, &body)?;
        let uploaded_tasks = body.tasks.as_deref().unwrap_or_default();
        warnings.extend(check_tasks(self, graph.owner.kind(), uploaded_tasks, &source)?);
        let mut writing = self.change(principal).await?;
        // The graph may have changed since, so the metadata is merged into the current metadata.
        let graph = key.find(&mut writing, principal.tenants).await?;
        check_agreement(&graph, precondition, &body)?;
        let mut metadata = graph.metadata.clone();
        let mut tasks = body.apply(&mut metadata);
        if let Some(tasks) = &mut tasks {
            without_defaults(&mut writing, &graph, &self.settings.plugin_scripts_root, tasks).await?;
        }
        let guard = LegacyTasksGuard::before(&mut writing, graph.owner).await?;
        let graph = writing.graph_update(graph.id, graph.generation, &metadata, tasks.as_deref()).await?;
        guard.check(&mut writing).await?;
        if tasks.is_some() {
            writing.graph_source_put(&graph, &source).await?;
        }
        writing.commit(describe("graph.update", &graph)).await?;
        Ok(Stored { graph, warnings })
    }

    /// Stores the tasks that `edit` derives from the tasks of a graph. If the graph changes while they are derived and
    /// checked, both are repeated with its current tasks.
    pub async fn edit_tasks(
        &self,
        principal: &Principal,
        key: &GraphKey,
        precondition: &Precondition,
        action: &'static str,
        edit: impl Fn(&Graph) -> ServiceResult<Vec<Task>> + Send + Sync,
    ) -> ServiceResult<Graph> {
        for _ in 0..EDIT_ATTEMPTS_MAX {
            let graph = key.find(&mut self.store.snapshot().await?, principal.tenants).await?;
            precondition.check(graph_version(&graph))?;
            let tasks = edit(&graph)?;
            check_tasks(self, graph.owner.kind(), &tasks, &GraphSource::default())?;
            let mut writing = self.change(principal).await?;
            let current = key.find(&mut writing, principal.tenants).await?;
            if graph_version(&current) == graph_version(&graph) {
                let guard = LegacyTasksGuard::before(&mut writing, graph.owner).await?;
                let stored =
                    writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(&tasks)).await?;
                guard.check(&mut writing).await?;
                writing.commit(describe(action, &stored)).await?;
                return Ok(stored);
            }
        }
        let message = "other requests keep changing the graph; try again";
        Err(ServiceError::Unavailable { message, source: None })
    }

    /// Replaces the tasks of the owner's graph of that type and creates the graph if needed.
    pub async fn replace_tasks(
        &self,
        principal: &Principal,
        owner: Owner,
        graph_type: &GraphType,
        precondition: &Precondition,
        tasks: &[Task],
        source: &GraphSource,
    ) -> ServiceResult<Graph> {
        check_tasks(self, owner.kind(), tasks, source)?;
        let mut writing = self.change(principal).await?;
        require_owner(&mut writing, principal.tenants, owner).await?;
        let guard = LegacyTasksGuard::before(&mut writing, owner).await?;
        let graph = if let Some(graph) = writing.graph_find(owner, graph_type).await? {
            precondition.check(graph_version(&graph))?;
            writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(tasks)).await?
        } else {
            precondition.check_absent()?;
            writing.graph_create(owner, graph_type, &GraphMetadata::default(), tasks).await?
        };
        guard.check(&mut writing).await?;
        writing.graph_source_put(&graph, source).await?;
        writing.commit(describe("graph.update", &graph)).await?;
        Ok(graph)
    }

    pub async fn delete(
        &self,
        principal: &Principal,
        key: &GraphKey,
        precondition: &Precondition,
    ) -> ServiceResult<()> {
        let mut writing = self.change(principal).await?;
        let graph = key.find(&mut writing, principal.tenants).await?;
        precondition.check(graph_version(&graph))?;
        writing.graph_delete(graph.id).await?;
        Ok(writing.commit(describe("graph.delete", &graph)).await?)
    }

    async fn change(&self, principal: &Principal) -> Result<WriteTransaction, StoreError> {
        self.store.begin_write(&principal.actor, self.clock.now()).await
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

/// Returns the audit log entry of a change.
fn describe(action: &'static str, graph: &Graph) -> AuditChange {
    let detail = json!({
        "type": graph.graph_type.as_str(),
        "owner": format!("{} {}", graph.owner.kind(), graph.owner.id()),
        "n_tasks": graph.tasks.len(),
    });
    AuditChange { action, target: format!("graph {}", graph.id), detail }
}
