//! Graphs of one owner, by graph type: `/{releases|clusters|plugins}/{id}/deployment_graphs`.

use stoker_api_types::graphs::{GraphView, UploadBody};
use stoker_model::{Graph, GraphType, Owner, OwnerKind, Permission};
use stoker_services::graphs::{GraphKey, Stored, agreed_owner, agreed_type};
use stoker_store::{GraphFilter, List};
use utoipa_axum::routes;

use super::access::{require_graph_of, require_owner};
use super::merged::read_graph_type;
use super::upload::Upload;
use super::view::{render_graph, render_graph_created, render_graph_stored};
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::error::ApiResult;
use crate::http::etag::{self, IfMatch};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) fn add_all(routes: Routes) -> Routes {
    let routes = release::add(routes);
    let routes = cluster::add(routes);
    plugin::add(routes)
}

async fn list(app: &App, login: &Authenticated, owner: Owner) -> ApiResult<ApiResponse<Vec<GraphView>>> {
    let mut session = app.store.snapshot().await?;
    require_owner(&mut session, login, owner).await?;
    let filter = GraphFilter { owners: Some(vec![owner]), ..GraphFilter::default() };
    let page = session.graph_list(&filter, &List::default()).await?;
    Ok(ApiResponse::ok(page.items.into_iter().map(render_graph).collect()))
}

async fn create(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    path_type: Option<GraphType>,
    upload: Upload,
) -> ApiResult<Stored> {
    let uploaded = upload.graph()?;
    agreed_owner(owner, &uploaded.body)?;
    let graph_type = agreed_type(path_type, &uploaded.body)?;
    Ok(app.services.graphs.create(&login.principal(), owner, graph_type, uploaded).await?)
}

async fn show(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: &GraphType,
) -> ApiResult<ApiResponse<GraphView>> {
    let mut session = app.store.snapshot().await?;
    Ok(answer(require_graph_of(&mut session, login, owner, graph_type).await?))
}

async fn update(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: GraphType,
    condition: &IfMatch,
    upload: Upload,
) -> ApiResult<ApiResponse<GraphView>> {
    let uploaded = upload.graph()?;
    agreed_type(Some(graph_type.clone()), &uploaded.body)?;
    let (graphs, key) = (&app.services.graphs, GraphKey::OfOwner(owner, graph_type));
    Ok(render_graph_stored(graphs.update(&login.principal(), &key, condition, uploaded).await?))
}

async fn delete(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: GraphType,
    condition: &IfMatch,
) -> ApiResult<()> {
    let key = GraphKey::OfOwner(owner, graph_type);
    Ok(app.services.graphs.delete(&login.principal(), &key, condition).await?)
}

fn answer(graph: Graph) -> ApiResponse<GraphView> {
    let version = etag::of_graph(&graph);
    ApiResponse::ok(render_graph(graph)).version(version)
}

fn owner_and_type(path: &PathParams, kind: OwnerKind) -> ApiResult<(Owner, GraphType)> {
    Ok((path.owner(kind)?, path.graph_type("type")?))
}

