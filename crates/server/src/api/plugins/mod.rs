//! Plugins: packages that add components, settings, roles and graphs.

mod body;
mod install;
mod sync;
mod upload;
mod view;

use axum::extract::State;
use serde_json::json;
use stoker_model::{AuditChange, Json, JsonMap, NewPlugin, Owner, Permission, Plugin, PluginId};
use stoker_diagnostics::Diagnostic;
use stoker_services::metadata::holder::require_unused;
use stoker_services::plugins::files::{io_error, keep};
use stoker_services::plugins::links::link_plugin;
use stoker_store::{List, Session, StoreError, WriteTransaction};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::body::{PluginBody, PluginUpdate};
use self::install::Installed;
use self::view::{PluginView, answer, show};
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult, ErrorItem};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("plugins")
        .add(Permission::Read, routes!(plugin_list))
        .add(Permission::Operate, routes!(plugin_create))
        .add(Permission::Read, routes!(plugin_show))
        .add(Permission::Operate, routes!(plugin_update, plugin_patch))
        .add(Permission::Operate, routes!(plugin_delete))
        .add(Permission::Operate, routes!(install::plugin_upload))
        .add(Permission::Operate, routes!(sync::plugin_sync))
        .finish()
}

/// List plugins
#[utoipa::path(get, path = "/api/v1/plugins", params(Paging), responses((status = 200, body = [PluginView])))]
async fn plugin_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<JsonMap>>> {
    let list = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.plugin_list(&list).await?;
    ApiResponse::page(&list, page, show)
}

/// Create a plugin
///
/// Creates the plugin and its graphs; an empty graph of type `default` is added if there is none. If a plugin
/// with this name and version exists, the `message` of the 409 response contains that plugin as JSON text,
/// and `errors` its `id`.
#[utoipa::path(
    post, path = "/api/v1/plugins", request_body = PluginBody,
    responses((status = 201, body = PluginView))
)]
async fn plugin_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let (new, graphs) = body::read_new(&document)?;
    let mut writing = app.change(&login).await?;
    let installed = Installed::read(&mut writing).await?;
    let plugin = match writing.plugin_create(&new).await {
        Ok(plugin) => plugin,
        Err(error) => return Err(duplicate_error(&mut writing, error, &new).await),
    };
    let types = graphs.types();
    graphs.create(&mut writing, Owner::Plugin(plugin.id)).await?;
    link_plugin(&mut writing, &plugin).await?;
    installed.require_no_conflicts(&mut writing).await?;
    writing.commit(change("plugin.create", &plugin, &types)).await?;
    Ok(answer(plugin, ApiResponse::created))
}

/// Retrieve a plugin
#[utoipa::path(
    get, path = "/api/v1/plugins/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = PluginView))
)]
async fn plugin_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<JsonMap>> {
    let plugin = find(&mut app.store.read().await?, &path).await?;
    Ok(answer(plugin, ApiResponse::ok))
}

/// Update a plugin
///
/// Omitted fields are unchanged. The name cannot be changed. Graphs are updated as by
/// `deployment_graphs/{type}`. Fails if it removes a role that nodes have.
#[utoipa::path(
    put, path = "/api/v1/plugins/{id}", params(("id" = i64, Path)), request_body = PluginBody,
    responses((status = 200, body = PluginView))
)]
async fn plugin_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let update = body::read_change(&document)?;
    let mut writing = app.change(&login).await?;
    let mut plugin = find(&mut writing, &path).await?;
    condition.check(plugin.generation)?;
    require_same_identity(&mut writing, &plugin, &update).await?;
    let installed = Installed::read(&mut writing).await?;
    let graphs = update.apply(&mut plugin.body);
    let plugin = match writing.plugin_update(&plugin).await {
        Ok(plugin) => plugin,
        Err(error) => return Err(duplicate_error(&mut writing, error, &plugin.body).await),
    };
    let types = graphs.types();
    graphs.apply(&mut writing, Owner::Plugin(plugin.id)).await?;
    installed.require_no_conflicts(&mut writing).await?;
    writing.commit(change("plugin.update", &plugin, &types)).await?;
    Ok(answer(plugin, ApiResponse::ok))
}

