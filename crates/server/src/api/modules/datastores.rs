//! Datastores: releases, by name and version.

use axum::extract::State;
use serde_json::json;
use stoker_model::{Json, Release, compare_versions};
use stoker_modules::{Datastores, Refusal};
use stoker_store::{List, Session, StoreError};

use super::fault::{Answered, Faults};
use super::who;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::path::PathParams;
use crate::state::App;

/// All releases of one name, the newest version first.
pub(super) struct Datastore {
    pub(super) name: String,
    pub(super) releases: Vec<Release>,
}

/// In the order in which their names first came.
pub(super) async fn all(session: &mut Session) -> Result<Vec<Datastore>, StoreError> {
    let mut found: Vec<Datastore> = Vec::new();
    for release in session.release_list(&List::default()).await?.items {
        match found.iter_mut().find(|datastore| datastore.name == release.body.name) {
            Some(datastore) => datastore.releases.push(release),
            None => found.push(Datastore { name: release.body.name.clone(), releases: vec![release] }),
        }
    }
    for datastore in &mut found {
        datastore.releases.sort_by(|one, other| compare_versions(&other.body.version, &one.body.version));
    }
    Ok(found)
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

async fn of_path(app: &App, login: &Authenticated, path: &PathParams) -> Answered<Datastore> {
    who(login, path)?;
    let name = path.text("datastore");
    let found = all(&mut app.store.read().await?).await?;
    let found = found.into_iter().find(|datastore| datastore.name == name);
    Ok(found.ok_or_else(|| Datastores::unknown(name))?)
}

/// All datastores
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores", params(("tenant" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> Answered<Answer<Json>> {
    who(&login, &path)?;
    let found = all(&mut app.store.read().await?).await?;
    Ok(Answer::ok(json!({"datastores": found.iter().map(Datastore::show).collect::<Vec<_>>()})))
}

/// A datastore with its versions
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}",
    params(("tenant" = String, Path), ("datastore" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> Answered<Answer<Json>> {
    Ok(Answer::ok(json!({"datastore": of_path(&app, &login, &path).await?.show()})))
}

/// The versions of a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}/versions",
    params(("tenant" = String, Path), ("datastore" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_version_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> Answered<Answer<Json>> {
    Ok(Answer::ok(json!({"versions": of_path(&app, &login, &path).await?.versions()})))
}

/// A version of a datastore
#[utoipa::path(
    get, path = "/v1.0/{tenant}/datastores/{datastore}/versions/{version}",
    params(("tenant" = String, Path), ("datastore" = String, Path), ("version" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn datastore_version_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> Answered<Answer<Json>> {
    let datastore = of_path(&app, &login, &path).await?;
    let wanted = path.text("version");
    let found = datastore.releases.iter().find(|release| release.body.version == wanted);
    let found = found.ok_or_else(|| {
        let wanted: String = wanted.chars().take(255).collect();
        Refusal::not_found(format!("Datastore version '{wanted}' cannot be found."))
    })?;
    Ok(Answer::ok(json!({"version": version(found)})))
}
