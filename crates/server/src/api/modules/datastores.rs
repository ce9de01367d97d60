//! Datastores: releases, grouped by name, with one datastore version per release.

use axum::extract::State;
use serde_json::json;
use stoker_model::{Json, Release};
use stoker_modules::{Datastores, RuleViolation};
use stoker_services::modules::records::{self, Datastore};

use super::fault::{FaultResult, Faults};
use super::who;
use crate::access::caller::Authenticated;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

fn show(datastore: &Datastore) -> Json {
    json!({
        "id": datastore.name,
        "name": datastore.name,
        "default_version": datastore.releases.first().map(|release| release.body.version.as_str()),
        "versions": versions(datastore),
        "links": [],
    })
}

fn versions(datastore: &Datastore) -> Vec<Json> {
    datastore.releases.iter().map(version).collect()
}

fn version(release: &Release) -> Json {
    json!({
        "id": release.body.version,
        "name": release.body.version,
        "version": release.body.version,
        "datastore": release.body.name,
        "active": release.body.is_deployable(),
        "links": [],
    })
}

async fn of_path(app: &App, login: &Authenticated, path: &PathParams) -> FaultResult<Datastore> {
    who(login, path)?;
    let name = path.text("datastore");
    let datastores = records::datastore_list(&mut app.store.read().await?).await?;
    let datastore = datastores.into_iter().find(|datastore| datastore.name == name);
    Ok(datastore.ok_or_else(|| Datastores::unknown(name))?)
}

/// List datastores
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores", params(("tenant" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<Json>> {
    who(&login, &path)?;
    let datastores = records::datastore_list(&mut app.store.read().await?).await?;
    Ok(ApiResponse::ok(json!({"datastores": datastores.iter().map(show).collect::<Vec<_>>()})))
}

/// Retrieve a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}",
    params(("tenant" = String, Path), ("datastore" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<Json>> {
    Ok(ApiResponse::ok(json!({"datastore": show(&of_path(&app, &login, &path).await?)})))
}

/// List the versions of a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}/versions",
    params(("tenant" = String, Path), ("datastore" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_version_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<Json>> {
    Ok(ApiResponse::ok(json!({"versions": versions(&of_path(&app, &login, &path).await?)})))
}

/// Retrieve a version of a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}/versions/{version}",
    params(("tenant" = String, Path), ("datastore" = String, Path), ("version" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_version_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<Json>> {
    let datastore = of_path(&app, &login, &path).await?;
    let requested = path.text("version");
    let release = datastore.releases.iter().find(|release| release.body.version == requested);
    let release = release.ok_or_else(|| {
        let requested: String = requested.chars().take(255).collect();
        RuleViolation::not_found(format!("Datastore version '{requested}' cannot be found."))
    })?;
    Ok(ApiResponse::ok(json!({"version": version(release)})))
}
