//! Plugins: packages that add components, settings, roles and graphs.

mod body;
mod install;
mod sync;
mod upload;
mod view;

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::error::ErrorItem;
use stoker_api_types::plugins::{PluginBody, PluginView};
use stoker_diagnostics::Diagnostic;
use stoker_model::{ErrorChain, Json, JsonMap, Permission, Plugin, PluginId};
use stoker_services::plugins::PluginError;
use stoker_services::plugins::conflicts::plugin_warnings;
use stoker_store::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::{answer, show};
use crate::access::caller::Authenticated;
use crate::api::patch::patch_as_put;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult, render_error_item};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
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
/// and `errors` its `id`. Ineffective fields are reported in `warnings`.
#[utoipa::path(
    post, path = "/api/v1/plugins", request_body = PluginBody,
    responses((status = 201, body = PluginView))
)]
async fn plugin_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<JsonMap>> {
    let (new, graphs, mut warnings) = body::read_new(&document)?;
    warnings.extend(plugin_warnings(&new));
    let created = app.services.plugins.create(&login.actor(), &new, graphs).await;
    let plugin = created.map_err(plugin_error)?;
    Ok(answer(plugin, warnings, ApiResponse::created))
}

/// Retrieve a plugin
#[utoipa::path(
    get, path = "/api/v1/plugins/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = PluginView))
)]
async fn plugin_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<JsonMap>> {
    let plugin = find(&mut app.store.read().await?, &path).await?;
    Ok(answer(plugin, Vec::new(), ApiResponse::ok))
}

/// Update a plugin
///
/// Omitted fields are unchanged. The name cannot be changed. Graphs are updated as by
/// `deployment_graphs/{type}`. Fails if it removes a role that nodes have. Warnings are as in `POST`.
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
    let (update, mut warnings) = document.request_with_warnings::<PluginBody>()?;
    let id = plugin_id(&path)?;
    document.check_read_only(PluginBody::READ_ONLY, &json!({"id": id.0}))?;
    let updated = app.services.plugins.update(&login.actor(), id, &condition, update).await;
    let plugin = updated.map_err(plugin_error)?;
    warnings.extend(plugin_warnings(&plugin.body));
    Ok(answer(plugin, warnings, ApiResponse::ok))
}

patch_as_put!(
    plugin_patch = plugin_update,
    "/api/v1/plugins/{id}",
    "Update a plugin",
    PluginBody => PluginView
);

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
    app.services.plugins.delete(&login.actor(), plugin_id(&path)?, &condition).await?;
    Ok(NoContent)
}

async fn find(session: &mut Session, path: &PathParams) -> ApiResult<Plugin> {
    session.plugin_get(plugin_id(path)?).await?.ok_or_else(|| ApiError::not_found("Plugin"))
}

fn plugin_id(path: &PathParams) -> ApiResult<PluginId> {
    path.id("id", PluginId, "Plugin")
}

/// Renders a duplicate as a 409 response. Fuel's client parses the ID of the existing plugin from the message.
fn plugin_error(error: PluginError) -> ApiError {
    let message = ErrorChain(&error).to_string();
    match error {
        PluginError::Service(error) => error.into(),
        PluginError::Exists(existing) => {
            let item = ErrorItem { id: Some(existing.id.0), ..render_error_item(Diagnostic::plain(message)) };
            ApiError::conflict(Json::Object(show(*existing)).to_string()).with_item(item)
        }
    }
}
