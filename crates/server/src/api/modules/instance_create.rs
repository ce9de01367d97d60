//! Instance creation: assigns a free node to the tenant's cluster of a release and deploys it.

use axum::extract::State;
use serde_json::json;
use stoker_model::{
    AuditChange, Cluster, ClusterStatus, GraphType, Json, Module, Node, NodeStatus, Owner, Release, Resource,
    RunId, RunName,
};
use stoker_modules::input::InstanceRequest;
use stoker_modules::{Datastores, ModuleError, Requester, datastore, rules};
use stoker_orchestrator::runs::start_drivers;
use stoker_orchestrator::runs::{GraphRequest, Launch, RunOptions, launch_in};
use stoker_services::ServiceError;
use stoker_services::modules::automatic::modules_for;
use stoker_services::modules::lists::{LIST_BYTES_MAX, ModuleListRequest, enqueue, is_too_large, items};
use stoker_store::{ClusterFilter, List, ModuleFilter, NodeFilter, Session, WriteTransaction};

use super::datastores::all;
use super::fault::{Fault, FaultResult, Faults};
use super::instances::Instance;
use super::{datastores, json_of, view, who};
use crate::access::caller::Authenticated;
use crate::api::clusters::create::make;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::limits::check_quota;
use crate::state::App;

/// Create an instance
///
/// Assigns a free online node to the tenant's cluster of the release and deploys it. The cluster is created
/// if it does not exist. If the release has no tasks, the instance is active immediately. If `datastore` is
/// omitted, the newest release is used. The requested modules and those with `auto_apply` are applied after
/// the deployment. `flavorRef` and `volume` are ignored.
#[utoipa::path(
    post, path = "/v1.0/{tenant}/instances", params(("tenant" = String, Path)),
    request_body(content = Json, example = json!({"instance": {
        "name": "db-1", "flavorRef": "1", "datastore": {"type": "mysql", "version": "8.0"}
    }})),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn instance_create(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let request = InstanceRequest::read(&json_of(document)?)?;
    let mut writing = app.change(&login).await?;
    let release = release(&mut writing, &request).await?;
    let modules = modules(&mut writing, who, &request, &release).await?;
    let node = free_node(&mut writing).await?;
    let cluster = environment(&app, &mut writing, who, &login.caller.tenant_name, &release).await?;
    let (node, run) = join(&mut writing, node, &cluster, &release, &request.name).await?;
    for resource in [Resource::Clusters, Resource::Nodes] {
        let quota = check_quota(&app.limits, &mut writing, cluster.tenant_id, resource).await;
        quota.map_err(Fault::over_quota)?;
    }
    let list = enqueue_modules(&mut writing, &node, &cluster, &release, modules, run).await?;
    let detail = json!({"cluster_id": cluster.id.0, "name": request.name, "run": run.map(|id| id.0)});
    writing.commit(AuditChange { action: "instance.create", target: format!("node {}", node.id), detail }).await?;
    start_drivers(&app.orchestrator, run.into_iter().chain(list).collect());
    Ok(ApiResponse::ok(json!({"instance": view::instance(&Instance { node, cluster, release })})))
}

/// Selects the requested release: exact version, else the newest version of the datastore, else the newest
/// release.
async fn release(session: &mut Session, request: &InstanceRequest) -> FaultResult<Release> {
    let catalog = datastores(session).await?;
    catalog.check(request.datastore.as_deref(), request.datastore_version.as_deref())?;
    let datastores = all(session).await?;
    let deployable = |release: &Release| release.body.is_deployable();
    let chosen = match &request.datastore {
        None => {
            let releases = datastores.into_iter().flat_map(|datastore| datastore.releases);
            releases.filter(deployable).max_by_key(|release| release.id)
        }
        Some(name) => {
            let datastore = datastores.into_iter().find(|datastore| datastore.name == *name);
            let releases = datastore.ok_or_else(|| Datastores::unknown(name))?.releases;
            let is_requested = |release: &Release| {
                request.datastore_version.as_ref().is_none_or(|version| release.body.version == *version)
            };
            releases.into_iter().filter(deployable).find(is_requested)
        }
    };
    Ok(chosen
        .ok_or_else(|| ModuleError::not_found("Datastore cannot be found: there is no release to deploy."))?)
}