/// Defines the operations for one kind of owner, which differ only in their paths.
macro_rules! operations_of {
    ($module:ident, $kind:expr, $collection:tt, $member:tt, $check:tt) => {
        mod $module {
            use axum::extract::State;

            use super::*;
            use stoker_api_types::graphs::FindingView;
            use crate::api::graphs::check;
            use crate::http::response::NoContent;

            pub(super) fn add(routes: Routes) -> Routes {
                routes
                    .add(Permission::Read, routes!(graph_list))
                    .add(Permission::Operate, routes!(graph_create))
                    .add(Permission::Operate, routes!(graph_update_default))
                    .add(Permission::Read, routes!(graph_show))
                    .add(Permission::Operate, routes!(graph_create_typed))
                    .add(Permission::Operate, routes!(graph_update))
                    .add(Permission::Operate, routes!(graph_patch))
                    .add(Permission::Operate, routes!(graph_delete))
                    .add(Permission::Read, routes!(graph_check))
            }

            /// List the graphs of an owner
            #[utoipa::path(
                get, path = $collection, operation_id = concat!(stringify!($module), "_graph_list"),
                params(
                    ("id" = i64, Path),
                    ("fetch_related" = Option<String>, Query, description = "Accepted for compatibility; the response has no related graphs"),
                ),
                responses((status = 200, body = [GraphView]))
            )]
            async fn graph_list(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<ApiResponse<Vec<GraphView>>> {
                list(&app, &login, path.owner($kind)?).await
            }

            /// Create a graph
            ///
            /// The graph type is `graph_type` or `type` in the body (default: `default`).
            #[utoipa::path(
                post, path = $collection, operation_id = concat!(stringify!($module), "_graph_create"),
                params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "Graph type; must not differ from `type` in the body"), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
                request_body = UploadBody, responses((status = 201, body = GraphView))
            )]
            async fn graph_create(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                query: Query,
                upload: Upload,
            ) -> ApiResult<ApiResponse<GraphView>> {
                let stored = create(&app, &login, path.owner($kind)?, read_graph_type(&query)?, upload).await?;
                Ok(render_graph_created(stored))
            }

            /// Update a graph of an owner
            ///
            /// Omitted fields are unchanged. `tasks` replaces all tasks.
            #[utoipa::path(
                put, path = $collection, operation_id = concat!(stringify!($module), "_graph_update_default"),
                params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`)"), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
                request_body = UploadBody, responses((status = 200, body = GraphView))
            )]
            async fn graph_update_default(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                query: Query,
                condition: IfMatch,
                upload: Upload,
            ) -> ApiResult<ApiResponse<GraphView>> {
                let graph_type = read_graph_type(&query)?.unwrap_or_default();
                update(&app, &login, path.owner($kind)?, graph_type, &condition, upload).await
            }

            /// Retrieve a graph of an owner
            #[utoipa::path(
                get, path = $member, operation_id = concat!(stringify!($module), "_graph_show"),
                params(("id" = i64, Path), ("type" = String, Path)), responses((status = 200, body = GraphView))
            )]
            async fn graph_show(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<ApiResponse<GraphView>> {
                let (owner, graph_type) = owner_and_type(&path, $kind)?;
                show(&app, &login, owner, &graph_type).await
            }

            /// Create a graph of a type
            #[utoipa::path(
                post, path = $member, operation_id = concat!(stringify!($module), "_graph_create_typed"),
                params(("id" = i64, Path), ("type" = String, Path), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
                request_body = UploadBody,
                responses((status = 200, body = GraphView))
            )]
            async fn graph_create_typed(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                upload: Upload,
            ) -> ApiResult<ApiResponse<GraphView>> {
                let (owner, graph_type) = owner_and_type(&path, $kind)?;
                Ok(render_graph_stored(create(&app, &login, owner, Some(graph_type), upload).await?))
            }

            /// Update a graph of a type
            ///
            /// Omitted fields are unchanged. `tasks` replaces all tasks.
            #[utoipa::path(
                put, path = $member, operation_id = concat!(stringify!($module), "_graph_update"),
                params(("id" = i64, Path), ("type" = String, Path), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
                request_body = UploadBody,
                responses((status = 200, body = GraphView))
            )]
            async fn graph_update(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                upload: Upload,
            ) -> ApiResult<ApiResponse<GraphView>> {
                let (owner, graph_type) = owner_and_type(&path, $kind)?;
                update(&app, &login, owner, graph_type, &condition, upload).await
            }

            /// Update a graph of a type
            ///
            /// Same as `PUT`.
            #[utoipa::path(
                patch, path = $member, operation_id = concat!(stringify!($module), "_graph_patch"),
                params(("id" = i64, Path), ("type" = String, Path), ("file" = Option<String>, Query, description = "Name of the uploaded file, for use in diagnostics")),
                request_body = UploadBody,
                responses((status = 200, body = GraphView))
            )]
            async fn graph_patch(
                app: State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
                upload: Upload,
            ) -> ApiResult<ApiResponse<GraphView>> {
                graph_update(app, login, path, condition, upload).await
            }

            /// Delete a graph of a type
            #[utoipa::path(
                delete, path = $member, operation_id = concat!(stringify!($module), "_graph_delete"),
                params(("id" = i64, Path), ("type" = String, Path)), responses((status = 204))
            )]
            async fn graph_delete(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
                condition: IfMatch,
            ) -> ApiResult<NoContent> {
                let (owner, graph_type) = owner_and_type(&path, $kind)?;
                delete(&app, &login, owner, graph_type, &condition).await?;
                Ok(NoContent)
            }

            /// Check a graph of a type
            ///
            /// Returns all errors and warnings of the graph.
            #[utoipa::path(
                get, path = $check, operation_id = concat!(stringify!($module), "_graph_check"),
                params(("id" = i64, Path), ("type" = String, Path)), responses((status = 200, body = [FindingView]))
            )]
            async fn graph_check(
                State(app): State<App>,
                login: Authenticated,
                path: PathParams,
            ) -> ApiResult<ApiResponse<Vec<FindingView>>> {
                let (owner, graph_type) = owner_and_type(&path, $kind)?;
                check::check_owner(&app, &login, owner, &graph_type).await
            }
        }
    };
}

operations_of!(
    release,
    OwnerKind::Release,
    "/api/v1/releases/{id}/deployment_graphs",
    "/api/v1/releases/{id}/deployment_graphs/{type}",
    "/api/v1/releases/{id}/deployment_graphs/{type}/check"
);
operations_of!(
    cluster,
    OwnerKind::Cluster,
    "/api/v1/clusters/{id}/deployment_graphs",
    "/api/v1/clusters/{id}/deployment_graphs/{type}",
    "/api/v1/clusters/{id}/deployment_graphs/{type}/check"
);
operations_of!(
    plugin,
    OwnerKind::Plugin,
    "/api/v1/plugins/{id}/deployment_graphs",
    "/api/v1/plugins/{id}/deployment_graphs/{type}",
    "/api/v1/plugins/{id}/deployment_graphs/{type}/check"
);
