//! Conversion of node updates.

use stoker_api_types::Request as _;
use stoker_api_types::nodes::NamedNodeBody;
use stoker_manifest::reader::{FieldUpdate, Fields};
use stoker_model::{ClusterId, NodeId};
use stoker_services::nodes::NodeUpdate;

pub(super) fn read_body(fields: &mut Fields<'_, '_>) -> Option<NodeUpdate> {
    let NamedNodeBody { id, cluster: alias, body } = NamedNodeBody::read(fields)?;
    let body = body?;
    let cluster = match if body.cluster_id.is_present() { body.cluster_id } else { alias } {
        FieldUpdate::Absent => FieldUpdate::Absent,
        FieldUpdate::Null => FieldUpdate::Null,
        FieldUpdate::Value(id) => FieldUpdate::Value(ClusterId(id)),
    };
    Some(NodeUpdate {
        id: id.map(NodeId),
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
