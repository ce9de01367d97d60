//! Compatibility check of a selection of components.

use axum::extract::State;
use serde::Serialize;
use stoker_manifest::reader::{list_of, nullable, string_with_length};
use stoker_model::Json;
use stoker_registry::components::{Advice, Component, ComponentName, Registry};
use stoker_services::plugins::catalog::{Catalog, conflicts_json};
use stoker_services::plugins::wizard::decide;
use utoipa::ToSchema;

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// Selection of components to check.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct SelectionBody {
    /// Names of the selected components.
    #[schema(example = json!(["hypervisor:vmware", "network:core:contrail"]))]
    components: Vec<String>,
    /// Restricts plugins to those that support this mode (default: all plugins).
    #[schema(example = "ha_compact")]
    mode: Option<String>,
}

/// Result of a compatibility check, with advice on every available component.
#[derive(Serialize, ToSchema)]
#[schema(as = SelectionCheck)]
pub(super) struct SelectionView {
    /// Whether the components can be selected together.
    compatible: bool,
    /// Conflicts, each with its `kind` (`invalid`, `duplicate`, `unknown`, `incompatible`, `requires` or
    /// `missing_type`), the components concerned and a `message`.
    #[schema(value_type = Vec<Object>)]
    conflicts: Vec<Json>,
    /// Every available component, compared with the selected components of its own type and of the types
    /// before it.
    components: Vec<AdviceView>,
}

/// Compatibility of one component with the selection.
#[derive(Serialize, ToSchema)]
#[schema(as = ComponentAdvice)]
pub(super) struct AdviceView {
    #[schema(example = "network:core:contrail")]
    name: String,
    label: String,
    /// `release`, or the name of the plugin that provides the component.
    provider: String,
    /// Whether the component is selected.
    chosen: bool,
    /// `incompatible`: cannot be selected; `compatible`: declared compatible with all selected components;
    /// `available`: no known conflict.
    #[schema(example = "incompatible")]
    state: &'static str,
    /// Reasons why the component cannot be selected.
    reasons: Vec<String>,
    /// Selected components for which neither side declares compatibility.
    unknown: Vec<String>,
}

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
    let (components, mode) = document.fields(|fields| {
        let components = fields.required("components", list_of(string_with_length(1..=255)));
        let mode = fields.optional("mode", nullable(string_with_length(1..=255))).flatten();
        Some((components?, mode))
    })?;
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let mode = mode.map(|mode| modes::choose(&release.body, Some(&mode))).transpose()?;
    let catalog = Catalog::read(&mut session, release, mode.as_deref()).await?;
    drop(session);
    let registry = catalog.registry();
    let decision = decide(&catalog, &registry, &components);
    let chosen: Vec<ComponentName> = components
        .iter()
        .filter_map(|name| ComponentName::parse(name))
        .filter(|name| registry.get(name).is_some())
        .collect();
    let advice = registry.components().iter().map(|component| AdviceView::new(&registry, component, &chosen));
    Ok(ApiResponse::ok(SelectionView {
        compatible: decision.is_compatible(),
        conflicts: conflicts_json(&registry, &decision.conflicts),
        components: advice.collect(),
    }))
}

impl AdviceView {
    fn new(registry: &Registry, component: &Component, chosen: &[ComponentName]) -> Self {
        let (state, reasons, unknown) = match registry.advice(&component.name, chosen) {
            Some(Advice::Incompatible(reasons)) => ("incompatible", reasons, Vec::new()),
            Some(Advice::Compatible) => ("compatible", Vec::new(), Vec::new()),
            Some(Advice::Available(unknown)) => ("available", Vec::new(), unknown),
            None => ("available", Vec::new(), Vec::new()),
        };
        Self {
            name: component.name.to_string(),
            label: component.label.clone(),
            provider: component.provider.as_str().to_owned(),
            chosen: chosen.contains(&component.name),
            state,
            reasons,
            unknown: unknown.iter().map(ToString::to_string).collect(),
        }
    }
}
