//! Graphs by ID, across all owners.

use axum::extract::State;
use stoker_api_types::graphs::{GraphView, NewGraphBody, UploadBody};
use stoker_model::{ClusterId, GraphId, GraphType, Owner, PluginId, ReleaseId};
use stoker_services::graphs::{GraphKey, named_owner};
use stoker_store::{ClusterFilter, GraphFilter, List, Session};

use super::access::{require_cluster, require_graph};
use super::upload::Upload;
use super::view::{render_graph, render_graph_created, render_graph_stored};
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::etag::{self, IfMatch};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

/// List graphs
#[utoipa::path(
    get, path = "/api/v1/graphs",
    params(
        Paging,
        ("clusters_ids" = Option<String>, Query, description = "Filter by cluster IDs, comma-separated"),
        ("releases_ids" = Option<String>, Query, description = "Filter by release IDs, comma-separated"),
        ("plugins_ids" = Option<String>, Query, description = "Filter by plugin IDs, comma-separated"),
        ("graph_types" = Option<String>, Query, description = "Filter by graph types, comma-separated; alias: `types`"),
        ("fetch_related" = Option<String>, Query,
            description = "`1` to include the graphs of the release and of the enabled plugins of the clusters in `clusters_ids`"),
    ),
    responses((status = 200, body = [GraphView]))
)]
pub(super) async fn graph_list(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<GraphView>>> {
    let paging = list(&mut query);
    let clusters = query.ids("clusters_ids");
    let releases = query.ids("releases_ids");
    let plugins = query.ids("plugins_ids");
    let types = query.list("graph_types").or_else(|| query.list("types"));
    let fetch_related = query.boolean("fetch_related");
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let has_owner_filter = clusters.is_some() || releases.is_some() || plugins.is_some();
    let mut owners: Vec<Owner> = Vec::new();
    owners.extend(releases.into_iter().flatten().map(|id| Owner::Release(ReleaseId(id))));
    owners.extend(plugins.into_iter().flatten().map(|id| Owner::Plugin(PluginId(id))));
    for id in clusters.into_iter().flatten() {
        owners.push(Owner::Cluster(ClusterId(id)));
        if fetch_related {
            owners.extend(related_owners(&mut session, &login, ClusterId(id)).await?);
        }
    }
    let owners = if has_owner_filter { Some(owners) } else { None };
    let filter = GraphFilter {
        owners: visible_owners(&mut session, &login, owners).await?,
        types: types.map(|types| types.iter().filter_map(|name| GraphType::new(name).ok()).collect()),
    };
    let page = session.graph_list(&filter, &paging).await?;
    ApiResponse::page(&paging, page, render_graph)
}

/// Removes owners that the caller may not see. For a caller limited to a tenant, no filter means all clusters
/// of that tenant.
async fn visible_owners(
    session: &mut Session,
    login: &Authenticated,
    owners: Option<Vec<Owner>>,
) -> ApiResult<Option<Vec<Owner>>> {
    let Some(tenant_id) = login.tenant_limit() else { return Ok(owners) };
    let filter = ClusterFilter { tenant_id: Some(tenant_id), ..ClusterFilter::default() };
    let clusters = session.cluster_list(&filter, &List::default()).await?.items;
    let own = clusters.iter().map(|cluster| Owner::Cluster(cluster.id));
    Ok(Some(match owners {
        None => own.collect(),
        Some(owners) => {
            let own: Vec<Owner> = own.collect();
            owners
                .into_iter()
                .filter(|owner| !matches!(owner, Owner::Cluster(_)) || own.contains(owner))
                .collect()
        }
    }))
}

/// Returns the other owners whose graphs are merged into the graphs of a cluster.
async fn related_owners(
    session: &mut Session,
    login: &Authenticated,
    id: ClusterId,
) -> ApiResult<Vec<Owner>> {
    // A cluster that does not exist matches no graph, as in other filters.
    let Ok(cluster) = require_cluster(session, login, id).await else { return Ok(Vec::new()) };
    let plugins = session.cluster_plugins(id).await?;
    let enabled =
        plugins.iter().filter(|plugin| plugin.enabled).map(|plugin| Owner::Plugin(plugin.plugin_id));
    Ok(std::iter::once(Owner::Release(cluster.release_id)).chain(enabled).collect())
}

/// Create a graph
///
/// `model` and `model_id` select the owner of the graph; without `model`, the owner is a cluster. `relations` of a response
/// is accepted in their place.
#[utoipa::path(
    post, path = "/api/v1/graphs", params(("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
    request_body = NewGraphBody,
    responses(
        (status = 201, body = GraphView),
        (status = 404, body = stoker_api_types::error::Envelope, description = "Owner not found"),
    )
)]
pub(super) async fn graph_create(
    State(app): State<App>,
    login: Authenticated,
    upload: Upload,
) -> ApiResult<ApiResponse<GraphView>> {
    let uploaded = upload.graph()?;
    let (owner, graph_type) = named_owner(&uploaded.body)?;
    let graphs = &app.services.graphs;
    Ok(render_graph_created(graphs.create(&login.principal(), owner, graph_type, uploaded).await?))
}

/// Retrieve a graph
#[utoipa::path(
    get, path = "/api/v1/graphs/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = GraphView))
)]
pub(super) async fn graph_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<GraphView>> {
    let mut session = app.store.snapshot().await?;
    let graph = require_graph(&mut session, &login, id(&path)?).await?;
    let version = etag::of_graph(&graph);
    Ok(ApiResponse::ok(render_graph(graph)).version(version))
}

/// Update a graph
///
/// Omitted fields are unchanged. `tasks` replaces all tasks. `id` and `relations` must be those of the graph.
#[utoipa::path(
    put, path = "/api/v1/graphs/{id}", params(("id" = i64, Path), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
    request_body = UploadBody,
    responses((status = 200, body = GraphView))
)]
pub(super) async fn graph_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    upload: Upload,
) -> ApiResult<ApiResponse<GraphView>> {
    let (graphs, key, principal) = (&app.services.graphs, GraphKey::Id(id(&path)?), login.principal());
    upload.require_same(&key.find(&mut app.store.snapshot().await?, principal.tenants).await?)?;
    let uploaded = upload.graph()?;
    Ok(render_graph_stored(graphs.update(&principal, &key, &condition, uploaded).await?))
}

/// Update a graph
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/api/v1/graphs/{id}", params(("id" = i64, Path), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
    request_body = UploadBody,
    responses((status = 200, body = GraphView))
)]
pub(super) async fn graph_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    upload: Upload,
) -> ApiResult<ApiResponse<GraphView>> {
    graph_update(app, login, path, condition, upload).await
}

/// Delete a graph
///
/// Deletes the graph with its tasks.
#[utoipa::path(delete, path = "/api/v1/graphs/{id}", params(("id" = i64, Path)), responses((status = 204)))]
pub(super) async fn graph_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let key = GraphKey::Id(id(&path)?);
    app.services.graphs.delete(&login.principal(), &key, &condition).await?;
    Ok(NoContent)
}

pub(super) fn id(path: &PathParams) -> ApiResult<GraphId> {
    path.id("id", GraphId, "DeploymentGraph")
}
