//! `/clusters/{id}/drift`: the latest result for each task on each node.

use std::collections::{BTreeSet, HashMap};

use axum::extract::State;
use stoker_api_types::drift::DriftView;
use stoker_api_types::transactions::DifferenceView;
use stoker_model::{Change, DriftResult, DriftStatus, ErrorChain, GraphType, HostDifference, PlanRecord};
use stoker_services::clock;
use stoker_store::{DriftFilter, List, Session};

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

fn render_result(result: DriftResult) -> DriftView {
    DriftView {
        task: result.task_name,
        node: result.node_uid,
        status: result.status.as_str().to_owned(),
        repairs: result.repairs,
        checked_at: clock::plain(result.checked_at),
        message: result.message,
        diff: result.diff.into_iter().map(render_difference).collect(),
    }
}

fn render_difference(difference: HostDifference) -> DifferenceView {
    let HostDifference { subject, attribute, change } = difference;
    let (old, new, text) = match change {
        Change::Value { old, new } => (old, new, None),
        Change::Text(text) => (None, None, Some(text)),
    };
    DifferenceView { subject, attribute, old, new, text }
}

/// List drift results
///
/// Returns the latest result for each task on each node, sorted by task. A result is dropped when the task is executed again
/// on its node.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/drift",
    params(
        ("id" = i64, Path),
        ("graph_type" = Option<String>, Query, description = "Filter by graph type"),
        ("task" = Option<String>, Query, description = "Filter by task, comma-separated"),
        ("node" = Option<String>, Query, description = "Filter by node, comma-separated"),
        ("status" = Option<String>, Query, description = "Filter by status, comma-separated: `in_sync`, `changed`, `drifted`, `unknown`"),
        Paging
    ),
    responses((status = 200, body = [DriftView]))
)]
pub(super) async fn drift_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<DriftView>>> {
    let list = list(&mut query);
    let graph_type = match query.text("graph_type").map(GraphType::new) {
        Some(Err(error)) => {
            query.problem("graph_type", ErrorChain(&error).to_string());
            None
        }
        Some(Ok(graph_type)) => Some(graph_type),
        None => None,
    };
    let filter = DriftFilter {
        graph_type,
        nodes: query.list("node"),
        tasks: query.list("task"),
        statuses: query.words("status", DriftStatus::parse, DriftStatus::NAMES),
    };
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let page = session.drift_list(cluster.id, &filter, &list).await?;
    ApiResponse::page(&list, page, render_result)
}

/// Returns the latest results for instances of a plan, by task and node.
pub(crate) async fn latest_results(
    session: &mut Session,
    plan: &PlanRecord,
    instances: impl Iterator<Item = (&str, &str)>,
) -> ApiResult<HashMap<(String, String), DriftView>> {
    let (tasks, nodes): (BTreeSet<&str>, BTreeSet<&str>) = instances.unzip();
    let texts = |names: BTreeSet<&str>| Some(names.into_iter().map(str::to_owned).collect());
    let filter = DriftFilter {
        graph_type: Some(plan.graph_type.clone()),
        nodes: texts(nodes),
        tasks: texts(tasks),
        statuses: None,
    };
    let results = session.drift_list(plan.cluster_id, &filter, &List::default()).await?.items;
    let by_instance = results.into_iter().map(render_result);
    Ok(by_instance.map(|view| ((view.task.clone(), view.node.clone()), view)).collect())
}
