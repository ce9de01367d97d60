//! Compatibility matrix of the components of a release.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use stoker_api_types::compatibility::{CompatibilityView, ComponentView};
use stoker_registry::components::{Cell, Component, Registry};

use super::{catalog, page};
use crate::http::error::{ApiError, ApiResult};
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, text_response};
use crate::state::App;

/// Maximum number of components in a matrix. Its size grows quadratically, and larger matrices are not
/// readable.
const COMPONENTS_MAX: usize = 300;
const HTML: &str = "text/html";

fn render_compatibility(registry: &Registry) -> CompatibilityView {
    let symbols = |cells: Vec<Vec<Cell>>| -> Vec<Vec<String>> {
        let symbol = |cell: Cell| cell.as_str().to_owned();
        cells.into_iter().map(|row| row.into_iter().map(symbol).collect()).collect()
    };
    let (subtypes, components) = (registry.matrix(), registry.component_matrix());
    let view = |component: &&Component| ComponentView {
        name: component.name.to_string(),
        label: component.label.clone(),
        provider: component.provider.as_str().to_owned(),
    };
    CompatibilityView {
        subtypes: subtypes.subtypes.iter().map(ToString::to_string).collect(),
        cells: symbols(subtypes.cells),
        components: components.components.iter().map(view).collect(),
        component_cells: symbols(components.cells),
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
        return Ok(text_response("text/html; charset=utf-8", page));
    }
    let view = app.services.planning.plans.compute(move || render_compatibility(&registry)).await?;
    Ok(ApiResponse::ok(view).into_response())
}
