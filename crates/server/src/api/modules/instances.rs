//! Instances: nodes that belong to a cluster.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_model::{AuditChange, Cluster, ClusterId, Json, Node, NodeId, Release};
use stoker_modules::{ModuleError, Requester};
use stoker_orchestrator::runs;
use stoker_store::{List, NodeFilter, Session, StoreError};
use utoipa::IntoParams;

use super::carriers::render_instances;
use super::fault::{Fault, FaultResult, Faults};
use super::{view, who};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::client::BaseUrl;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

const PAGE_MAX: usize = 20;

/// Page of a list of instances.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "documents the query, which is parsed field by field to report every problem")]
pub(super) struct Page {
    /// Maximum number of instances to return (default and maximum 20).
    #[param(minimum = 1)]
    limit: Option<i64>,
    /// Return only instances after the one with this ID.
    marker: Option<String>,
}

/// Node with its cluster and release.
pub(super) struct Instance {
    pub(super) node: Node,
    pub(super) cluster: Cluster,
    pub(super) release: Release,
}

impl Instance {
    /// Finds an instance that the caller may see. Admins see all of them.
    pub(super) async fn find(
        session: &mut Session,
        who: Requester,
        id: NodeId,
    ) -> Result<Option<Self>, StoreError> {
        let Some(node) = session.node_get(id).await? else { return Ok(None) };
        Ok(ClusterCache::default().instance(session, node).await?.filter(|instance| instance.is_for(who)))
    }

    pub(super) fn is_for(&self, who: Requester) -> bool {
        who.is_admin || self.cluster.tenant_id == who.tenant_id
    }

    /// Finds the instance that the path names.
    pub(super) async fn of_path(session: &mut Session, who: Requester, path: &PathParams) -> FaultResult<Self> {
        let text = path.text("id");
        let instance = match NodeId::parse(text) {
            Some(id) => Self::find(session, who, id).await?,
            None => None,
        };
        Ok(instance.ok_or_else(|| ModuleError::instance_not_found(text))?)
    }
}

/// Cache of clusters and releases: many nodes share few of them.
#[derive(Default)]
pub(super) struct ClusterCache {
    clusters: HashMap<ClusterId, Option<(Cluster, Release)>>,
}

impl ClusterCache {
    /// Resolves a node to an instance; `None` if it belongs to no cluster.
    pub(super) async fn instance(
        &mut self,
        session: &mut Session,
        node: Node,
    ) -> Result<Option<Instance>, StoreError> {
        let Some(id) = node.cluster_id else { return Ok(None) };
        let owner = match self.clusters.entry(id) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => {
                let cluster = session.cluster_get(id).await?;
                let release = match &cluster {
                    Some(cluster) => session.release_get(cluster.release_id).await?,
                    None => None,
                };
                entry.insert(cluster.zip(release)).clone()
            }
        };
        Ok(owner.map(|(cluster, release)| Instance { node, cluster, release }))
    }
}

/// Returns one page of instances, with a link to the next page if there is one.
pub(super) fn page(mut instances: Vec<Instance>, query: &Query, base: &str) -> FaultResult<Json> {
    let limit = match query.text("limit") {
        None => PAGE_MAX,
        Some(text) => match text.parse::<usize>() {
            Ok(limit) if limit > 0 => limit.min(PAGE_MAX),
            _ => return Err(ModuleError::bad_request(format!("limit '{text}' is not a positive number")).into()),
        },
    };
    if let Some(marker) = query.text("marker") {
        let Some(marker) = NodeId::parse(marker) else {
            return Err(ModuleError::bad_request(format!("marker '{marker}' is not an instance ID")).into());
        };
        instances.retain(|instance| instance.node.id > marker);
    }
    let has_more = instances.len() > limit;
    instances.truncate(limit);
    let mut body = json!({"instances": render_instances(&instances)});
    if has_more && let Some(last) = instances.last() {
        let href = format!("{base}?marker={}&limit={limit}", last.node.id);
        body["links"] = json!([{"rel": "next", "href": href}]);
    }
    Ok(body)
}

/// List instances
///
/// Returns the instances of the caller's tenant.
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances",
    params(
        ("tenant" = String, Path), Page,
        ("include_clustered" = Option<String>, Query, description = "Accepted and ignored: no instance is clustered"),
    ),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn instance_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    reached: BaseUrl,
    query: Query,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let filter = NodeFilter { tenant_id: Some(who.tenant_id), ..NodeFilter::default() };
    let (mut cache, mut instances) = (ClusterCache::default(), Vec::new());
    for node in session.node_list(&filter, &List::default()).await?.items {
        instances.extend(cache.instance(&mut session, node).await?);
    }
    let base = format!("{}/v1.0/{}/instances", reached.0, path.text("tenant"));
    Ok(ApiResponse::ok(page(instances, &query, &base)?))
}

/// Retrieve an instance
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn instance_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let instance = Instance::of_path(&mut session, who, &path).await?;
    Ok(ApiResponse::ok(json!({"instance": view::instance(&instance)})))
}

/// Delete an instance
///
/// Removes the node from its cluster. Fails while a run of the cluster is active.
#[utoipa::path(
    delete, path = "/v1.0/{tenant}/instances/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 202, description = "No body"), Faults)
)]
pub(super) async fn instance_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<StatusCode> {
    let who = who(&login, &path)?;
    let mut writing = app.change(&login).await?;
    let Instance { mut node, cluster, .. } = Instance::of_path(&mut writing, who, &path).await?;
    if let Some(run) = runs::active_run(&mut writing, cluster.id).await? {
        return Err(Fault::unprocessable(format!(
            "cluster {} has an active run {}; wait until it ends or stop it",
            cluster.id, run.id
        )));
    }
    node.leave_cluster();
    writing.node_update(&node).await?;
    let detail = json!({"cluster_id": cluster.id.0});
    writing.commit(AuditChange { action: "instance.delete", target: format!("node {}", node.id), detail }).await?;
    Ok(StatusCode::ACCEPTED)
}