/// Update a plugin
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/api/v1/plugins/{id}", params(("id" = i64, Path)), request_body = PluginBody,
    responses((status = 200, body = PluginView))
)]
async fn plugin_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    plugin_update(app, login, path, condition, document).await
}

/// Delete a plugin
///
/// Deletes the plugin with its graphs and files. Fails if the plugin is enabled in a cluster.
#[utoipa::path(delete, path = "/api/v1/plugins/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn plugin_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let changing = app.services.packages.change().await;
    let mut writing = app.change(&login).await?;
    let plugin = find(&mut writing, &path).await?;
    condition.check(plugin.generation)?;
    let clusters = writing.plugin_clusters(plugin.id).await?;
    if !clusters.is_empty() {
        let ids: Vec<String> = clusters.iter().map(ToString::to_string).collect();
        let message =
            format!("Can't delete plugin which is enabled for some environment: {}", ids.join(", "));
        return Err(ApiError::conflict(message));
    }
    let folders = writing.plugin_folders().await?;
    writing.plugin_delete(plugin.id).await?;
    let folder = folders.iter().find(|(_, id)| **id == plugin.id);
    let removed = folder.map(|(folder, _)| changing.root.remove(folder)).transpose();
    let removed = removed.map_err(io_error)?;
    writing.commit(change("plugin.delete", &plugin, &[])).await?;
    match removed {
        Some(removed) => Ok(keep(removed).await.map(|()| NoContent)?),
        None => Ok(NoContent),
    }
}

/// Rejects changes of the name, and the removal of roles that nodes have.
async fn require_same_identity(
    writing: &mut WriteTransaction,
    plugin: &Plugin,
    update: &PluginUpdate,
) -> ApiResult<()> {
    let old = &plugin.body;
    if update.name.as_ref().is_some_and(|name| *name != old.name) {
        return Err(ApiError::bad_request(format!("cannot rename plugin `{}`", old.name)));
    }
    let Some(new) = &update.roles_metadata else { return Ok(()) };
    let old = old.roles_metadata.keys().map(String::as_str);
    let removed_roles: Vec<&str> = old.filter(|role| !new.contains_key(*role)).collect();
    let clusters = writing.plugin_clusters(plugin.id).await?;
    Ok(require_unused(writing, &clusters, &removed_roles).await?)
}

async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Plugin> {
    let id = path.id("id", PluginId, "Plugin")?;
    session.plugin_get(id).await?.ok_or_else(|| ApiError::not_found("Plugin"))
}

fn change(action: &'static str, plugin: &Plugin, graph_types: &[String]) -> AuditChange {
    let body = &plugin.body;
    let detail = json!({"name": body.name, "version": body.version, "graphs": graph_types});
    AuditChange { action, target: format!("plugin {}", plugin.id), detail }
}

/// Converts a duplicate into a 409 response. Fuel's client parses the ID of the existing plugin from the
/// message.
async fn duplicate_error(session: &mut Session, error: StoreError, new: &NewPlugin) -> ApiError {
    if !matches!(error, StoreError::AlreadyExists { .. }) {
        return error.into();
    }
    let plugins = match session.plugin_list(&List::default()).await {
        Ok(plugins) => plugins.items,
        Err(error) => return error.into(),
    };
    let is_same = |plugin: &Plugin| plugin.body.name == new.name && plugin.body.version == new.version;
    let Some(existing) = plugins.into_iter().find(is_same) else { return error.into() };
    let id = Some(existing.id.0);
    let message = format!("plugin `{}` {} already exists", new.name, new.version);
    let item = ErrorItem { id, ..ErrorItem::from(Diagnostic::plain(message)) };
    ApiError::conflict(Json::Object(show(existing)).to_string()).with_item(item)
}
