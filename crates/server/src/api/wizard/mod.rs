//! Wizard from which clusters of a release are created, merged with the additions of plugins.

mod evaluate;

use axum::extract::State;
use stoker_api_types::error::Envelope;
use stoker_api_types::wizard::WizardView;
use stoker_model::Permission;
use stoker_services::metadata::modes;
use stoker_services::plugins::catalog::Catalog;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::releases;
use crate::api::routes::Routes;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("releases")
        .add(Permission::Read, routes!(release_wizard_show))
        .add(Permission::Read, routes!(evaluate::release_wizard_evaluate))
        .finish()
}

/// Retrieve the wizard of a release
///
/// Includes the additions of all compatible plugins. Options and checkboxes have restrictions that are
/// derived from the compatibility of components.
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/wizard",
    params(("id" = i64, Path), ("mode" = Option<String>, Query, description = "Include only plugins that support this cluster mode")),
    responses(
        (status = 200, body = WizardView),
        (status = 409, body = Envelope, description = "Plugins conflict with the release or with each other; each error has \
                                                       `path`, `kind` and `plugin`")
    )
)]
async fn release_wizard_show(
    State(app): State<App>,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<WizardView>> {
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let mode = query.text("mode").map(|mode| modes::choose(&release.body, Some(mode))).transpose()?;
    let catalog = Catalog::read(&mut session, release, mode.as_deref()).await?;
    drop(session);
    let merged = app.services.planning.plans.compute(move || catalog.wizard(&catalog.registry())).await??;
    Ok(ApiResponse::ok(WizardView(merged.wizard)))
}
