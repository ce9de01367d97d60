//! Datastores: releases, grouped by name, with one datastore version per release.

use axum::extract::State;
use serde_json::json;
use stoker_model::{Json, Release, compare_versions};
use stoker_modules::{Datastores, ModuleError};
use stoker_store::{List, Session, StoreError};

use super::fault::{FaultResult, Faults};
use super::who;
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::path::PathParams;
use crate::state::App;

/// All releases of one name, newest version first.
pub(super) struct Datastore {
    pub(super) name: String,
    pub(super) releases: Vec<Release>,
}

/// Returns the datastores in the order of their first release.
pub(super) async fn all(session: &mut Session) -> Result<Vec<Datastore>, StoreError> {
    let mut datastores: Vec<Datastore> = Vec::new();
    for release in session.release_list(&List::default()).await?.items {
        match datastores.iter_mut().find(|datastore| datastore.name == release.body.name) {
            Some(datastore) => datastore.releases.push(release),
            None => datastores.push(Datastore { name: release.body.name.clone(), releases: vec![release] }),
        }
    }
    for datastore in &mut datastores {
        datastore.releases.sort_by(|one, other| compare_versions(&other.body.version, &one.body.version));
    }
    Ok(datastores)
}

impl Datastore {
    fn show(&self) -> Json {
        json!({
            "id": self.name,
            "name": self.name,
            "default_version": self.releases.first().map(|release| release.body.version.as_str()),
            "versions": self.versions(),
            "links": [],
        })
    }

    fn versions(&self) -> Vec<Json> {
        self.releases.iter().map(version).collect()
    }
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
    let datastores = all(&mut app.store.read().await?).await?;
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
    let datastores = all(&mut app.store.read().await?).await?;
    Ok(ApiResponse::ok(json!({"datastores": datastores.iter().map(Datastore::show).collect::<Vec<_>>()})))
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
    Ok(ApiResponse::ok(json!({"datastore": of_path(&app, &login, &path).await?.show()})))
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
    Ok(ApiResponse::ok(json!({"versions": of_path(&app, &login, &path).await?.versions()})))
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
        ModuleError::not_found(format!("Datastore version '{requested}' cannot be found."))
    })?;
    Ok(ApiResponse::ok(json!({"version": version(release)})))
}
