//! Assignment of nodes and roles to clusters. Each request is atomic.

mod members;
mod roles;

use axum::extract::State;
use serde_json::json;
use stoker_manifest::reader::{identifier, list_of, object, string_with_length};
use stoker_model::{AuditChange, Cluster, Node, NodeId, Permission, Resource};
use stoker_orchestrator::runs::start_drivers;
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_diagnostics::Diagnostic;
use stoker_services::modules::automatic::enqueue_for;
use stoker_store::StoreError;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::members::set_members;
use self::members::{load, nodes_of_other_clusters};
pub(super) use self::roles::{restricted_roles, role_problems};
use crate::access::caller::Authenticated;
use crate::api::attributes::condition_models;
use crate::api::clusters::access::cluster_of;
use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::limits::check_quota;
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
    let ids: Vec<NodeId> = assignments.iter().map(|(id, _)| *id).collect();
    let nodes = load(&mut writing, &ids).await?;
    let role_metadata = RoleOwner::of_cluster(&mut writing, cluster.clone()).await?.all(NamedSection::Roles);
    let models = condition_models(&mut writing, &cluster).await?;
    let mut reasons = nodes_of_other_clusters(&cluster, &nodes);
    for (index, ((_, roles), node)) in assignments.iter().zip(&nodes).enumerate() {
        let path = format!("[{index}].roles");
        // Restrictions apply only to roles that the node does not have yet.
        let has = |role: &String| {
            node.cluster_id == Some(cluster.id)
                && (node.roles.contains(role) || node.pending_roles.contains(role))
        };
        let mut problems = role_problems(cluster.id, &role_metadata, roles);
        problems.extend(restricted_roles(&models, &role_metadata, roles.iter().filter(|role| !has(role))));
        reasons.extend(problems.into_iter().map(|text| Diagnostic::plain(text).path(&path)));
    }
    if !reasons.is_empty() {
        return Err(ApiError::refused(reasons));
    }
    let mut joined = Vec::new();
    for (mut node, (_, roles)) in nodes.into_iter().zip(assignments) {
        let is_new = node.cluster_id != Some(cluster.id);
        assign(&mut node, &cluster, roles);
        let node = writing.node_update(&node).await.map_err(|error| not_assigned(error, &node, &cluster))?;
        joined.extend(is_new.then_some(node));
    }
    if !joined.is_empty() {
        check_quota(&app.limits, &mut writing, cluster.tenant_id, Resource::Nodes).await?;
    }
    let modules = enqueue_for(&mut writing, &cluster, &joined).await?;
    writing.commit(describe("cluster.assign", &cluster, &ids)).await?;
    start_drivers(&app.orchestrator, modules);
    Ok(ApiResponse::ok(()))
}

fn assign(node: &mut Node, cluster: &Cluster, roles: Vec<String>) {
    if node.cluster_id != Some(cluster.id) {
        node.join_cluster(cluster.id);
    }
    // Assigning roles cancels a pending deletion.
    node.pending_deletion = false;
    node.pending_roles = roles;
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
    let nodes = load(&mut writing, &ids).await?;
    let non_members: Vec<String> = nodes
        .iter()
        .filter(|node| node.cluster_id != Some(cluster.id))
        .map(|node| node.id.to_string())
        .collect();
    if !non_members.is_empty() {
        let non_members = non_members.join(", ");
        let message = format!("Nodes [{non_members}] are not members of environment {}.", cluster.id);
        return Err(ApiError::bad_request(message));
    }
    for mut node in nodes {
        node.request_removal();
        writing.node_update(&node).await.map_err(|error| not_assigned(error, &node, &cluster))?;
    }
    writing.commit(describe("cluster.unassign", &cluster, &ids)).await?;
    Ok(ApiResponse::ok(()))
}

pub(super) fn not_assigned(error: StoreError, node: &Node, cluster: &Cluster) -> ApiError {
    match error {
        StoreError::AlreadyExists { what: "hostname" } => {
            ApiError::conflict(format!("hostname `{}` is taken in environment {}", node.hostname, cluster.id))
        }
        StoreError::Stale { .. } => {
            ApiError::conflict(format!("node {} was changed by another request; try again", node.id))
        }
        error => error.into(),
    }
}

fn describe(action: &'static str, cluster: &Cluster, ids: &[NodeId]) -> AuditChange {
    let nodes: Vec<i64> = ids.iter().map(|id| id.0).collect();
    AuditChange { action, target: format!("cluster {}", cluster.id), detail: json!({"nodes": nodes}) }
}
