//! Assignment of nodes and roles to clusters. Each request is atomic.

use axum::extract::State;
use stoker_manifest::reader::{identifier, list_of, object, string_with_length};
use stoker_model::{NodeId, Permission};
use stoker_orchestrator::runs::start_drivers;
use stoker_services::clusters::{nodes_assign, nodes_unassign};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("clusters")
        .add(Permission::Operate, routes!(cluster_assign))
        .add(Permission::Operate, routes!(cluster_unassign))
        .finish()
}

/// Node and its roles.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct Assignment {
    /// ID of the node.
    #[schema(example = 1, minimum = 1)]
    id: i64,
    /// Roles of the node after the next run.
    #[schema(example = json!(["controller"]))]
    roles: Vec<String>,
}

/// Node to unassign.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct Unassignment {
    /// ID of the node.
    #[schema(example = 1, minimum = 1)]
    id: i64,
}

/// Assign nodes to a cluster
///
/// Adds nodes to the cluster and sets their pending roles, which the next run deploys. The request is atomic.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/assignment", params(("id" = i64, Path)), request_body = [Assignment],
    responses((status = 200, body = (), description = "`null`"))
)]
async fn cluster_assign(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<()>> {
    let assignments = document.read(list_of(object(|fields| {
        let id = fields.required("id", identifier);
        let roles = fields.required("roles", list_of(string_with_length(1..=255)));
        Some((NodeId(id?), roles?))
    })))?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let modules = nodes_assign(&app.settings, writing, &cluster, assignments).await?;
    start_drivers(&app.orchestrator, modules);
    Ok(ApiResponse::ok(()))
}

/// Unassign nodes from a cluster
///
/// Removes nodes immediately if nothing was deployed to them, otherwise with the next run. The request is
/// atomic.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/unassignment", params(("id" = i64, Path)), request_body = [Unassignment],
    responses((status = 200, body = (), description = "`null`"))
)]
async fn cluster_unassign(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<()>> {
    let ids = document.read(list_of(object(|fields| fields.required("id", identifier).map(NodeId))))?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    nodes_unassign(writing, &cluster, &ids).await?;
    Ok(ApiResponse::ok(()))
}
