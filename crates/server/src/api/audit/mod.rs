//! The audit log: who changed what, and when.

use axum::extract::State;
use serde::Serialize;
use stoker_model::{AuditEntry, Json, Micros, Permission, UserId};
use stoker_store::AuditFilter;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use stoker_services::clock;

use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::list::{Paging, list};
use crate::http::query::Query;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("audit").add(Permission::Administer, routes!(audit_list)).finish()
}

#[derive(Serialize, ToSchema)]
#[schema(as = AuditEntry)]
struct AuditView {
    id: i64,
    at: String,
    /// Null for the server itself.
    user_id: Option<i64>,
    user_name: String,
    address: Option<String>,
    #[schema(example = "graph.update")]
    action: String,
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

/// Changes, newest first
#[utoipa::path(
    get, path = "/api/v1/audit",
    params(
        Paging,
        ("user_id" = Option<i64>, Query, description = "Who"),
        ("action" = Option<String>, Query, description = "What, or how it begins: `graph.`"),
        ("target" = Option<String>, Query, description = "To what: `graph 12`"),
        ("since" = Option<String>, Query, description = "Not before: `2026-01-31T07:00:00`, UTC"),
        ("until" = Option<String>, Query, description = "Before"),
    ),
    responses((status = 200, body = [AuditView]))
)]
async fn audit_list(State(app): State<App>, mut query: Query) -> ApiResult<Answer<Vec<AuditView>>> {
    let wanted = list(&mut query);
    let filter = AuditFilter {
        user_id: query.natural("user_id").map(|id| UserId(id as i64)),
        action: query.text("action").map(str::to_owned),
        target: query.text("target").map(str::to_owned),
        since: time(&mut query, "since"),
        until: time(&mut query, "until"),
    };
    query.finish()?;
    let page = app.store.read().await?.audit_list(&filter, &wanted).await?;
    Answer::page(&wanted, page, AuditView::from)
}

/// A time in UTC, as answers write it; a zone may be said.
fn time(query: &mut Query, name: &str) -> Option<Micros> {
    let text = query.text(name)?;
    let plain = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let found = text.parse::<jiff::Timestamp>().ok().or_else(|| Some(plain()?.timestamp()));
    if found.is_none() {
        query.problem(name, "is no time such as `2026-01-31T07:00:00`");
    }
    found.map(|at| Micros(at.as_microsecond()))
}
