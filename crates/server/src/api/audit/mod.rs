//! Audit log: changes with their user, time and source address.

use axum::extract::State;
use serde::Serialize;
use stoker_model::{AuditEntry, Json, Micros, Permission, UserId};
use stoker_services::clock;
use stoker_store::AuditFilter;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("audit").add(Permission::Administer, routes!(audit_list)).finish()
}

#[derive(Serialize, ToSchema)]
#[schema(as = AuditEntry)]
struct AuditView {
    id: i64,
    /// Time of the change, in UTC.
    at: String,
    /// ID of the user; null for changes by the server itself.
    user_id: Option<i64>,
    user_name: String,
    /// Source address of the request.
    address: Option<String>,
    /// Type of the change.
    #[schema(example = "graph.update")]
    action: String,
    /// Changed object.
    #[schema(example = "graph 12")]
    target: String,
    detail: Json,
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id.0,
            at: clock::plain(entry.at),
            user_id: entry.user_id.map(|id| id.0),
            user_name: entry.user_name,
            address: entry.address,
            action: entry.action,
            target: entry.target,
            detail: entry.detail,
        }
    }
}

/// List audit log entries
///
/// Returns changes, newest first.
#[utoipa::path(
    get, path = "/api/v1/audit",
    params(
        Paging,
        ("user_id" = Option<i64>, Query, description = "Filter by user ID"),
        ("action" = Option<String>, Query, description = "Filter by action, or by a prefix of it such as `graph.`"),
        ("target" = Option<String>, Query, description = "Filter by changed object, such as `graph 12`"),
        ("since" = Option<String>, Query, description = "Earliest time (inclusive), such as `2026-01-31T07:00:00`; UTC unless a time zone is given"),
        ("until" = Option<String>, Query, description = "Latest time (exclusive)"),
    ),
    responses((status = 200, body = [AuditView]))
)]
async fn audit_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<AuditView>>> {
    let paging = list(&mut query);
    let filter = AuditFilter {
        user_id: query.natural("user_id").map(|id| UserId(id as i64)),
        action: query.text("action").map(str::to_owned),
        target: query.text("target").map(str::to_owned),
        since: read_time(&mut query, "since"),
        until: read_time(&mut query, "until"),
    };
    query.finish()?;
    let page = app.store.read().await?.audit_list(&filter, &paging).await?;
    ApiResponse::page(&paging, page, AuditView::from)
}

/// Parses a time parameter; UTC unless the text has a time zone.
fn read_time(query: &mut Query, name: &str) -> Option<Micros> {
    let text = query.text(name)?;
    let plain = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let timestamp = text.parse::<jiff::Timestamp>().ok().or_else(|| Some(plain()?.timestamp()));
    if timestamp.is_none() {
        query.problem(name, "must be a time such as `2026-01-31T07:00:00`");
    }
    timestamp.map(|at| Micros(at.as_microsecond()))
}
