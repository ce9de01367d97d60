//! Settings of a cluster: defaults of its release, changes by operators, and the settings of its plugins.

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
use stoker_model::{AuditChange, Cluster, Json, JsonMap, Permission, RunName, RunStatus};
use stoker_store::{List, SortOrder, RunFilter};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::document::{default_settings, release_of, settings};
pub(super) use self::restrictions::condition_models;
use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::api::routes::Routes;
use crate::api::transactions::settings_of;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
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

/// Settings by section. Each plugin has its own section, with `metadata.class` set to `plugin`.
#[derive(Serialize, ToSchema)]
#[schema(as = ClusterAttributes)]
struct AttributesView {
    #[schema(value_type = Object, example = json!({"common": {"debug": {"type": "checkbox", "value": true}}}))]
    editable: JsonMap,
}

/// Changes, merged recursively into the current settings.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct AttributesBody {
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"common": {"debug": {"value": true}}}))]
    editable: Option<JsonMap>,
}

/// Retrieve the settings of a cluster
///
/// Includes one section for each plugin that is compatible with the cluster.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes", params(("id" = i64, Path)),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<AttributesView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let editable = settings(&mut session, &cluster).await?;
    Ok(answer(mask(&login, editable), &cluster))
}

/// Update the settings of a cluster
///
/// Omitted settings are unchanged. To enable a plugin, set `metadata.enabled` and `metadata.chosen_id` in its
/// section. The request is rejected if the plugin provides a role, a volume or a task that another enabled
/// plugin provides, if its components conflict with those of the cluster, if it disables a plugin whose roles
/// are assigned to nodes, or if it enables a setting that a restriction disables.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/attributes",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "`1` to change a locked or deployed cluster")),
    request_body = AttributesBody, responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
    document: Document,
) -> ApiResult<ApiResponse<AttributesView>> {
    let force = parse_force(query)?;
    let (submitted, generated) = document.fields(|fields| {
        let generated = fields.take("generated").is_some();
        Some((fields.optional("editable", json_map).unwrap_or_default(), generated))
    })?;
    if generated {
        return Err(ApiError::bad_request("It is not allowed to update generated attributes"));
    }
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    change::update(&mut writing, &mut cluster, submitted, force).await?;
    let editable = settings(&mut writing, &cluster).await?;
    writing.commit(describe("cluster.settings", &cluster)).await?;
    Ok(answer(editable, &cluster))
}

/// Update the settings of a cluster
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/api/v1/clusters/{id}/attributes",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "`1` to change a locked or deployed cluster")),
    request_body = AttributesBody, responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
    document: Document,
) -> ApiResult<ApiResponse<AttributesView>> {
    cluster_attributes_update(app, login, path, condition, query, document).await
}

/// Retrieve the default settings of a cluster
///
/// Returns the settings as the release and the plugins declare them.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes/defaults", params(("id" = i64, Path)),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_show_defaults(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<AttributesView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let release = release_of(&mut session, &cluster).await?;
    let mut editable = default_settings(&app, &cluster, &release)?;
    for section in plugins::sections(&mut session, &cluster, &release.body).await? {
        editable.insert(section.name.clone(), section.default_view());
    }
    Ok(answer(mask(&login, editable), &cluster))
}

/// Reset the settings of a cluster
///
/// Restores the defaults of the release and disables all plugins. Generated values, such as keys, are
/// retained.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/attributes/defaults",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "`1` to change a locked or deployed cluster")),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_reset(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
) -> ApiResult<ApiResponse<AttributesView>> {
    let force = parse_force(query)?;
    let mut writing = app.change(&login).await?;
    let mut cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    change::reset(&app, &mut writing, &mut cluster, force).await?;
    let editable = settings(&mut writing, &cluster).await?;
    writing.commit(describe("cluster.settings.reset", &cluster)).await?;
    Ok(answer(editable, &cluster))
}

/// Retrieve the deployed settings of a cluster
///
/// Returns the settings of the last successful deployment.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/attributes/deployed", params(("id" = i64, Path)),
    responses((status = 200, body = AttributesView))
)]
async fn cluster_attributes_show_deployed(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<AttributesView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let filter = RunFilter {
        cluster_id: Some(Some(cluster.id)),
        statuses: Some(vec![RunStatus::Ready]),
        names: Some(vec![RunName::Deployment]),
        ..RunFilter::default()
    };
    let newest = SortOrder { field: "id".to_owned(), descending: true };
    let list = List { order_by: vec![newest], ..List::default() };
    let runs = session.run_list(&filter, &list).await?.items;
    for run in runs.iter().filter(|run| !run.dry_run) {
        let Some(plan) = session.run_work(run.id).await?.and_then(|work| work.plan_id) else { continue };
        if let Some(Json::Object(editable)) = settings_of(&mut session, plan).await? {
            return Ok(ApiResponse::ok(AttributesView { editable }));
        }
    }
    let message = format!("cluster {} has no deployed attributes: no deployment has succeeded", cluster.id);
    Err(ApiError::new(axum::http::StatusCode::NOT_FOUND, message))
}

fn parse_force(mut query: Query) -> ApiResult<bool> {
    let force = query.boolean("force");
    query.finish()?;
    Ok(force)
}

fn mask(login: &Authenticated, editable: JsonMap) -> JsonMap {
    let mut documents = [editable];
    mask_for(login, &mut documents);
    let [editable] = documents;
    editable
}

fn answer(editable: JsonMap, cluster: &Cluster) -> ApiResponse<AttributesView> {
    ApiResponse::ok(AttributesView { editable }).version(cluster.generation)
}

/// Builds the audit record. Values are omitted: some are passwords.
fn describe(action: &'static str, cluster: &Cluster) -> AuditChange {
    AuditChange { action, target: format!("cluster {}", cluster.id), detail: json!({"name": cluster.name}) }
}
