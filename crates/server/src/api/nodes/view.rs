//! Conversion between nodes and their API types.

use stoker_api_types::nodes::NodeView;
use stoker_model::{Json, Node, NodeErrorKind};
use stoker_state::Secrets;

use stoker_services::clock;
use stoker_services::nodes::UpdatedNode;

use crate::http::error::render_error_item;

/// Converts a node and includes its facts. Facts under keys that name secrets are masked.
pub(super) fn render_node_with_facts(mut node: Node) -> NodeView {
    let mut facts = Json::Object(std::mem::take(&mut node.facts));
    Secrets::default().mask(&mut facts);
    NodeView { facts: facts.as_object().cloned(), ..render_node(node) }
}

pub(super) fn render_node(node: Node) -> NodeView {
    NodeView {
        id: node.id.0,
        name: node.name,
        meta: node.meta,
        mac: node.mac,
        ip: node.ip,
        fqdn: node.hostname.clone(),
        hostname: node.hostname,
        status: node.status.as_str().to_owned(),
        online: node.online,
        roles: node.roles,
        pending_roles: node.pending_roles,
        pending_addition: node.pending_addition,
        pending_deletion: node.pending_deletion,
        cluster: node.cluster_id.map(|id| id.0),
        labels: node.labels,
        error_type: node.error_type.map(NodeErrorKind::as_str).map(str::to_owned),
        error_msg: node.error_msg,
        progress: node.progress,
        group_id: node.group_id,
        manufacturer: node.manufacturer,
        platform_name: node.platform_name,
        os_platform: node.os_platform,
        kernel_params: node.kernel_params,
        network_data: Vec::new(),
        last_seen_at: node.last_seen_at.map(clock::plain),
        created_at: clock::plain(node.created_at),
        facts: None,
        warnings: Vec::new(),
    }
}

pub(super) fn render_updated(updated: UpdatedNode) -> NodeView {
    let UpdatedNode { node, warnings } = updated;
    NodeView { warnings: warnings.into_iter().map(render_error_item).collect(), ..render_node(node) }
}