/// Returns the requested modules that the caller may apply. All must be compatible with the release.
async fn modules(
    session: &mut Session,
    who: Requester,
    request: &InstanceRequest,
    release: &Release,
) -> FaultResult<Vec<Module>> {
    let filter = ModuleFilter { uuids: Some(request.modules.clone()), ..ModuleFilter::default() };
    let mut modules = session.module_list(&filter).await?;
    modules.retain(|module| rules::may_apply(who, &module.body));
    let misfit = modules
        .iter()
        .find(|module| !datastore::is_compatible(&module.body, &release.body.name, &release.body.version));
    misfit.map_or(Ok(()), |module| Err(datastore::incompatible_error(&module.body)))?;
    Ok(modules)
}

async fn free_node(session: &mut Session) -> FaultResult<Node> {
    let filter = NodeFilter { cluster: Some(None), ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let free = nodes.into_iter().find(|node| node.online && node.status == NodeStatus::Discover);
    free.ok_or_else(|| Fault::unprocessable("no free node is online; start an agent on another machine"))
}

/// Returns the tenant's cluster of the release; creates it if there is none.
async fn environment(
    app: &App,
    writing: &mut WriteTransaction,
    who: Requester,
    tenant: &str,
    release: &Release,
) -> FaultResult<Cluster> {
    let filter = ClusterFilter { tenant_id: Some(who.tenant_id), release_id: Some(release.id) };
    if let Some(cluster) = writing.cluster_list(&filter, &List::default()).await?.items.into_iter().next() {
        return Ok(cluster);
    }
    let name = format!("{tenant} {} {}", release.body.name, release.body.version);
    Ok(make(app, writing, release, who.tenant_id, name).await?)
}

/// Assigns the node to the cluster and launches its deployment. There is no run if the release has no tasks.
async fn join(
    writing: &mut WriteTransaction,
    mut node: Node,
    cluster: &Cluster,
    release: &Release,
    name: &str,
) -> FaultResult<(Node, Option<RunId>)> {
    node.join_cluster(cluster.id);
    name.clone_into(&mut node.name);
    let graph = writing.graph_find(Owner::Release(release.id), &GraphType::default()).await?;
    if graph.is_none_or(|graph| graph.tasks.is_empty()) {
        node.status = NodeStatus::Ready;
        node.pending_addition = false;
        node.progress = 100;
        let node = writing.node_update(&node).await?;
        if cluster.status == ClusterStatus::New {
            writing
                .cluster_update(&Cluster { status: ClusterStatus::Operational, ..cluster.clone() })
                .await?;
        }
        return Ok((node, None));
    }
    let node = writing.node_update(&node).await?;
    let nodes = Some(vec![node.id.to_string()]);
    let graphs = vec![GraphRequest { nodes, ..GraphRequest::entire_graph(GraphType::default()) }];
    let launch = Launch { graphs, run_options: RunOptions::default(), name: RunName::Deploy };
    let run = launch_in(writing, cluster.clone(), &launch).await.map_err(|error| match error {
        ServiceError::Conflict(report) => Fault::unprocessable(report.message),
        other => other.into(),
    })?;
    Ok((node, Some(run.id)))
}

/// Enqueues the requested modules and those with `auto_apply`, each once, to be applied after the run
/// `after`.
async fn enqueue_modules(
    writing: &mut WriteTransaction,
    node: &Node,
    cluster: &Cluster,
    release: &Release,
    mut modules: Vec<Module>,
    after: Option<RunId>,
) -> FaultResult<Option<RunId>> {
    for module in modules_for(writing, cluster, release).await? {
        if !modules.iter().any(|requested| requested.uuid == module.uuid) {
            modules.push(module);
        }
    }
    let items = items(writing, modules).await?;
    if items.is_empty() {
        return Ok(None);
    }
    if is_too_large(&items) {
        return Err(Fault::too_large("the modules together are", LIST_BYTES_MAX));
    }
    let request = ModuleListRequest { after, ..ModuleListRequest::apply(node.id, items) };
    Ok(Some(enqueue(writing, request).await?))
}
