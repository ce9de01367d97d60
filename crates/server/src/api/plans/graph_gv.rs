//! `/clusters/{id}/deploy_tasks/graph.gv`: diagram of the merged graph, before expansion to nodes.

use axum::extract::State;
use axum::response::Response;
use stoker_model::ErrorChain;
use stoker_pictures::{DefinitionFilter, Dot, draw_definitions};
use stoker_services::graphs::planned_graph;

use super::picture::DOT;
use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::api::graphs::requested_graph_type;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::text_response;
use crate::state::App;

/// Draw the merged graph of a cluster
///
/// Returns the task definitions in Graphviz format, without cross-dependencies.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deploy_tasks/graph.gv",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Graph type (default `default`); also accepted as `type`"),
        ("tasks" = Option<String>, Query, description = "Tasks to draw as active, comma-separated; others are drawn as skipped"),
        ("parents_for" = Option<String>, Query, description = "Draw only this task and its direct predecessors"),
        ("remove" = Option<String>, Query, description = "Types to omit, comma-separated: `group`, `stage`, `skipped`"),
    ),
    responses((status = 200, content((String = "text/vnd.graphviz"))))
)]
pub(super) async fn cluster_graph_gv(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Response> {
    let graph_type = requested_graph_type(&query)?;
    let filter = DefinitionFilter {
        tasks: query.list("tasks"),
        parents_for: query.text("parents_for").map(str::to_owned),
        remove: query.list("remove").unwrap_or_default(),
    };
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let graph = planned_graph(&app.services.graphs, &mut session, &cluster, &graph_type).await?;
    drop(session);
    let drawn = app.services.planning.plans.compute(move || {
        let drawing = draw_definitions(&graph.tasks, &filter)
            .map_err(|error| ApiError::bad_request(ErrorChain(&error).to_string()))?;
        Ok::<String, ApiError>(Dot(&drawing).to_string())
    });
    Ok(text_response(DOT, drawn.await??))
}
