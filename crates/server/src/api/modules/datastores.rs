//! Datastores: releases, grouped by name, with one datastore version per release.

use axum::extract::State;
use stoker_api_types::modules::{
    DatastoreCollection, DatastoreEnvelope, DatastoreVersion, DatastoreVersionEnvelope, DatastoreVersions,
    DatastoreView,
};
use stoker_model::Release;
use stoker_modules::{Datastores, RuleViolation};
use stoker_services::modules::records::{self, Datastore};

use super::fault::{FaultResult, Faults};
use super::who;
use crate::access::caller::Authenticated;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

fn show(datastore: &Datastore) -> DatastoreView {
    DatastoreView {
        id: datastore.name.clone(),
        name: datastore.name.clone(),
        default_version: datastore.releases.first().map(|release| release.body.version.clone()),
        versions: versions(datastore),
        links: Vec::new(),
    }
}

fn versions(datastore: &Datastore) -> Vec<DatastoreVersion> {
    datastore.releases.iter().map(version).collect()
}

fn version(release: &Release) -> DatastoreVersion {
    DatastoreVersion {
        id: release.body.version.clone(),
        name: release.body.version.clone(),
        version: release.body.version.clone(),
        datastore: release.body.name.clone(),
        active: release.body.is_deployable(),
        links: Vec::new(),
    }
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
    responses((status = 200, body = DatastoreCollection), Faults)
)]
pub(super) async fn datastore_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<DatastoreCollection>> {
    who(&login, &path)?;
    let datastores = records::datastore_list(&mut app.store.read().await?).await?;
    Ok(ApiResponse::ok(DatastoreCollection { datastores: datastores.iter().map(show).collect() }))
}

/// Retrieve a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}",
    params(("tenant" = String, Path), ("datastore" = String, Path)),
    responses((status = 200, body = DatastoreEnvelope), Faults)
)]
pub(super) async fn datastore_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<DatastoreEnvelope>> {
    Ok(ApiResponse::ok(DatastoreEnvelope { datastore: show(&of_path(&app, &login, &path).await?) }))
}

/// List the versions of a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}/versions",
    params(("tenant" = String, Path), ("datastore" = String, Path)),
    responses((status = 200, body = DatastoreVersions), Faults)
)]
pub(super) async fn datastore_version_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<DatastoreVersions>> {
    Ok(ApiResponse::ok(DatastoreVersions { versions: versions(&of_path(&app, &login, &path).await?) }))
}

/// Retrieve a version of a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}/versions/{version}",
    params(("tenant" = String, Path), ("datastore" = String, Path), ("version" = String, Path)),
    responses((status = 200, body = DatastoreVersionEnvelope), Faults)
)]
pub(super) async fn datastore_version_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<DatastoreVersionEnvelope>> {
    let datastore = of_path(&app, &login, &path).await?;
    let requested = path.text("version");
    let release = datastore.releases.iter().find(|release| release.body.version == requested);
    let release = release.ok_or_else(|| {
        let requested: String = requested.chars().take(255).collect();
        RuleViolation::not_found(format!("Datastore version '{requested}' cannot be found."))
    })?;
    Ok(ApiResponse::ok(DatastoreVersionEnvelope { version: version(release) }))
}
