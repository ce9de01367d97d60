//! Compatibility of components: those of a release and of the plugins that are compatible with it.

mod check;
mod matrix;
mod page;

use axum::extract::State;
use stoker_api_types::compatibility::ListedComponent;
use stoker_api_types::error::Envelope;
use stoker_model::{Json, Permission};
use stoker_registry::components::{ComponentConflict, Registry};
use stoker_services::metadata::modes;
use stoker_services::plugins::catalog::{Catalog, conflict_diagnostic, conflicts_json};
use stoker_store::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::releases;
use crate::api::routes::Routes;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, typed};
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("releases")
        .add(Permission::Read, routes!(release_component_list))
        .add(Permission::Read, routes!(check::release_component_check))
        .add_serving(Permission::Read, &["text/html"], routes!(matrix::release_compatibility))
        .finish()
}

/// List the components of a release
///
/// Includes the components of compatible plugins. Each component lists its conflicts and requirements in both
/// directions.
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/components",
    params(("id" = i64, Path), ("mode" = Option<String>, Query, description = "Restricts plugins to those that support this mode")),
    responses(
        (status = 200, body = [ListedComponent]),
        (status = 409, body = Envelope, description = "Several providers declare the same component")
    )
)]
async fn release_component_list(
    State(app): State<App>,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<Vec<ListedComponent>>> {
    let catalog = catalog(&mut app.store.snapshot().await?, &path, &query).await?;
    let registry = catalog.declared_components();
    require_single(&registry)?;
    Ok(ApiResponse::ok(typed(Json::Array(registry.listing()))?))
}

/// Loads the release of the path with its compatible plugins, restricted to the requested mode.
async fn catalog(session: &mut Session, path: &PathParams, query: &Query) -> ApiResult<Catalog> {
    let release = releases::find(session, path).await?;
    let mode = query.text("mode").map(|mode| modes::choose(&release.body, Some(mode))).transpose()?;
    Ok(Catalog::read(session, release, mode.as_deref()).await?)
}

/// Rejects components with more than one provider, because references to them are ambiguous.
fn require_single(registry: &Registry) -> ApiResult<()> {
    let is_duplicate = |finding: &&ComponentConflict| matches!(finding, ComponentConflict::Duplicate { .. });
    let duplicates: Vec<ComponentConflict> =
        registry.findings().iter().filter(is_duplicate).cloned().collect();
    if duplicates.is_empty() {
        return Ok(());
    }
    let items = duplicates.iter().map(|finding| conflict_diagnostic(registry, finding, "")).collect();
    Err(ApiError::conflicting(items).with_conflicts(conflicts_json(registry, &duplicates)))
}
