//! Whether a selection works.

use axum::extract::State;
use serde::Serialize;
use stoker_manifest::reader::{list_of, nullable, string_of};
use stoker_model::Json;
use stoker_registry::components::{Advice, Component, ComponentName, Registry};
use utoipa::ToSchema;
use stoker_services::plugins::catalog::{Catalog, shown_findings};
use stoker_services::plugins::wizard::decide;

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// What somebody would like to choose.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct SelectionBody {
    #[schema(example = json!(["hypervisor:vmware", "network:core:contrail"]))]
    components: Vec<String>,
    /// Only plugins for clusters of this mode; any if not given.
    #[schema(example = "ha_compact")]
    mode: Option<String>,
}

/// Whether a selection can be chosen, and what else could be.
#[derive(Serialize, ToSchema)]
#[schema(as = SelectionCheck)]
pub(super) struct SelectionView {
    compatible: bool,
    /// Each with its `kind` (`invalid`, `duplicate`, `unknown`, `incompatible`, `requires` or `missing_type`), what it is
    /// about, and a `message`.
    #[schema(value_type = Vec<Object>)]
    conflicts: Vec<Json>,
    /// Every component there is, held against what is chosen of its own type and of those before it.
    components: Vec<AdviceView>,
}

/// How a component stands to what is chosen.
#[derive(Serialize, ToSchema)]
#[schema(as = ComponentAdvice)]
pub(super) struct AdviceView {
    #[schema(example = "network:core:contrail")]
    name: String,
    label: String,
    /// `release`, or the name of the plugin.
    provider: String,
    chosen: bool,
    /// `incompatible`: it cannot be chosen; `compatible`: known to work with everything chosen; `available`: nothing
    /// speaks against it.
    #[schema(example = "incompatible")]
    state: &'static str,
    /// Why it cannot be chosen.
    reasons: Vec<String>,
    /// Chosen components that say nothing about it, nor it about them.
    unknown: Vec<String>,
}

/// Whether components can be chosen together, with everything that speaks against it
#[utoipa::path(
    post, path = "/api/v1/releases/{id}/components/check", params(("id" = i64, Path)), request_body = SelectionBody,
    responses((status = 200, body = SelectionView))
)]
pub(super) async fn release_component_check(
    State(app): State<App>,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<SelectionView>> {
    let (components, mode) = document.fields(|fields| {
        let components = fields.required("components", list_of(string_of(1..=255)));
        let mode = fields.optional("mode", nullable(string_of(1..=255))).flatten();
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
    let advice = registry.components().iter().map(|component| AdviceView::of(&registry, component, &chosen));
    Ok(Answer::ok(SelectionView {
        compatible: decision.is_compatible(),
        conflicts: shown_findings(&registry, &decision.conflicts),
        components: advice.collect(),
    }))
}

impl AdviceView {
    fn of(registry: &Registry, component: &Component, chosen: &[ComponentName]) -> Self {
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
