//! How many nodes there are.

use axum::extract::State;
use serde::Serialize;
use stoker_store::{List, NodeFilter};
use utoipa::ToSchema;

use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::state::App;

#[derive(Serialize, ToSchema)]
#[schema(as = NodeAllocationStats)]
pub(super) struct StatsView {
    total: u64,
    /// In no cluster.
    unallocated: u64,
}

/// How many nodes there are, and how many are free
#[utoipa::path(get, path = "/api/v1/nodes/allocation/stats", responses((status = 200, body = StatsView)))]
pub(super) async fn node_allocation_stats(
    State(app): State<App>,
    login: Authenticated,
) -> ApiResult<Answer<StatsView>> {
    // Only the total is of interest.
    let none = List { limit: Some(0), ..List::default() };
    let all = NodeFilter { tenant_id: login.tenant_limit(), ..NodeFilter::default() };
    let free = NodeFilter { cluster: Some(None), ..all.clone() };
    let mut session = app.store.snapshot().await?;
    let total = session.node_list(&all, &none).await?.total;
    let unallocated = session.node_list(&free, &none).await?.total;
    Ok(Answer::ok(StatsView { total, unallocated }))
}
