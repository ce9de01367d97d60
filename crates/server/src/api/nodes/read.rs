//! Parsing of node update bodies.

use stoker_api_types::Request as _;
use stoker_api_types::nodes::NodeBody;
use stoker_manifest::codes;
use stoker_manifest::reader::{FieldUpdate, Fields, identifier, nullable};
use stoker_model::{ClusterId, NodeId};
use stoker_services::nodes::NodeUpdate;

pub(super) fn read_body(fields: &mut Fields<'_, '_>) -> Option<NodeUpdate> {
    let id = fields.optional("id", nullable(identifier)).flatten().map(NodeId);
    let alias = fields.update("cluster", identifier);
    let body = NodeBody::read(fields)?;
    let cluster = match agreed_cluster(fields, &body.cluster_id, &alias) {
        FieldUpdate::Absent => FieldUpdate::Absent,
        FieldUpdate::Null => FieldUpdate::Null,
        FieldUpdate::Value(id) => FieldUpdate::Value(ClusterId(*id)),
    };
    Some(NodeUpdate {
        id,
        mac: body.mac,
        name: body.name,
        hostname: body.hostname,
        labels: body.labels,
        status: body.status,
        online: body.online,
        roles: body.roles,
        pending_roles: body.pending_roles,
        pending_addition: body.pending_addition,
        pending_deletion: body.pending_deletion,
        cluster,
        meta: body.meta,
        ip: body.ip,
        error_type: body.error_type,
        error_msg: body.error_msg,
        progress: body.progress,
        group_id: body.group_id,
        manufacturer: body.manufacturer,
        platform_name: body.platform_name,
        os_platform: body.os_platform,
        kernel_params: body.kernel_params,
    })
}

/// Returns `cluster_id`, or `cluster` as responses name it.
fn agreed_cluster<'g>(
    fields: &mut Fields<'_, '_>,
    cluster_id: &'g FieldUpdate<i64>,
    alias: &'g FieldUpdate<i64>,
) -> &'g FieldUpdate<i64> {
    if cluster_id.is_present() && alias.is_present() && cluster_id != alias {
        let span = fields.node().span;
        let message = "`cluster_id` and `cluster` differ; specify only one of them";
        fields.problems().error(codes::CONFLICT, span, message);
    }
    if cluster_id.is_present() { cluster_id } else { alias }
}
