//! Instances of the module API: creation with a deployment, and modules applied to them.

use std::time::Duration;

use serde_json::json;
use stoker_model::{
    AuditChange, Cluster, ClusterStatus, GraphType, Micros, Module, ModuleAction, ModuleItem, ModuleStatus,
    Node, NodeModule, NodeStatus, Owner, Release, Resource, RunId, RunName, RunStatus,
};
use stoker_modules::input::InstanceRequest;
use stoker_modules::{ApplyRequest, Datastores, Requester, RuleViolation, datastore, rules};
use stoker_services::ServiceError;
use stoker_services::clusters::cluster_create_in;
use stoker_services::modules::automatic::modules_for;
use stoker_services::modules::instances::NodeInstance;
use stoker_services::modules::lists::{LIST_BYTES_MAX, ModuleListRequest, enqueue, is_too_large, items};
use stoker_services::modules::records::{datastore_list, datastores};
use stoker_services::modules::{ModuleError, ModuleResult};
use stoker_services::quotas::check_quota;
use stoker_services::runs::{GraphRequest, RunOptions};
use stoker_settings::Server;
use stoker_store::{ClusterFilter, List, ModuleFilter, NodeFilter, Session, WriteTransaction};

use crate::agent_launcher::has_reachable_agent;
use crate::orchestrator::Orchestrator;
use crate::runs::{Launch, launch_in, start_driver, start_drivers, wait};

/// Time after its deadline in which a run can record that it timed out.
const MARGIN: Duration = Duration::from_secs(10);

/// Assigns a free online node to the tenant's cluster of the release and deploys it. The cluster is created if it does not
/// exist. If the release has no tasks, the instance is active immediately. The requested modules and those with
/// `auto_apply` are applied after the deployment.
pub async fn instance_create(
    orchestrator: &Orchestrator,
    mut writing: WriteTransaction,
    who: Requester,
    tenant_name: &str,
    request: &InstanceRequest,
) -> ModuleResult<NodeInstance> {
    let settings = &orchestrator.context.settings;
    let release = release(&mut writing, request).await?;
    let modules = modules(&mut writing, who, request, &release).await?;
    let node = free_node(&mut writing).await?;
    let cluster = environment(settings, &mut writing, who, tenant_name, &release).await?;
    let (node, run) = join(&mut writing, node, &cluster, &release, request).await?;
    for resource in [Resource::Clusters, Resource::Nodes] {
        let quota = check_quota(settings.limits.quotas, &mut writing, cluster.tenant_id, resource).await;
        quota.map_err(ModuleError::over_quota)?;
    }
    let list = enqueue_modules(&mut writing, &node, &cluster, &release, modules, run).await?;
    let detail = json!({"cluster_id": cluster.id.0, "name": request.name, "run": run.map(|id| id.0)});
    writing
        .commit(AuditChange { action: "instance.create", target: format!("node {}", node.id), detail })
        .await?;
    start_drivers(orchestrator, run.into_iter().chain(list).collect());
    let is_revoked = orchestrator.context.store.read().await?.node_is_revoked(node.id).await?;
    Ok(NodeInstance { node, cluster, release, is_revoked })
}

/// Applies modules in their configured order and waits for completion. If a module fails, the remaining
/// modules are still applied. Unknown module IDs are ignored. Returns the results in the order of
/// application.
pub async fn modules_apply(
    orchestrator: &Orchestrator,
    mut writing: WriteTransaction,
    who: Requester,
    instance: &NodeInstance,
    request: ApplyRequest,
) -> ModuleResult<Vec<NodeModule>> {
    let filter = ModuleFilter { uuids: Some(request.ids), ..ModuleFilter::default() };
    let mut modules = writing.module_list(&filter).await?;
    modules.retain(|module| rules::may_apply(who, &module.body));
    let release = &instance.release.body;
    for module in &modules {
        if !datastore::is_compatible(&module.body, &release.name, &release.version) {
            return Err(datastore::incompatible_error(&module.body).into());
        }
    }
    if modules.is_empty() {
        return Ok(Vec::new());
    }
    let items = items(&mut writing, modules).await?;
    let uuids: Vec<String> = items.iter().map(|item| item.uuid.clone()).collect();
    let run = start_run(orchestrator, writing, &instance.node, ModuleAction::Apply, items).await?;
    wait_for_end(orchestrator, run).await?;
    let mut results = orchestrator.context.store.read().await?.node_modules(instance.node.id).await?;
    results.retain(|applied| uuids.contains(&applied.uuid) && applied.removed_at.is_none());
    results.sort_by_key(|applied| applied.updated_at);
    if results.is_empty() {
        return Err(RuleViolation::guest_error("the agent reported no results for the modules").into());
    }
    Ok(results)
}

