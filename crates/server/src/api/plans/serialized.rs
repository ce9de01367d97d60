//! `/clusters/{id}/serialized_tasks`: a plan in the format of Fuel. Nothing is stored.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use stoker_api_types::plans::SerializedView;
use stoker_model::NodeId;
use stoker_planner::FuelSerialization;
use stoker_services::planning::{PlanRequest, plan};

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::graphs::requested_graph_type;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Retrieve the serialized tasks of a cluster
///
/// Computes a plan and returns it in the format that Fuel sends to its orchestrator. Nothing is stored or
/// executed.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/serialized_tasks",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type (default `default`); also accepted as `type`"),
        ("nodes" = Option<String>, Query, description = "Nodes to include, comma-separated"),
        ("tasks" = Option<String>, Query, description = "Tasks to include, comma-separated"),
    ),
    responses((status = 200, body = SerializedView))
)]
pub(super) async fn cluster_serialized_tasks(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<Response> {
    let request = PlanRequest {
        graph_type: requested_graph_type(&query)?,
        nodes: query.ids("nodes").map(|ids| ids.into_iter().map(NodeId).collect()),
        tasks: query.list("tasks"),
        // Nothing is deployed from this view.
        ignore_limits: true,
        ..PlanRequest::default()
    };
    query.finish()?;
    let mut session = app.store.read().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    drop(session);
    let computed = Box::pin(plan(&app.services.planning, cluster, request)).await?;
    let text = app
        .services
        .planning
        .plans
        .compute(move || FuelSerialization(&computed.masked()).to_string())
        .await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}
