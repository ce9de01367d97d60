//! Validation of graphs: all errors and warnings at once.

use axum::extract::State;
use axum::http::StatusCode;
use stoker_api_types::graphs::FindingView;
use stoker_diagnostics::Diagnostic;
use stoker_graph::{GraphCheckOptions, MergeRules, Scope, Source, check, merge};
use stoker_model::{Cluster, ClusterId, GraphType, Owner};
use stoker_services::graphs::{GraphCheck, layer, places_of_release};
use stoker_store::Session;

use super::access::{require_cluster, require_graph_of};
use super::merged::requested_graph_type;
use super::merged_view::layer_name;
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) fn render_finding(diagnostic: Diagnostic) -> FindingView {
    let source = source_of_layer(&diagnostic);
    FindingView {
        severity: diagnostic.severity.as_str().to_owned(),
        code: diagnostic.code.into_owned(),
        task: diagnostic.location.task,
        path: diagnostic.location.path,
        message: diagnostic.message,
        help: diagnostic.help,
        layer: source.as_ref().map(layer_name).map(str::to_owned),
        plugin: match source {
            Some(Source::Plugin { name, version }) => Some(format!("{name}-{version}")),
            _ => None,
        },
    }
}

/// Returns the layer that set the field.
fn source_of_layer(diagnostic: &Diagnostic) -> Option<Source> {
    Source::of_label(diagnostic.location.provenance.as_ref()?.layer.as_deref()?)
}

/// Check the merged graph of a cluster
///
/// Returns all errors and warnings of the graph merged from the release, the cluster and its plugins.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks/check",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "Graph type (default: `default`)")),
    responses((status = 200, body = [FindingView]))
)]
pub(super) async fn cluster_task_check(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<Vec<FindingView>>> {
    let graph_type = requested_graph_type(&query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, &login, path.id("id", ClusterId, "Cluster")?).await?;
    let findings = check_cluster(&app, session, &cluster, &graph_type).await?;
    Ok(ApiResponse::ok(findings.into_iter().map(render_finding).collect()))
}

/// Checks the graph of one owner. The graph of a cluster is checked merged with its other layers. For a
/// release or a plugin the other layers are unknown, so unresolved references are only warnings.
pub(super) async fn check_owner(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: &GraphType,
) -> ApiResult<ApiResponse<Vec<FindingView>>> {
    let mut session = app.store.snapshot().await?;
    let graph = require_graph_of(&mut session, login, owner, graph_type).await?;
    if let Owner::Cluster(id) = owner {
        let cluster = require_cluster(&mut session, login, id).await?;
        let findings = check_cluster(app, session, &cluster, graph_type).await?;
        let own = findings
            .into_iter()
            .filter(|finding| source_of_layer(finding).is_none_or(|source| source == Source::Cluster));
        return Ok(ApiResponse::ok(own.map(render_finding).collect()));
    }
    let source = source_of(&mut session, owner).await?;
    let places = match owner {
        Owner::Release(id) => session.release_get(id).await?.map(|release| places_of_release(&release)),
        _ => None,
    };
    drop(session);
    let library = app.services.graphs.library();
    let findings = run_blocking(move || {
        let merged = merge(&[layer(source, &graph)], MergeRules::default());
        let (places, library) = (places.as_deref(), Some(&*library));
        let options = GraphCheckOptions {
            roles_and_tags: places,
            library,
            parameters: Some(stoker_tasks::check_written),
            ..GraphCheckOptions::new(Scope::Layer)
        };
        check(&merged, &options)
    });
    Ok(ApiResponse::ok(findings.await?.into_iter().map(render_finding).collect()))
}

async fn check_cluster(
    app: &App,
    mut session: Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ApiResult<Vec<Diagnostic>> {
    let check = GraphCheck::read(&app.services.graphs, &mut session, cluster, graph_type).await?;
    drop(session);
    run_blocking(move || check.findings()).await
}

/// Runs CPU-bound work on a blocking thread: checking a large graph takes up to a second, which would stall
/// other requests on an async worker.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "graph check failed"))
}

async fn source_of(session: &mut Session, owner: Owner) -> ApiResult<Source> {
    Ok(match owner {
        Owner::Release(_) => Source::Release,
        Owner::Cluster(_) => Source::Cluster,
        Owner::Plugin(id) => {
            let body = session.plugin_get(id).await?.map(|plugin| plugin.body);
            let (name, version) = body.map(|body| (body.name, body.version)).unwrap_or_default();
            Source::Plugin { name, version }
        }
    })
}
