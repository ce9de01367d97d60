//! The settings of a cluster: what its release proposes and an operator decides, its plugins' beside them.

mod change;
mod check;
mod document;
mod lock;
mod plugins;
mod restrictions;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::json_map;
use stoker_model::{Change, Cluster, Json, JsonMap, Permission, RunName, RunStatus};
use stoker_store::{List, Order, RunFilter};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::document::{default_settings, release_of, settings};
pub(super) use self::restrictions::models_of;
use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::api::transactions::settings_of;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("clusters")
        .add(Permission::Read, routes!(cluster_attributes_show))
        .add(Permission::Operate, routes!(cluster_attributes_update, cluster_attributes_patch))
        .add(Permission::Read, routes!(cluster_attributes_show_defaults))
        .add(Permission::Operate, routes!(cluster_attributes_reset))
        .add(Permission::Read, routes!(cluster_attributes_show_deployed))
        .add(Permission::Read, routes!(restrictions::cluster_attributes_restrictions))
        .finish()
}

/// Settings by section. A plugin has a section of its own, with `metadata.class` = `plugin`.
#[derive(Serialize, ToSchema)]
#[schema(as = ClusterAttributes)]
struct AttributesView {
    #[schema(value_type = Object, example = json!({"common": {"debug": {"type": "checkbox", "value": true}}}))]
    editable: JsonMap,
}

/// What shall change; it is merged into what is there, map by map.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct AttributesBody {
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"common": {"debug": {"value": true}}}))]
    editable: Option<JsonMap>,
}

/// The settings of a cluster, those of all plugins that fit it included
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes", params(("id" = i64, Path)),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<AttributesView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let editable = settings(&mut session, &cluster).await?;
    Ok(answer(shown(&login, editable), &cluster))
}

/// Change settings; what is not given stays
///
/// A plugin is enabled by `metadata.enabled` and `metadata.chosen_id` of its section. It is refused if it brings a role, a
/// volume or a task that another plugin has, if its components do not go with those of the cluster, and if it is to be
/// disabled while nodes have its roles. What restrictions disable cannot be switched on.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/attributes",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "1: even if the cluster is locked")),
    request_body = AttributesBody, responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
    document: Document,
) -> ApiResult<Answer<AttributesView>> {
    let force = forced(query)?;
    let (given, generated) = document.fields(|fields| {
        let generated = fields.take("generated").is_some();
        Some((fields.optional("editable", json_map).unwrap_or_default(), generated))
    })?;
    if generated {
        return Err(ApiError::bad_request("It is not allowed to update generated attributes"));
    }
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    change::update(&mut writing, &mut cluster, given, force).await?;
    let editable = settings(&mut writing, &cluster).await?;
    writing.commit(describe("cluster.settings", &cluster)).await?;
    Ok(answer(editable, &cluster))
}

/// The same as PUT
#[utoipa::path(
    patch, path = "/api/v1/clusters/{id}/attributes",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "1: even if the cluster is locked")),
    request_body = AttributesBody, responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
    document: Document,
) -> ApiResult<Answer<AttributesView>> {
    cluster_attributes_update(app, login, path, condition, query, document).await
}

/// The settings as the release and the plugins propose them
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes/defaults", params(("id" = i64, Path)),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_show_defaults(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<AttributesView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let release = release_of(&mut session, &cluster).await?;
    let mut editable = default_settings(&app, &cluster, &release)?;
    for section in plugins::sections(&mut session, &cluster, &release.body).await? {
        editable.insert(section.name.clone(), section.default_view());
    }
    Ok(answer(shown(&login, editable), &cluster))
}

/// Put the settings back to what the release and the plugins propose. Generated keys stay, plugins are disabled.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/attributes/defaults",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "1: even if the cluster is locked")),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_reset(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
) -> ApiResult<Answer<AttributesView>> {
    let force = forced(query)?;
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    change::reset(&app, &mut writing, &mut cluster, force).await?;
    let editable = settings(&mut writing, &cluster).await?;
    writing.commit(describe("cluster.settings.reset", &cluster)).await?;
    Ok(answer(editable, &cluster))
}

/// The settings of the last successful deployment
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes/deployed", params(("id" = i64, Path)),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_show_deployed(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<AttributesView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let filter = RunFilter {
        cluster_id: Some(Some(cluster.id)),
        statuses: Some(vec![RunStatus::Ready]),
        names: Some(vec![RunName::Deployment]),
        ..RunFilter::default()
    };
    let newest = Order { field: "id".to_owned(), descending: true };
    let list = List { order_by: vec![newest], ..List::default() };
    let runs = session.run_list(&filter, &list).await?.items;
    for run in runs.iter().filter(|run| !run.dry_run) {
        let Some(plan) = session.run_work(run.id).await?.and_then(|work| work.plan_id) else { continue };
        if let Some(Json::Object(editable)) = settings_of(&mut session, plan).await? {
            return Ok(Answer::ok(AttributesView { editable }));
        }
    }
    let message = format!("Cluster {} has no attributes of a deployment: none has succeeded", cluster.id);
    Err(ApiError::new(axum::http::StatusCode::NOT_FOUND, message))
}

fn forced(mut query: Query) -> ApiResult<bool> {
    let force = query.boolean("force");
    query.finish()?;
    Ok(force)
}

fn shown(login: &Authenticated, editable: JsonMap) -> JsonMap {
    let mut documents = [editable];
    mask_for(login, &mut documents);
    let [editable] = documents;
    editable
}

fn answer(editable: JsonMap, cluster: &Cluster) -> Answer<AttributesView> {
    Answer::ok(AttributesView { editable }).version(cluster.generation)
}

/// Values are not told: some are passwords.
fn describe(action: &'static str, cluster: &Cluster) -> Change {
    Change { action, target: format!("cluster {}", cluster.id), detail: json!({"name": cluster.name}) }
}
