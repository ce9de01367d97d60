//! Servers that share the database, and which runs each of them carries out.

use axum::extract::State;
use serde::Serialize;
use stoker_model::{Member, Micros, Permission, RunId};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use stoker_services::clock;

use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add(Permission::Administer, routes!(server_list)).finish()
}

#[derive(Serialize, ToSchema)]
#[schema(as = Server)]
struct ServerView {
    /// New with every start; `embedded` for one with a database of its own.
    id: String,
    #[schema(example = "controller-1")]
    name: String,
    /// Where it listens.
    #[schema(example = "0.0.0.0:8000")]
    address: String,
    #[schema(example = "0.1.0")]
    version: String,
    /// Whether something is heard of it.
    is_alive: bool,
    /// Whether other servers reach it over NATS.
    hears_bus: bool,
    started_at: String,
    seen_at: String,
    /// Runs that it carries out, and their parts.
    runs: Vec<i64>,
}

impl ServerView {
    fn new(member: Member, held: &[(String, RunId)], heard_since: Micros) -> Self {
        let runs = held.iter().filter(|(owner, _)| *owner == member.id).map(|(_, run)| run.0).collect();
        Self {
            is_alive: member.seen_at > heard_since,
            hears_bus: member.hears_bus,
            started_at: clock::plain(member.started_at),
            seen_at: clock::plain(member.seen_at),
            id: member.id,
            name: member.name,
            address: member.address,
            version: member.version,
            runs,
        }
    }
}

/// All servers that share the database, also those that went lately
#[utoipa::path(get, path = "/api/v1/servers", responses((status = 200, body = [ServerView])))]
async fn server_list(State(app): State<App>) -> ApiResult<Answer<Vec<ServerView>>> {
    let now = app.clock.now();
    let mut session = app.store.snapshot().await?;
    let mut members = session.servers().await?;
    let held = session.runs_held(now).await?;
    // Of itself it knows more than it wrote down.
    members.retain(|member| member.id != app.orchestrator.context.owner);
    members.push(app.orchestrator.peers.member());
    let heard_since = app.orchestrator.context.alive_since(now);
    let views = members.into_iter().map(|member| ServerView::new(member, &held, heard_since));
    Ok(Answer::ok(views.collect()))
}
