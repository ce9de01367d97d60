//! What follows when a cluster moves to another release.

use axum::extract::State;
use stoker_api_types::clusters::{
    GraphMove, PluginMove, ReleaseMoveBody, ReleaseMoveEnd, ReleaseMoveView, RoleMove, SettingMove, TaskMove,
};
use stoker_model::{Release, ReleaseId};
use stoker_services::clusters::{
    GraphChange, PluginChange, ReleaseChange, ReleasePreview, SettingChange, TaskChange, release_preview,
};

use super::access::cluster_of;
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::{ApiResult, render_error_item};
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Preview a change of the release of a cluster
///
/// Returns the tasks, settings, roles and plugins that change when the cluster moves to another release, the reasons that refuse
/// it, and the limits of roles that the nodes then violate. Changes nothing; `PUT /clusters/{id}` with `release_id` moves the
/// cluster.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/release/preview", params(("id" = i64, Path)), request_body = ReleaseMoveBody,
    responses((status = 200, body = ReleaseMoveView))
)]
pub(super) async fn cluster_release_preview(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<ReleaseMoveView>> {
    let ReleaseMoveBody { release_id, mode } = document.request()?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    let generation = cluster.generation;
    let preview = release_preview(&app.settings, writing, cluster, ReleaseId(release_id), mode).await?;
    let preview = preview.merge(&app.services.graphs).await?;
    Ok(ApiResponse::ok(render(preview)).version(generation))
}

fn render(preview: ReleasePreview) -> ReleaseMoveView {
    let ReleasePreview { change, graphs } = preview;
    let ReleaseChange { from, to, mode, settings, roles_added, roles_removed, plugins, refusals, warnings } =
        change;
    ReleaseMoveView {
        from: render_end(from),
        to: render_end(to),
        mode,
        graphs: graphs.into_iter().map(render_graph).collect(),
        settings: settings.into_iter().map(render_setting).collect(),
        roles: RoleMove { added: roles_added, removed: roles_removed },
        plugins: plugins.into_iter().map(render_plugin).collect(),
        errors: refusals.into_iter().map(render_error_item).collect(),
        warnings: warnings.into_iter().map(render_error_item).collect(),
    }
}

fn render_end(release: Release) -> ReleaseMoveEnd {
    ReleaseMoveEnd { id: release.id.0, name: release.body.name, version: release.body.version }
}

fn render_graph(change: GraphChange) -> GraphMove {
    let GraphChange { graph_type, added, removed, changed } = change;
    let task = |TaskChange { id, fields }| TaskMove { id, fields };
    GraphMove { graph_type, added, removed, changed: changed.into_iter().map(task).collect() }
}

fn render_setting(change: SettingChange) -> SettingMove {
    let SettingChange { path, effect, old, new, reason } = change;
    SettingMove { path, change: effect.as_str().to_owned(), old, new, reason }
}

fn render_plugin(change: PluginChange) -> PluginMove {
    let PluginChange { name, version, effect, new_version } = change;
    PluginMove { name, version, change: effect.as_str().to_owned(), new_version }
}
