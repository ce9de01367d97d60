//! Compatibility check of a selection of components.

use axum::extract::State;
use stoker_api_types::compatibility::{AdviceView, SelectionBody, SelectionView};
use stoker_registry::components::{Advice, Component, ComponentName, Registry};
use stoker_services::metadata::modes;
use stoker_services::plugins::catalog::{Catalog, conflicts_json};
use stoker_services::plugins::wizard::decide;

use crate::api::releases;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Check a selection of components
///
/// Returns whether the components can be selected together, with all conflicts and advice on further
/// components.
#[utoipa::path(
    post, path = "/api/v1/releases/{id}/components/check", params(("id" = i64, Path)), request_body = SelectionBody,
    responses((status = 200, body = SelectionView))
)]
pub(super) async fn release_component_check(
    State(app): State<App>,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<SelectionView>> {
    let SelectionBody { components, mode } = document.request()?;
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let mode = mode.map(|mode| modes::choose(&release.body, Some(&mode))).transpose()?;
    let catalog = Catalog::read(&mut session, release, mode.as_deref()).await?;
    drop(session);
    let registry = catalog.registry();
    let decision = decide(&catalog, &registry, &components);
    let selection: Vec<ComponentName> = components
        .iter()
        .filter_map(|name| ComponentName::parse(name))
        .filter(|name| registry.get(name).is_some())
        .collect();
    let advice =
        registry.components().iter().map(|component| render_advice(&registry, component, &selection));
    Ok(ApiResponse::ok(SelectionView {
        compatible: decision.is_compatible(),
        conflicts: conflicts_json(&registry, &decision.conflicts),
        components: advice.collect(),
    }))
}

fn render_advice(registry: &Registry, component: &Component, selection: &[ComponentName]) -> AdviceView {
    let (state, reasons, unknown) = match registry.advice(&component.name, selection) {
        Some(Advice::Incompatible(reasons)) => ("incompatible", reasons, Vec::new()),
        Some(Advice::Compatible) => ("compatible", Vec::new(), Vec::new()),
        Some(Advice::Available(unknown)) => ("available", Vec::new(), unknown),
        None => ("available", Vec::new(), Vec::new()),
    };
    AdviceView {
        name: component.name.to_string(),
        label: component.label.clone(),
        provider: component.provider.as_str().to_owned(),
        chosen: selection.contains(&component.name),
        state: state.to_owned(),
        reasons,
        unknown: unknown.iter().map(ToString::to_string).collect(),
    }
}
