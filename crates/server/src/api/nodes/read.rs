//! Parsing of node update bodies.

use stoker_manifest::reader::{
    FieldUpdate, Fields, boolean, enum_of, identifier, integer, integer_in, json_map, list_of, nullable,
    string_with_length,
};
use stoker_manifest::{Problems, codes};
use stoker_model::{ClusterId, NodeErrorKind, NodeId, NodeStatus};
use stoker_services::nodes::NodeUpdate;
use stoker_yaml::Node;

use super::names::{read_hostname, read_ip, read_labels, read_mac};

const TEXT_CHARS_MAX: usize = 4096;

/// Read-only fields: accepted so that a response can be sent back, and ignored.
const READ_ONLY: &[&str] = &["fqdn", "network_data", "last_seen_at", "created_at", "facts"];

#[expect(clippy::unnecessary_wraps, reason = "signature of a body reader")]
pub(super) fn read_body(fields: &mut Fields<'_, '_>) -> Option<NodeUpdate> {
    let text = || string_with_length(0..=TEXT_CHARS_MAX);
    let roles = || list_of(string_with_length(1..=255));
    let update = NodeUpdate {
        id: fields.optional("id", nullable(identifier)).flatten().map(NodeId),
        mac: fields.optional("mac", nullable(read_mac)).flatten(),
        name: fields.optional("name", string_with_length(1..=255)),
        hostname: fields.optional("hostname", read_hostname),
        labels: fields.optional("labels", read_labels),
        status: fields.optional("status", enum_of(NodeStatus::NAMES, NodeStatus::parse)),
        online: fields.optional("online", boolean),
        roles: fields.optional("roles", roles()),
        pending_roles: fields.optional("pending_roles", roles()),
        pending_addition: fields.optional("pending_addition", boolean),
        pending_deletion: fields.optional("pending_deletion", boolean),
        cluster: read_cluster(fields),
        meta: fields.optional("meta", json_map),
        ip: fields.update("ip", read_ip),
        error_type: fields.update("error_type", enum_of(NodeErrorKind::NAMES, NodeErrorKind::parse)),
        error_msg: fields.update("error_msg", text()),
        progress: fields.optional("progress", integer_in(0..=100)),
        group_id: fields.update("group_id", integer),
        manufacturer: fields.update("manufacturer", text()),
        platform_name: fields.update("platform_name", text()),
        os_platform: fields.update("os_platform", text()),
        kernel_params: fields.update("kernel_params", text()),
    };
    fields.ignore(READ_ONLY);
    Some(update)
}

/// Reads `cluster_id`, or `cluster` as responses name it.
fn read_cluster(fields: &mut Fields<'_, '_>) -> FieldUpdate<ClusterId> {
    let cluster_id_field = fields.update("cluster_id", cluster_id);
    let cluster_field = fields.update("cluster", cluster_id);
    if cluster_id_field.is_present() && cluster_field.is_present() && cluster_id_field != cluster_field {
        let span = fields.node().span;
        fields.problems().error(
            codes::CONFLICT,
            span,
            "`cluster_id` and `cluster` differ; specify only one of them",
        );
    }
    if cluster_id_field.is_present() { cluster_id_field } else { cluster_field }
}

fn cluster_id(node: &Node, problems: &mut Problems) -> Option<ClusterId> {
    identifier(node, problems).map(ClusterId)
}