/// Removes a module from an instance and waits until it is removed.
pub async fn module_remove(
    orchestrator: &Orchestrator,
    mut writing: WriteTransaction,
    instance: &NodeInstance,
    module: &Module,
) -> ModuleResult<()> {
    let applied = find(writing.node_modules(instance.node.id).await?, &module.uuid);
    let Some(applied) = applied else {
        return Err(RuleViolation::guest_error(&format!(
            "module '{}' was never applied to this instance",
            module.body.name
        ))
        .into());
    };
    if applied.removed_at.is_some() {
        return Ok(());
    }
    // Remove the version that was applied: the module may have changed since.
    let item = ModuleItem { uuid: applied.uuid, body: applied.body, contents: applied.contents };
    let run = start_run(orchestrator, writing, &instance.node, ModuleAction::Remove, vec![item]).await?;
    wait_for_end(orchestrator, run).await?;
    let applied = orchestrator.context.store.read().await?.node_modules(instance.node.id).await?;
    match find(applied, &module.uuid) {
        Some(NodeModule { status: ModuleStatus::Error, message, removed_at: None, .. }) => {
            Err(RuleViolation::guest_error(message.as_deref().unwrap_or("the module was not removed")).into())
        }
        _ => Ok(()),
    }
}

fn find(applied: Vec<NodeModule>, uuid: &str) -> Option<NodeModule> {
    applied.into_iter().find(|applied| applied.uuid == uuid)
}

/// Enqueues a module run on the node, commits and starts it.
async fn start_run(
    orchestrator: &Orchestrator,
    mut writing: WriteTransaction,
    node: &Node,
    action: ModuleAction,
    items: Vec<ModuleItem>,
) -> ModuleResult<RunId> {
    if !node.online {
        return Err(RuleViolation::guest_error("the agent of this node is not connected").into());
    }
    if !has_reachable_agent(orchestrator, &mut writing, node).await? {
        return Err(RuleViolation::guest_error(&format!(
            "node {0} has no agent; start `stoker agent` on it with a join token, or configure SSH access for the server",
            node.id
        ))
        .into());
    }
    if is_too_large(&items) {
        return Err(too_large());
    }
    let uuids: Vec<String> = items.iter().map(|item| item.uuid.clone()).collect();
    let deadline = Micros(
        writing.now().0
            + i64::try_from(orchestrator.context.settings.modules.apply_time().as_micros())
                .unwrap_or(i64::MAX / 2),
    );
    let request =
        ModuleListRequest { deadline: Some(deadline), action, ..ModuleListRequest::apply(node.id, items) };
    let run = enqueue(&mut writing, request).await?;
    let detail = json!({"action": action.as_str(), "modules": uuids, "run": run.0});
    writing.commit(AuditChange { action: "module.ask", target: format!("node {}", node.id), detail }).await?;
    start_driver(orchestrator, run);
    Ok(run)
}

async fn wait_for_end(orchestrator: &Orchestrator, run: RunId) -> ModuleResult<()> {
    let ended = wait(orchestrator, run, orchestrator.context.settings.modules.apply_time() + MARGIN).await?;
    match ended {
        Some(run) if run.status == RunStatus::Ready => Ok(()),
        Some(run) => {
            Err(RuleViolation::guest_error(run.message.as_deref().unwrap_or("the run failed")).into())
        }
        None => Err(RuleViolation::guest_error("timeout while waiting for the agent").into()),
    }
}

