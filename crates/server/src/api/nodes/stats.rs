//! How many nodes there are, and of which kinds.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::Serialize;
use stoker_model::{ClusterId, Node};
use stoker_store::{List, NodeFilter};
use utoipa::ToSchema;

use super::collection::label_text;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::query::Query;
use crate::state::App;

/// Labels are what people like; more of them fit no list.
const LABELS_MAX: usize = 500;

#[derive(Serialize, ToSchema)]
#[schema(as = NodeAllocationStats)]
pub(super) struct StatsView {
    total: u64,
    /// In no cluster.
    unallocated: u64,
    /// With `details`: of which kinds they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<KindsView>,
}

/// Nodes by what is known of them.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = NodeKinds)]
struct KindsView {
    total: u64,
    online: u64,
    /// Chosen for a cluster, and deployed by its next run.
    to_be_added: u64,
    statuses: BTreeMap<String, u64>,
    /// Present and pending ones.
    roles: BTreeMap<String, u64>,
    /// As `rack=7`, or the name alone where there is no value.
    labels: BTreeMap<String, u64>,
}

/// How many nodes there are, and how many are free
#[utoipa::path(
    get, path = "/api/v1/nodes/allocation/stats",
    params(
        ("details" = Option<bool>, Query, description = "Also how many there are of each kind"),
        ("cluster_id" = Option<String>, Query, description = "Details of nodes of this cluster; empty: of none"),
    ),
    responses((status = 200, body = StatsView))
)]
pub(super) async fn node_allocation_stats(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<Answer<StatsView>> {
    let wants_details = query.boolean("details");
    let of_none = query.has("cluster_id") && query.text("cluster_id").is_none();
    let cluster = query.natural("cluster_id").map(|id| Some(ClusterId(id as i64)));
    query.finish()?;
    // Only the total is of interest.
    let none = List { limit: Some(0), ..List::default() };
    let all = NodeFilter { tenant_id: login.tenant_limit(), ..NodeFilter::default() };
    let free = NodeFilter { cluster: Some(None), ..all.clone() };
    let mut session = app.store.snapshot().await?;
    let total = session.node_list(&all, &none).await?.total;
    let unallocated = session.node_list(&free, &none).await?.total;
    let details = if wants_details {
        let of = NodeFilter { cluster: if of_none { Some(None) } else { cluster }, ..all };
        Some(kinds(&session.node_list(&of, &List::default()).await?.items))
    } else {
        None
    };
    Ok(Answer::ok(StatsView { total, unallocated, details }))
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
