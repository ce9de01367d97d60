//! Assignment of nodes and roles to clusters. Each request is atomic.

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::assignment::{Assignment, AssignmentView, Unassignment};
use stoker_api_types::error::ErrorItem;
use stoker_manifest::reader::{list_of, object};
use stoker_model::{NodeId, Permission};
use stoker_orchestrator::runs::start_drivers;
use stoker_services::clusters::{AssignedNodes, Removal, nodes_assign, nodes_unassign};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiResult, render_error_item};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("clusters")
        .add(Permission::Operate, routes!(cluster_assign))
        .add(Permission::Operate, routes!(cluster_unassign))
        .finish()
}

/// Assign nodes to a cluster
///
/// Adds nodes to the cluster and sets their pending roles, which the next run deploys. The request is atomic: no node is
/// assigned if roles conflict, or if a role would have more nodes than its maximum.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/assignment", params(("id" = i64, Path)), request_body = [Assignment],
    responses((status = 200, body = Option<AssignmentView>, description = "`null` without warnings"))
)]
async fn cluster_assign(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<Option<AssignmentView>>> {
    let assignments = document.read(list_of(object(Assignment::read)))?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let assignments = assignments.into_iter().map(|Assignment { id, roles }| (NodeId(id), roles)).collect();
    let AssignedNodes { modules, warnings } =
        nodes_assign(&app.settings, writing, &cluster, assignments).await?;
    start_drivers(&app.orchestrator, modules);
    let warnings: Vec<ErrorItem> = warnings.into_iter().map(render_error_item).collect();
    Ok(ApiResponse::ok((!warnings.is_empty()).then_some(AssignmentView { warnings })))
}

/// Unassign nodes from a cluster
///
/// Removes nodes: immediately if they were never deployed, otherwise with the next run, which executes the deletion
/// graph on them. The request is atomic.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/unassignment",
    params(
        ("id" = i64, Path),
        ("now" = Option<String>, Query, description = "1: remove the nodes immediately, without the deletion graph"),
    ),
    request_body = [Unassignment],
    responses(
        (status = 200, body = (), description = "`null`"),
        (status = 409, body = stoker_api_types::error::Envelope, description = "A run is active and `now` is set"),
    )
)]
async fn cluster_unassign(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
    document: Document,
) -> ApiResult<ApiResponse<()>> {
    let removal = if query.boolean("now") { Removal::Now } else { Removal::WithNextRun };
    query.finish()?;
    let nodes = document.read(list_of(object(Unassignment::read)))?;
    let ids: Vec<NodeId> = nodes.iter().map(|node| NodeId(node.id)).collect();
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    nodes_unassign(writing, &cluster, &ids, removal).await?;
    Ok(ApiResponse::ok(()))
}
