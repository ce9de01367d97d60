//! The wizard in which clusters of a release are made, mixed with what plugins add to it.

mod evaluate;

use axum::extract::State;
use stoker_model::{JsonMap, Permission};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use stoker_services::plugins::catalog::Catalog;

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::answer::Answer;
use crate::http::error::{ApiResult, Envelope};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("releases")
        .add(Permission::Read, routes!(release_wizard_show))
        .add(Permission::Read, routes!(evaluate::release_wizard_evaluate))
        .finish()
}

/// The wizard of a release with those of all plugins that fit it
///
/// Options and checkboxes have restrictions that follow from what components say about each other.
#[utoipa::path(
    get, path = "/api/v1/releases/{id}/wizard",
    params(("id" = i64, Path), ("mode" = Option<String>, Query, description = "Only plugins for clusters of this mode")),
    responses(
        (status = 200, body = Object),
        (status = 409, body = Envelope, description = "Plugins contradict the release or each other; each error has \
                                                       `path`, `kind` and `plugin`")
    )
)]
async fn release_wizard_show(
    State(app): State<App>,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<JsonMap>> {
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let mode = query.text("mode").map(|mode| modes::choose(&release.body, Some(mode))).transpose()?;
    let catalog = Catalog::read(&mut session, release, mode.as_deref()).await?;
    drop(session);
    let mixed = app.services.planning.plans.compute(move || catalog.wizard(&catalog.registry())).await??;
    Ok(Answer::ok(mixed.wizard))
}
