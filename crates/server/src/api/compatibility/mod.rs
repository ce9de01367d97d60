//! What goes together in clusters of a release: its components and those of the plugins that fit it.

mod check;
mod matrix;
mod page;

use axum::extract::State;
use stoker_model::{Json, Permission};
use stoker_registry::components::{Finding, Registry};
use stoker_store::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use stoker_services::plugins::catalog::{Catalog, finding_item, shown_findings};

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult, Envelope};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("releases")
        .add(Permission::Read, routes!(release_component_list))
        .add(Permission::Read, routes!(check::release_component_check))
        .add_serving(Permission::Read, &["text/html"], routes!(matrix::release_compatibility))
        .finish()
}

/// The components of a release and of the plugins that fit it, each with what the others say about it
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/components",
    params(("id" = i64, Path), ("mode" = Option<String>, Query, description = "Only plugins for clusters of this mode")),
    responses(
        (status = 200, body = [Object]),
        (status = 409, body = Envelope, description = "A component is provided more than once")
    )
)]
async fn release_component_list(
    State(app): State<App>,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<Vec<Json>>> {
    let catalog = catalog(&mut app.store.snapshot().await?, &path, &query).await?;
    let registry = catalog.registry();
    require_single(&registry)?;
    Ok(Answer::ok(registry.listing()))
}

/// The release of the path with its plugins, in the mode that is asked for.
async fn catalog(session: &mut Session, path: &PathParams, query: &Query) -> ApiResult<Catalog> {
    let release = releases::find(session, path).await?;
    let mode = query.text("mode").map(|mode| modes::choose(&release.body, Some(mode))).transpose()?;
    Ok(Catalog::read(session, release, mode.as_deref()).await?)
}

/// Of a component that two provide, nobody can tell which is meant.
fn require_single(registry: &Registry) -> ApiResult<()> {
    let is_duplicate = |finding: &&Finding| matches!(finding, Finding::Duplicate { .. });
    let duplicates: Vec<Finding> = registry.findings().iter().filter(is_duplicate).cloned().collect();
    if duplicates.is_empty() {
        return Ok(());
    }
    let items = duplicates.iter().map(|finding| finding_item(registry, finding, "")).collect();
    Err(ApiError::conflicting(items).with_conflicts(shown_findings(registry, &duplicates)))
}
