//! Lists of runs.

use axum::extract::State;
use stoker_model::{ClusterId, RunName, RunStatus};
use stoker_store::RunFilter;

use super::view::RunView;
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::state::App;

/// List transactions
///
/// Returns all runs, including child runs.
#[utoipa::path(
    get, path = "/api/v1/transactions",
    params(
        Paging,
        ("cluster_id" = Option<String>, Query, description = "Filter by cluster"),
        ("statuses" = Option<String>, Query, description = "Filter by status, comma-separated: `pending`, `running`, `ready`, `error`"),
        ("transaction_types" = Option<String>, Query, description = "Filter by name, comma-separated: `deploy,deployment`"),
        ("whole" = Option<bool>, Query, description = "Omit child runs"),
    ),
    responses((status = 200, body = [RunView]))
)]
pub(super) async fn transaction_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<RunView>>> {
    let cluster_id = query.natural("cluster_id").map(|id| Some(ClusterId(id as i64)));
    let parent_id = query.boolean("whole").then_some(None);
    runs(&app, &login, query, RunFilter { cluster_id, parent_id, ..RunFilter::default() }).await
}

/// List tasks
///
/// Returns the runs that no later run superseded.
#[utoipa::path(
    get, path = "/api/v1/tasks",
    params(
        Paging,
        ("cluster_id" = Option<String>, Query, description = "Filter by cluster; empty: runs without a cluster"),
        ("statuses" = Option<String>, Query, description = "Filter by status, comma-separated: `pending`, `running`, `ready`, `error`"),
        ("transaction_types" = Option<String>, Query, description = "Filter by name, comma-separated: `deploy,deployment`"),
    ),
    responses((status = 200, body = [RunView]))
)]
pub(super) async fn task_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<RunView>>> {
    let without_cluster = query.has("cluster_id") && query.text("cluster_id").is_none();
    let cluster_id = query.natural("cluster_id").map(|id| Some(ClusterId(id as i64)));
    let cluster_id = if without_cluster { Some(None) } else { cluster_id };
    runs(&app, &login, query, RunFilter { cluster_id, hidden: Some(false), ..RunFilter::default() }).await
}

async fn runs(
    app: &App,
    login: &Authenticated,
    mut query: Query,
    filter: RunFilter,
) -> ApiResult<ApiResponse<Vec<RunView>>> {
    let list = list(&mut query);
    let filter = RunFilter {
        statuses: query.words("statuses", RunStatus::parse, RunStatus::NAMES),
        names: query.words("transaction_types", RunName::parse, RunName::NAMES),
        tenant_id: login.tenant_limit(),
        ..filter
    };
    query.finish()?;
    let page = app.store.read().await?.run_list(&filter, &list).await?;
    ApiResponse::page(&list, page, RunView::from)
}
