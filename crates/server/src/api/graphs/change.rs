//! What creating and changing a graph have in common, whichever path it came by.

use serde_json::json;
use stoker_manifest::graph::GraphBody;
use stoker_model::{Change, Graph, GraphMetadata, GraphSource, GraphType, Owner, Task};
use stoker_store::{StoreError, Writing};
use stoker_services::ErrorDetail;

use crate::access::caller::Authenticated;
use crate::api::graphs::access::require_owner;
use crate::api::graphs::upload::{UploadedGraph, judged};
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::{self, IfMatch};
use crate::state::App;

/// The type that path and body agree on.
pub(super) fn agreed_type(path: Option<GraphType>, body: &GraphBody) -> ApiResult<GraphType> {
    match (path, &body.graph_type) {
        (Some(path), Some(body)) if path != *body => Err(ApiError::bad_request(format!(
            "the path is about graph type `{path}`, the body about `{body}`; a type cannot change"
        ))),
        (Some(path), _) => Ok(path),
        (None, body) => Ok(body.clone().unwrap_or_default()),
    }
}

/// The owner that path and body agree on.
pub(super) fn agreed_owner(path: Owner, body: &GraphBody) -> ApiResult<()> {
    match body.owner {
        Some(owner) if owner != path => Err(ApiError::bad_request(format!(
            "the graph belongs to {} {}, the body says {} {}; an owner cannot change",
            path.kind(),
            path.id(),
            owner.kind(),
            owner.id()
        ))),
        _ => Ok(()),
    }
}

/// A graph that was stored, and what is probably wrong with it.
pub(super) struct Stored {
    pub(super) graph: Graph,
    pub(super) warnings: Vec<ErrorDetail>,
}

pub(super) async fn create(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: GraphType,
    uploaded: UploadedGraph,
) -> ApiResult<Stored> {
    let UploadedGraph { body, source, mut warnings } = uploaded;
    let (metadata, tasks) = body.into_parts();
    warnings.extend(judged(app, &tasks, &source)?);
    let mut writing = app.change(login).await?;
    require_owner(&mut writing, login, owner).await?;
    let created = writing.graph_create(owner, &graph_type, &metadata, &tasks).await;
    let graph = created.map_err(|error| match error {
        StoreError::Taken { .. } => {
            ApiError::conflict(format!("Deployment graph with type \"{graph_type}\" already exist."))
        }
        error => error.into(),
    })?;
    writing.graph_source_put(&graph, &source).await?;
    writing.commit(describe("graph.create", &graph)).await?;
    Ok(Stored { graph, warnings })
}

/// Changes a graph found inside the transaction.
pub(super) async fn update(
    app: &App,
    mut writing: Writing,
    graph: Graph,
    condition: &IfMatch,
    uploaded: UploadedGraph,
) -> ApiResult<Stored> {
    let UploadedGraph { body, source, mut warnings } = uploaded;
    condition.check(etag::of_graph(&graph))?;
    agreed_type(Some(graph.graph_type.clone()), &body)?;
    agreed_owner(graph.owner, &body)?;
    let mut metadata = graph.metadata.clone();
    let tasks = body.apply(&mut metadata);
    warnings.extend(judged(app, tasks.as_deref().unwrap_or_default(), &source)?);
    let graph = writing.graph_update(graph.id, graph.generation, &metadata, tasks.as_deref()).await?;
    if tasks.is_some() {
        writing.graph_source_put(&graph, &source).await?;
    }
    writing.commit(describe("graph.update", &graph)).await?;
    Ok(Stored { graph, warnings })
}

pub(super) async fn delete(mut writing: Writing, graph: Graph, condition: &IfMatch) -> ApiResult<()> {
    condition.check(etag::of_graph(&graph))?;
    writing.graph_delete(graph.id).await?;
    Ok(writing.commit(describe("graph.delete", &graph)).await?)
}

/// Puts these tasks in place of the owner's of that type; a graph is made where there is none.
pub(super) async fn replace_tasks(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: &GraphType,
    condition: &IfMatch,
    (tasks, source): (&[Task], &GraphSource),
) -> ApiResult<Graph> {
    judged(app, tasks, source)?;
    let mut writing = app.change(login).await?;
    require_owner(&mut writing, login, owner).await?;
    let graph = if let Some(graph) = writing.graph_find(owner, graph_type).await? {
        condition.check(etag::of_graph(&graph))?;
        writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(tasks)).await?
    } else {
        condition.check_absent()?;
        writing.graph_create(owner, graph_type, &GraphMetadata::default(), tasks).await?
    };
    writing.graph_source_put(&graph, source).await?;
    writing.commit(describe("graph.update", &graph)).await?;
    Ok(graph)
}

pub(super) fn describe(action: &'static str, graph: &Graph) -> Change {
    let detail = json!({
        "type": graph.graph_type.as_str(),
        "owner": format!("{} {}", graph.owner.kind(), graph.owner.id()),
        "n_tasks": graph.tasks.len(),
    });
    Change { action, target: format!("graph {}", graph.id), detail }
}
