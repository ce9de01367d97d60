//! Every problem and warning of a graph.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use stoker_graph::{CheckOptions, Finding, MergeRules, Scope, Severity, Source, check, merge};
use stoker_model::{Cluster, ClusterId, GraphType, Owner};
use stoker_store::Session;
use utoipa::ToSchema;
use stoker_services::graphs::{Layers, Wanted, layer, places_of_release};

use super::access::require_cluster;
use super::by_owner::find;
use super::merged::wanted_type;
use super::merged_view::layer_name;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Something wrong with a graph, or probably wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = Finding)]
pub(super) struct FindingView {
    /// `error`: it cannot run like this; `warning`: it probably does not say what was meant.
    #[schema(example = "error")]
    severity: &'static str,
    /// A stable name of the kind of finding.
    #[schema(example = "graph-cycle")]
    code: &'static str,
    task: Option<String>,
    /// Where in the task.
    #[schema(example = "requires[0]")]
    path: String,
    message: String,
    help: Option<String>,
    /// The layer that set the field: `release`, `cluster` or `plugins`.
    layer: Option<&'static str>,
    /// The plugin, if it is one's.
    plugin: Option<String>,
}

impl From<Finding> for FindingView {
    fn from(finding: Finding) -> Self {
        let plugin = match &finding.source {
            Some(Source::Plugin { name, version }) => Some(format!("{name}-{version}")),
            _ => None,
        };
        Self {
            severity: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: finding.code,
            task: finding.task,
            path: finding.path,
            message: finding.message,
            help: finding.help,
            layer: finding.source.as_ref().map(layer_name),
            plugin,
        }
    }
}

/// Every problem and warning of the merged graph of a cluster
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/deployment_tasks/check",
    params(("id" = i64, Path), ("graph_type" = Option<String>, Query, description = "`default` if not given")),
    responses((status = 200, body = [FindingView]))
)]
pub(super) async fn cluster_task_check(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<Vec<FindingView>>> {
    let graph_type = wanted_type(&query)?;
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, &login, path.id("id", ClusterId, "Cluster")?).await?;
    let findings = of_cluster(&app, session, &cluster, &graph_type).await?;
    Ok(Answer::ok(findings.into_iter().map(FindingView::from).collect()))
}

/// The findings of one owner's graph. That of a cluster is seen among all its layers; of a release or a plugin it is
/// not known what will be beside it, so names that lead nowhere are only probably wrong.
pub(super) async fn of_owner(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    graph_type: &GraphType,
) -> ApiResult<Answer<Vec<FindingView>>> {
    let mut session = app.store.snapshot().await?;
    let graph = find(&mut session, login, owner, graph_type).await?;
    if let Owner::Cluster(id) = owner {
        let cluster = require_cluster(&mut session, login, id).await?;
        let findings = of_cluster(app, session, &cluster, graph_type).await?;
        let own = findings
            .into_iter()
            .filter(|finding| finding.source.as_ref().is_none_or(|source| *source == Source::Cluster));
        return Ok(Answer::ok(own.map(FindingView::from).collect()));
    }
    let source = source_of(&mut session, owner).await?;
    let places = match owner {
        Owner::Release(id) => session.release_get(id).await?.map(|release| places_of_release(&release)),
        _ => None,
    };
    drop(session);
    let library = app.services.graphs.library();
    let findings = aside(move || {
        let merged = merge(&[layer(source, &graph)], MergeRules::default());
        let (places, library) = (places.as_deref(), Some(&*library));
        check(&merged, &CheckOptions { places, library, ..CheckOptions::new(Scope::Layer) })
    });
    Ok(Answer::ok(findings.await?.into_iter().map(FindingView::from).collect()))
}

async fn of_cluster(
    app: &App,
    mut session: Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ApiResult<Vec<Finding>> {
    let layers = Layers::read(&app.services.graphs, &mut session, cluster, graph_type, Wanted::ALL).await?;
    let places = layers.places(&mut session, cluster).await?;
    drop(session);
    let library = app.services.graphs.library();
    aside(move || {
        let merged = merge(&layers.layers(), layers.rules());
        let options = CheckOptions {
            places: Some(&places),
            library: Some(&library),
            ..CheckOptions::new(Scope::Whole)
        };
        layers.findings.iter().cloned().chain(check(&merged, &options)).collect()
    })
    .await
}

/// A large graph keeps a core busy for up to a second: not one that answers others.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the check failed"))
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
