//! Node statistics.

use axum::extract::State;
use stoker_api_types::nodes::{KindsView, StatsView};
use stoker_model::{ClusterId, Node};
use stoker_store::{List, NodeFilter};

use super::collection::label_text;
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Maximum number of distinct labels to count. Users choose labels freely, so their number is not bounded
/// otherwise.
const LABELS_MAX: usize = 500;

/// Retrieve node statistics
#[utoipa::path(
    get, path = "/api/v1/nodes/allocation/stats",
    params(
        ("details" = Option<bool>, Query, description = "Include the number of nodes by status, role and label"),
        ("cluster_id" = Option<String>, Query, description = "Cluster of the nodes in `details`; empty: nodes without a cluster"),
    ),
    responses((status = 200, body = StatsView))
)]
pub(super) async fn node_allocation_stats(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<StatsView>> {
    let wants_details = query.boolean("details");
    let without_cluster = query.has("cluster_id") && query.text("cluster_id").is_none();
    let cluster = query.natural("cluster_id").map(|id| Some(ClusterId(id as i64)));
    query.finish()?;
    // Limit 0: only the total is needed.
    let count_only = List { limit: Some(0), ..List::default() };
    let visible = NodeFilter { tenant_id: login.tenant_limit(), ..NodeFilter::default() };
    let free = NodeFilter { cluster: Some(None), ..visible.clone() };
    let mut session = app.store.snapshot().await?;
    let total = session.node_list(&visible, &count_only).await?.total;
    let unallocated = session.node_list(&free, &count_only).await?.total;
    let details = if wants_details {
        let scope = NodeFilter { cluster: if without_cluster { Some(None) } else { cluster }, ..visible };
        Some(kinds(&session.node_list(&scope, &List::default()).await?.items))
    } else {
        None
    };
    Ok(ApiResponse::ok(StatsView { total, unallocated, details }))
}

fn kinds(nodes: &[Node]) -> KindsView {
    let mut kinds = KindsView { total: nodes.len() as u64, ..KindsView::default() };
    for node in nodes {
        kinds.online += u64::from(node.online);
        kinds.to_be_added += u64::from(node.pending_addition);
        *kinds.statuses.entry(node.status.as_str().to_owned()).or_default() += 1;
        for role in node.roles.iter().chain(&node.pending_roles) {
            *kinds.roles.entry(role.clone()).or_default() += 1;
        }
        for (name, value) in &node.labels {
            let text = label_text(name, value);
            if kinds.labels.len() < LABELS_MAX || kinds.labels.contains_key(&text) {
                *kinds.labels.entry(text).or_default() += 1;
            }
        }
    }
    kinds
}
