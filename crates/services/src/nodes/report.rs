//! Reports of agents about their nodes. They are frequent, so a report without changes only updates the time
//! of the last report.

use serde_json::json;
use stoker_manifest::reader::FieldUpdate;
use stoker_model::{Actor, AuditChange, JsonMap, Node, NodeFacts, NodeId};
use stoker_store::{Session, Store};

use crate::clock::Clock;
use crate::error::{ServiceError, ServiceResult};

/// Report of an agent about its node. Either `id` or `mac` is required.
#[derive(Debug, Default)]
pub struct NodeReport {
    pub id: Option<NodeId>,
    pub mac: Option<String>,
    /// Checksum of the other fields. If it equals the previous checksum, they are not evaluated.
    pub checksum: Option<String>,
    pub ip: FieldUpdate<String>,
    pub meta: Option<JsonMap>,
    pub manufacturer: FieldUpdate<String>,
    pub platform_name: FieldUpdate<String>,
    pub os_platform: FieldUpdate<String>,
    /// Facts that take precedence over those that the agent of a node reports over its connection.
    pub facts: JsonMap,
}

pub struct Reported {
    pub id: NodeId,
    /// Whether the checksum was unchanged.
    pub is_cached: bool,
}

/// Marks the node as online and updates its inventory and facts if they changed.
pub async fn node_report(
    store: &Store,
    clock: Clock,
    actor: &Actor,
    report: &NodeReport,
) -> ServiceResult<Reported> {
    let (node, facts) = find(store, report).await?;
    let is_cached = report.checksum.is_some() && report.checksum == node.agent_checksum;
    let is_recorded =
        is_cached || (report.applied_to(&node, &facts) == node && report.uploaded_to(&facts) == facts);
    if is_recorded && node.online {
        store.node_heartbeat(node.id, clock.now()).await?;
    } else {
        record(store, clock, actor, report, is_cached, node.id).await?;
    }
    Ok(Reported { id: node.id, is_cached })
}

async fn find(store: &Store, report: &NodeReport) -> ServiceResult<(Node, NodeFacts)> {
    let mut session = store.read().await?;
    let node = match (report.id, &report.mac) {
        (Some(id), _) => session.node_get(id).await?,
        (None, Some(mac)) => session.node_by_mac(mac).await?,
        (None, None) => return Err(ServiceError::invalid("missing node: specify `id` or `mac`")),
    };
    let node = node.ok_or_else(|| ServiceError::not_found("Node"))?;
    let facts = facts_of(&mut session, &node).await?;
    Ok((node, facts))
}

/// Returns the facts of a node by source.
async fn facts_of(session: &mut Session, node: &Node) -> ServiceResult<NodeFacts> {
    if let Some(facts) = session.node_facts(&[node.id]).await?.remove(&node.id) {
        return Ok(facts);
    }
    Ok(NodeFacts { node_id: node.id, uploaded: JsonMap::new(), reported: node.facts.clone() })
}

impl NodeReport {
    /// Returns the facts of a node with those of the report.
    fn uploaded_to(&self, facts: &NodeFacts) -> NodeFacts {
        let mut facts = facts.clone();
        if !self.facts.is_empty() {
            facts.uploaded.clone_from(&self.facts);
        }
        facts
    }

    fn applied_to(&self, node: &Node, facts: &NodeFacts) -> Node {
        let mut node = Node { online: true, ..node.clone() };
        self.ip.clone().apply(&mut node.ip);
        self.manufacturer.clone().apply(&mut node.manufacturer);
        self.platform_name.clone().apply(&mut node.platform_name);
        self.os_platform.clone().apply(&mut node.os_platform);
        if let Some(meta) = &self.meta {
            node.meta.clone_from(meta);
        }
        if !self.facts.is_empty() {
            node.facts = self.uploaded_to(facts).merged();
        }
        if self.checksum.is_some() {
            node.agent_checksum.clone_from(&self.checksum);
        }
        node
    }
}

/// Applies the report to the current record of the node, which may have changed since `find`.
async fn record(
    store: &Store,
    clock: Clock,
    actor: &Actor,
    report: &NodeReport,
    is_cached: bool,
    id: NodeId,
) -> ServiceResult<()> {
    let mut writing = store.begin_write(actor, clock.now()).await?;
    let node = writing.node_get(id).await?.ok_or_else(|| ServiceError::not_found("Node"))?;
    let mut reported = Node { online: true, ..node.clone() };
    if !is_cached {
        let facts = facts_of(&mut writing, &node).await?;
        reported = report.applied_to(&node, &facts);
        if !report.facts.is_empty() {
            writing.node_facts_put(&report.uploaded_to(&facts)).await?;
        }
    }
    reported.last_seen_at = Some(writing.now());
    let detail = json!({"online": [node.online, reported.online], "checksum": reported.agent_checksum});
    let node = writing.node_update(&reported).await?;
    let target = format!("node {}", node.id);
    Ok(writing.commit(AuditChange { action: "node.report", target, detail }).await?)
}
