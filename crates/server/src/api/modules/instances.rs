//! Instances: nodes that belong to a cluster.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_model::{Change, Cluster, ClusterId, Json, Node, NodeId, Release};
use stoker_modules::{Refusal, Who};
use stoker_store::{List, NodeFilter, Session, StoreError};
use utoipa::IntoParams;
use stoker_orchestrator::runs;

use super::carriers::shown;
use super::fault::{Answered, Fault, Faults};
use super::{view, who};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::client::Reached;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

const PAGE_MAX: usize = 20;

/// A part of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "documentation of the query, which is read with all its problems")]
pub(super) struct Page {
    /// At most this many, and never more than 20.
    #[param(minimum = 1)]
    limit: Option<i64>,
    /// Those after the instance with this id.
    marker: Option<String>,
}

/// A node with all that says what it is an instance of.
pub(super) struct Instance {
    pub(super) node: Node,
    pub(super) cluster: Cluster,
    pub(super) release: Release,
}

impl Instance {
    /// An instance that exists for the caller. Admins reach any.
    pub(super) async fn find(
        session: &mut Session,
        who: Who,
        id: NodeId,
    ) -> Result<Option<Self>, StoreError> {
        let Some(node) = session.node_get(id).await? else { return Ok(None) };
        Ok(Known::default().instance(session, node).await?.filter(|instance| instance.is_for(who)))
    }

    pub(super) fn is_for(&self, who: Who) -> bool {
        who.is_admin || self.cluster.tenant_id == who.tenant_id
    }

    /// The instance of a path.
    pub(super) async fn of_path(session: &mut Session, who: Who, path: &PathParams) -> Answered<Self> {
        let text = path.text("id");
        let found = match NodeId::parse(text) {
            Some(id) => Self::find(session, who, id).await?,
            None => None,
        };
        Ok(found.ok_or_else(|| Refusal::no_instance(text))?)
    }
}

/// Clusters and releases that were read: many nodes share few of them.
#[derive(Default)]
pub(super) struct Known {
    clusters: HashMap<ClusterId, Option<(Cluster, Release)>>,
}

impl Known {
    /// A node as an instance; none if it belongs to no cluster.
    pub(super) async fn instance(
        &mut self,
        session: &mut Session,
        node: Node,
    ) -> Result<Option<Instance>, StoreError> {
        let Some(id) = node.cluster_id else { return Ok(None) };
        let found = match self.clusters.entry(id) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let cluster = session.cluster_get(id).await?;
                let release = match &cluster {
                    Some(cluster) => session.release_get(cluster.release_id).await?,
                    None => None,
                };
                place.insert(cluster.zip(release)).clone()
            }
        };
        Ok(found.map(|(cluster, release)| Instance { node, cluster, release }))
    }
}

/// Some of them, with a link to the next ones if there are more.
pub(super) fn page(mut instances: Vec<Instance>, query: &Query, base: &str) -> Answered<Json> {
    let limit = match query.text("limit") {
        None => PAGE_MAX,
        Some(text) => match text.parse::<usize>() {
            Ok(limit) if limit > 0 => limit.min(PAGE_MAX),
            _ => return Err(Refusal::bad(format!("limit '{text}' is not a positive number")).into()),
        },
    };
    if let Some(marker) = query.text("marker") {
        let Some(marker) = NodeId::parse(marker) else {
            return Err(Refusal::bad(format!("marker '{marker}' is not the id of an instance")).into());
        };
        instances.retain(|instance| instance.node.id > marker);
    }
    let has_more = instances.len() > limit;
    instances.truncate(limit);
    let mut answer = json!({"instances": shown(&instances)});
    if has_more && let Some(last) = instances.last() {
        let href = format!("{base}?marker={}&limit={limit}", last.node.id);
        answer["links"] = json!([{"rel": "next", "href": href}]);
    }
    Ok(answer)
}

/// The instances of the caller's tenant
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances",
    params(
        ("tenant" = String, Path), Page,
        ("include_clustered" = Option<String>, Query, description = "Taken and without effect: no instance is clustered"),
    ),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn instance_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    reached: Reached,
    query: Query,
) -> Answered<Answer<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let filter = NodeFilter { tenant_id: Some(who.tenant_id), ..NodeFilter::default() };
    let (mut known, mut instances) = (Known::default(), Vec::new());
    for node in session.node_list(&filter, &List::default()).await?.items {
        instances.extend(known.instance(&mut session, node).await?);
    }
    let base = format!("{}/v1.0/{}/instances", reached.0, path.text("tenant"));
    Ok(Answer::ok(page(instances, &query, &base)?))
}

/// An instance
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn instance_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> Answered<Answer<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let instance = Instance::of_path(&mut session, who, &path).await?;
    Ok(Answer::ok(json!({"instance": view::instance(&instance)})))
}

/// Take the node out of its environment
#[utoipa::path(
    delete, path = "/v1.0/{tenant}/instances/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 202, description = "No body"), Faults)
)]
pub(super) async fn instance_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> Answered<StatusCode> {
    let who = who(&login, &path)?;
    let mut writing = app.change(&login).await?;
    let Instance { mut node, cluster, .. } = Instance::of_path(&mut writing, who, &path).await?;
    if let Some(run) = runs::active(&mut writing, cluster.id).await? {
        return Err(Fault::unprocessable(format!(
            "environment {} is being deployed by task {}; wait for it, or stop it",
            cluster.id, run.id
        )));
    }
    node.leave();
    writing.node_update(&node).await?;
    let detail = json!({"cluster_id": cluster.id.0});
    writing.commit(Change { action: "instance.delete", target: format!("node {}", node.id), detail }).await?;
    Ok(StatusCode::ACCEPTED)
}
