//! `/clusters/{id}/plans`: list and create.

use axum::extract::State;
use stoker_manifest::reader::{boolean, identifier, list_of, nullable, object, string_with_length};
use stoker_diagnostics::Diagnostics;
use stoker_model::NodeId;
use stoker_planner::Subgraph;
use stoker_services::metadata::embedded_graphs::graph_type;
use stoker_services::planning::{PlanRequest, make_plan};
use stoker_yaml::Node;
use utoipa::ToSchema;

use super::view::PlanView;
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Options of a new plan. All fields are optional.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct NewPlanBody {
    /// Graph type to plan (default `default`).
    #[schema(
        nullable = false,
        example = "default",
        min_length = 1,
        max_length = 255,
        pattern = "^[a-zA-Z0-9_-]+$"
    )]
    graph_type: Option<String>,
    /// Nodes to plan for; overrides the node filter of the graph. An empty list selects no nodes.
    #[schema(nullable = false, example = json!([1, 2]))]
    nodes: Option<Vec<i64>>,
    /// Tasks to include. Their conditions still apply.
    #[schema(nullable = false, example = json!(["install"]))]
    tasks: Option<Vec<String>>,
    /// Subgraphs to include; the union is planned.
    #[schema(nullable = false)]
    subgraphs: Option<Vec<SubgraphBody>>,
    /// Plan as if no task had ever succeeded.
    #[schema(nullable = false)]
    force: Option<bool>,
}

/// Tasks that follow one of `start` and precede one of `end`. Each vertex is `task` or `task/nodes`, as in
/// `tools/1,3-5`; null leaves that end open.
#[derive(ToSchema)]
#[schema(as = Subgraph)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct SubgraphBody {
    /// First vertices of the subgraph.
    #[schema(nullable = false, example = json!(["netconfig/3"]))]
    start: Option<Vec<Option<String>>>,
    /// Last vertices of the subgraph.
    #[schema(nullable = false)]
    end: Option<Vec<Option<String>>>,
}

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
    ApiResponse::page(&list, page, PlanView::from)
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
    let request = read_request(&document)?;
    let mut session = app.store.read().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    drop(session);
    app.limits.check_plan_rate(&login)?;
    let record = make_plan(&app.services.planning, &login.actor(), cluster, request).await?;
    Ok(ApiResponse::created(PlanView::from(record)))
}

fn read_request(document: &Document) -> ApiResult<PlanRequest> {
    document.fields(|fields| {
        let graph_type = fields.optional("graph_type", graph_type);
        let nodes = fields.optional("nodes", list_of(identifier));
        let tasks = fields.optional("tasks", list_of(string_with_length(1..=255)));
        let subgraphs = fields.optional("subgraphs", list_of(subgraph));
        let force = fields.optional("force", boolean);
        Some(PlanRequest {
            graph_type: graph_type.unwrap_or_default(),
            nodes: nodes.map(|ids| ids.into_iter().map(NodeId).collect()),
            tasks,
            subgraphs: subgraphs.unwrap_or_default(),
            force: force.unwrap_or(false),
            parent_id: None,
        })
    })
}

fn subgraph(node: &Node, problems: &mut Diagnostics) -> Option<Subgraph> {
    object(|fields| {
        let mut ends = |name| {
            let names = fields.optional(name, list_of(nullable(string_with_length(1..=1000))));
            names.unwrap_or_default().into_iter().flatten().collect()
        };
        Some(Subgraph { start: ends("start"), end: ends("end") })
    })(node, problems)
}
