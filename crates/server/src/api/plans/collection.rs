//! `/clusters/{id}/plans`: list and create.

use axum::extract::State;
use stoker_api_types::plans::{NewPlanBody, PlanView};
use stoker_model::NodeId;
use stoker_orchestrator::{drift, verify_machines};
use stoker_services::planning::{CheckScope, PlanRequest, make_cluster_plan};

use super::view::render_plan;
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::execution::subgraph;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// List the plans of a cluster
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/plans", params(("id" = i64, Path), Paging),
    responses((status = 200, body = [PlanView]))
)]
pub(super) async fn plan_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<PlanView>>> {
    let list = list(&mut query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let page = session.plan_list(cluster.id, &list).await?;
    ApiResponse::page(&list, page, render_plan)
}

/// Create a plan for a cluster
///
/// Computes and stores which task instances would run, in which order, and why. Nothing is executed.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/plans", params(("id" = i64, Path)), request_body = NewPlanBody,
    responses((status = 201, body = PlanView))
)]
pub(super) async fn plan_create(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<PlanView>> {
    let body: NewPlanBody = document.request()?;
    let refresh = body.refresh.unwrap_or(false);
    let mut request = plan_request(body);
    let mut session = app.store.read().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    drop(session);
    app.limits.check_plan_rate(&login)?;
    if refresh {
        let (graph_type, nodes, tasks) =
            (request.graph_type.clone(), request.nodes.clone(), request.tasks.clone());
        let scope = CheckScope { graph_type, nodes, tasks };
        drift::check(&app.orchestrator, &login.actor(), cluster.clone(), scope).await?;
    }
    if !request.force {
        request.unverified = verify_machines(&app.orchestrator, cluster.id).await?;
    }
    let record = make_cluster_plan(&app.services.planning, &login.actor(), cluster, request).await?;
    Ok(ApiResponse::created(render_plan(record)))
}

fn plan_request(body: NewPlanBody) -> PlanRequest {
    PlanRequest {
        graph_type: body.graph_type.unwrap_or_default(),
        nodes: body.nodes.map(|ids| ids.into_iter().map(NodeId).collect()),
        tasks: body.tasks,
        subgraphs: body.subgraphs.into_iter().flatten().map(subgraph).collect(),
        force: body.force.unwrap_or(false),
        ignore_limits: body.ignore_limits.unwrap_or(false),
        ..PlanRequest::default()
    }
}
