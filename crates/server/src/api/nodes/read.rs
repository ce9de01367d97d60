//! Parsing of node update bodies.

use stoker_api_types::Request as _;
use stoker_api_types::nodes::NodeBody;
use stoker_manifest::codes;
use stoker_manifest::reader::{Fields, Given, identifier, nullable};
use stoker_model::{ClusterId, NodeId};

/// Update of a node, and the node if the body names it.
pub(super) struct Body {
    pub(super) id: Option<NodeId>,
    pub(super) cluster: Given<ClusterId>,
    pub(super) update: NodeBody,
}

pub(super) fn read_body(fields: &mut Fields<'_, '_>) -> Option<Body> {
    let id = fields.optional("id", nullable(identifier)).flatten().map(NodeId);
    let alias = fields.given("cluster", identifier);
    let update = NodeBody::read(fields)?;
    let cluster = match agreed_cluster(fields, &update.cluster_id, &alias) {
        Given::Absent => Given::Absent,
        Given::Null => Given::Null,
        Given::Value(id) => Given::Value(ClusterId(*id)),
    };
    Some(Body { id, cluster, update })
}

/// Returns `cluster_id`, or `cluster` as responses name it.
fn agreed_cluster<'g>(
    fields: &mut Fields<'_, '_>,
    cluster_id: &'g Given<i64>,
    alias: &'g Given<i64>,
) -> &'g Given<i64> {
    if cluster_id.is_given() && alias.is_given() && cluster_id != alias {
        let span = fields.node().span;
        let message = "`cluster_id` and `cluster` differ; specify only one of them";
        fields.problems().error(codes::CONFLICT, span, message);
    }
    if cluster_id.is_given() { cluster_id } else { alias }
}
