//! Compatibility matrix of the components of a release.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stoker_registry::components::{Cell, Component, Registry};
use utoipa::ToSchema;

use super::{catalog, page};
use crate::http::response::{ApiResponse, shown};
use crate::http::error::{ApiError, ApiResult};
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Maximum number of components in a matrix, whose size grows quadratically; larger ones are not readable.
const COMPONENTS_MAX: usize = 300;
const HTML: &str = "text/html";

/// Compatibility matrix. A cell is `X` if all pairs conflict, `~` if some pairs conflict, empty if no pair
/// conflicts, and `·` if there is no pair.
#[derive(Serialize, ToSchema)]
#[schema(as = Compatibility)]
pub(super) struct CompatibilityView {
    /// Component subtypes: rows and columns of `cells`.
    #[schema(example = json!(["hypervisor:core", "network:core"]))]
    subtypes: Vec<String>,
    #[schema(example = json!([["", "X"], ["X", "·"]]))]
    cells: Vec<Vec<&'static str>>,
    /// Components: rows and columns of `component_cells`.
    components: Vec<ComponentView>,
    component_cells: Vec<Vec<&'static str>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ComponentName)]
struct ComponentView {
    #[schema(example = "network:core:contrail")]
    name: String,
    label: String,
    /// `release`, or the name of the plugin that provides the component.
    provider: String,
}

impl CompatibilityView {
    fn of(registry: &Registry) -> Self {
        let symbols = |cells: Vec<Vec<Cell>>| -> Vec<Vec<&'static str>> {
            cells.into_iter().map(|row| row.into_iter().map(Cell::as_str).collect()).collect()
        };
        let (subtypes, components) = (registry.matrix(), registry.component_matrix());
        let view = |component: &&Component| ComponentView {
            name: component.name.to_string(),
            label: component.label.clone(),
            provider: component.provider.as_str().to_owned(),
        };
        Self {
            subtypes: subtypes.subtypes.iter().map(ToString::to_string).collect(),
            cells: symbols(subtypes.cells),
            components: components.components.iter().map(view).collect(),
            component_cells: symbols(components.cells),
        }
    }
}

/// Retrieve the compatibility matrix of a release
///
/// Shows which component subtypes and which components conflict.
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/compatibility",
    params(
        ("id" = i64, Path),
        ("mode" = Option<String>, Query, description = "Restricts plugins to those that support this mode"),
        ("format" = Option<String>, Query,
            description = "`json` (default) or `html` for a human-readable page; `Accept: text/html` also selects `html`"),
    ),
    responses((status = 200, content((CompatibilityView = "application/json"), (String = "text/html"))))
)]
pub(super) async fn release_compatibility(
    State(app): State<App>,
    path: PathParams,
    headers: HeaderMap,
    mut query: Query,
) -> ApiResult<Response> {
    let format = |word: &str| ["json", "html"].into_iter().find(|format| *format == word);
    let formats = query.words("format", format, &["json", "html"]);
    let catalog = catalog(&mut app.store.snapshot().await?, &path, &query).await?;
    query.finish()?;
    let registry = catalog.registry();
    let n_components = registry.components().len();
    if n_components > COMPONENTS_MAX {
        return Err(ApiError::bad_request(format!(
            "too many components for a matrix: {n_components}, at most {COMPONENTS_MAX}; use `components/check` to check a selection"
        )));
    }
    let is_page = match formats.and_then(|formats| formats.last().copied()) {
        Some(word) => word == "html",
        None => media::accepts(&headers, HTML),
    };
    if is_page {
        let page = app
            .services
            .planning
            .plans
            .compute(move || page::render(&catalog.release.body, &registry))
            .await?;
        return Ok(shown("text/html; charset=utf-8", page));
    }
    let view = app.services.planning.plans.compute(move || CompatibilityView::of(&registry)).await?;
    Ok(ApiResponse::ok(view).into_response())
}
