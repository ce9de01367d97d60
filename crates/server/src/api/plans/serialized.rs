//! `/clusters/{id}/serialized_tasks`: a plan in the shape that clients of the predecessor know. Nothing is stored.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use stoker_model::{Json, NodeId};
use stoker_planner::Serialized;
use utoipa::ToSchema;
use stoker_services::planning::{PlanRequest, plan};

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::graphs::wanted_type;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// A plan as it was sent to orchestrators. Secrets in parameters are masked.
#[derive(ToSchema)]
#[schema(as = SerializedTasks)]
#[expect(dead_code, reason = "documentation of an answer that the planner writes")]
#[expect(clippy::struct_field_names, reason = "the names are those of the predecessor")]
struct SerializedView {
    /// Always empty: parameters stand with the instances.
    #[schema(value_type = Object)]
    tasks_directory: Json,
    /// By uid, `null` for stages, the task instances of the node.
    #[schema(value_type = Object)]
    tasks_graph: Json,
    /// `fault_tolerance_groups`.
    #[schema(value_type = Object)]
    tasks_metadata: Json,
}

/// What would be sent to an orchestrator now
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/serialized_tasks",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "`default` if not given; `type` means the same"),
        ("nodes" = Option<String>, Query, description = "Only these nodes, comma-separated"),
        ("tasks" = Option<String>, Query, description = "Only these tasks, comma-separated"),
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
        graph_type: wanted_type(&query)?,
        nodes: query.ids("nodes").map(|ids| ids.into_iter().map(NodeId).collect()),
        tasks: query.list("tasks"),
        ..PlanRequest::default()
    };
    query.finish()?;
    let mut session = app.store.read().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    drop(session);
    let made = plan(&app.services.planning, cluster, request).await?;
    let text = app.services.planning.plans.compute(move || Serialized(&made.shown()).to_string()).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}