/// Selects the requested release: exact version, else the newest version of the datastore, else the newest
/// release.
async fn release(session: &mut Session, request: &InstanceRequest) -> ModuleResult<Release> {
    let catalog = datastores(session).await?;
    catalog.check(request.datastore.as_deref(), request.datastore_version.as_deref())?;
    let datastores = datastore_list(session).await?;
    let deployable = |release: &Release| release.body.is_deployable();
    let release = match &request.datastore {
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
    Ok(release.ok_or_else(|| {
        RuleViolation::not_found("Datastore cannot be found: there is no release to deploy.")
    })?)
}

/// Returns the requested modules that the caller may apply. All must be compatible with the release.
async fn modules(
    session: &mut Session,
    who: Requester,
    request: &InstanceRequest,
    release: &Release,
) -> ModuleResult<Vec<Module>> {
    let filter = ModuleFilter { uuids: Some(request.modules.clone()), ..ModuleFilter::default() };
    let mut modules = session.module_list(&filter).await?;
    modules.retain(|module| rules::may_apply(who, &module.body));
    let misfit = modules
        .iter()
        .find(|module| !datastore::is_compatible(&module.body, &release.body.name, &release.body.version));
    misfit.map_or(Ok(()), |module| Err(datastore::incompatible_error(&module.body)))?;
    Ok(modules)
}

async fn free_node(session: &mut Session) -> ModuleResult<Node> {
    let filter = NodeFilter { cluster: Some(None), ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let free = nodes.into_iter().find(|node| node.online && node.status == NodeStatus::Discover);
    free.ok_or_else(|| {
        ModuleError::unprocessable("no free node is online; start an agent on another machine")
    })
}

/// Returns the tenant's cluster of the release; creates it if there is none.
async fn environment(
    settings: &Server,
    writing: &mut WriteTransaction,
    who: Requester,
    tenant: &str,
    release: &Release,
) -> ModuleResult<Cluster> {
    let filter = ClusterFilter { tenant_id: Some(who.tenant_id), release_id: Some(release.id) };
    if let Some(cluster) = writing.cluster_list(&filter, &List::default()).await?.items.into_iter().next() {
        return Ok(cluster);
    }
    let name = format!("{tenant} {} {}", release.body.name, release.body.version);
    Ok(cluster_create_in(settings, writing, release, who.tenant_id, name).await?)
}

/// Assigns the node to the cluster and launches its deployment. There is no run if the release has no tasks.
async fn join(
    writing: &mut WriteTransaction,
    mut node: Node,
    cluster: &Cluster,
    release: &Release,
    request: &InstanceRequest,
) -> ModuleResult<(Node, Option<RunId>)> {
    node.join_cluster(cluster.id);
    node.name.clone_from(&request.name);
    node.instance_options.clone_from(&request.options);
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
    // Instances have no roles, so that minima of roles do not apply to their cluster.
    let run_options = RunOptions { ignore_limits: true, ..RunOptions::default() };
    let launch = Launch { graphs, run_options, name: RunName::Deploy, leaving: Vec::new() };
    let run = launch_in(writing, cluster.clone(), &launch).await.map_err(|error| match error {
        ServiceError::Conflict(report) => ModuleError::unprocessable(report.message),
        other => other.into(),
    })?;
    Ok((node, Some(run.id)))
}

/// Enqueues the requested modules and those with `auto_apply`, without duplicates, to be applied after the
/// run `after`.
async fn enqueue_modules(
    writing: &mut WriteTransaction,
    node: &Node,
    cluster: &Cluster,
    release: &Release,
    mut modules: Vec<Module>,
    after: Option<RunId>,
) -> ModuleResult<Option<RunId>> {
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
        return Err(too_large());
    }
    let request = ModuleListRequest { after, ..ModuleListRequest::apply(node.id, items) };
    Ok(Some(enqueue(writing, request).await?))
}

fn too_large() -> ModuleError {
    ModuleError::TooLarge { what: "the modules together are", bytes_max: LIST_BYTES_MAX }
}
