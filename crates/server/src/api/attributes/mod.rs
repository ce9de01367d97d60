//! Settings of a cluster: defaults of its release, changes by operators, and the settings of its plugins.

mod restrictions;

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::attributes::{AttributesBody, AttributesView};
use stoker_model::{Cluster, JsonMap, Permission, RunName, RunStatus};
use stoker_services::cluster_settings::{defaults, settings, settings_reset, settings_update};
use stoker_store::{List, RunFilter, SortOrder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::access::mask::mask_for;
use crate::api::clusters::access::cluster_of;
use crate::api::routes::Routes;
use crate::api::transactions::settings_of;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
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
        Some((AttributesBody::read(fields)?.editable.unwrap_or_default(), generated))
    })?;
    if generated {
        return Err(ApiError::bad_request("It is not allowed to update generated attributes"));
    }
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let changed = settings_update(&app.settings, writing, cluster, &condition, submitted, force).await?;
    Ok(answer(changed.settings, &changed.cluster))
}

/// Update the settings of a cluster
///
/// Same operation as `PUT`.
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
    let editable = defaults(&app.settings, &mut session, &cluster, app.clock.now()).await?;
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
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let changed = settings_reset(&app.settings, writing, cluster, &condition, force).await?;
    Ok(answer(changed.settings, &changed.cluster))
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
        if let Some(editable) = settings_of(&mut session, plan).await? {
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
