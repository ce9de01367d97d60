//! Parsing of cluster request bodies.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::{
    Fields, FieldUpdate, identifier, json_list, json_map, list_of, nullable, string_with_length, one_of, enum_of,
};
use stoker_model::{JsonMap, MergeMode, MergeOrder, NodeId, ReleaseId};
use stoker_yaml::{Node, NodeKind, Scalar};

use super::modes::MODES;
use crate::api::users::{TenantRef, read_tenant};
use crate::http::error::{ApiError, ApiResult};

const NAME_CHARS_MAX: usize = 255;

pub(super) struct NewBody {
    pub(super) name: String,
    pub(super) releases: ReleaseRefs,
    pub(super) mode: Option<String>,
    pub(super) net_provider: Option<String>,
    pub(super) nodes: Vec<NodeId>,
    pub(super) components: Option<Vec<String>>,
    pub(super) wizard: Option<JsonMap>,
    pub(super) ui_settings: JsonMap,
    pub(super) tenant: Option<TenantRef>,
    pub(super) merge_order: Option<MergeOrder>,
    pub(super) merge_mode: Option<MergeMode>,
}

/// Release reference under both of its field names.
#[derive(Default)]
pub(super) struct ReleaseRefs {
    release_id: Option<ReleaseRef>,
    release: Option<ReleaseRef>,
}

/// Release ID, or a value that is not a valid ID.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReleaseRef {
    Id(ReleaseId),
    Invalid,
}

impl ReleaseRefs {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let release_id = fields.optional("release_id", read_release).flatten();
        let release = fields.optional("release", read_release).flatten();
        Self { release_id, release }
    }

    /// Returns the release ID, if any; the two fields must not differ.
    pub(super) fn agreed(&self) -> ApiResult<Option<ReleaseId>> {
        match (self.release_id, self.release) {
            (Some(release_id), Some(release)) if release_id != release => {
                Err(ApiError::bad_request("`release_id` and `release` differ; set only one of them"))
            }
            (release_id, release) => match release_id.or(release) {
                None => Ok(None),
                Some(ReleaseRef::Id(id)) => Ok(Some(id)),
                Some(ReleaseRef::Invalid) => Err(ApiError::bad_request("Invalid release ID")),
            },
        }
    }
}

/// Accepts IDs as numbers and as strings, for compatibility with older clients.
#[expect(
    clippy::unnecessary_wraps,
    clippy::option_option,
    reason = "signature of a field reader; null means omitted"
)]
fn read_release(node: &Node, _: &mut Diagnostics) -> Option<Option<ReleaseRef>> {
    Some(match &node.kind {
        NodeKind::Scalar(Scalar::Null) => None,
        NodeKind::Scalar(Scalar::Int(id)) if *id > 0 => Some(ReleaseRef::Id(ReleaseId(*id))),
        NodeKind::Scalar(Scalar::Str(text)) => {
            Some(ReleaseId::parse(text.trim()).map_or(ReleaseRef::Invalid, ReleaseRef::Id))
        }
        _ => Some(ReleaseRef::Invalid),
    })
}

pub(super) fn read_new(fields: &mut Fields<'_, '_>) -> Option<NewBody> {
    let releases = ReleaseRefs::read(fields);
    let name = fields.required("name", string_with_length(1..=NAME_CHARS_MAX));
    let mode = fields.optional("mode", nullable(one_of(MODES))).flatten();
    let net_provider = fields.optional("net_provider", nullable(string_with_length(1..=NAME_CHARS_MAX))).flatten();
    let nodes = fields.optional("nodes", nullable(list_of(identifier))).flatten();
    let components = fields.optional("components", nullable(read_names)).flatten();
    let wizard = fields.optional("wizard", nullable(json_map)).flatten();
    let ui_settings = fields.optional("ui_settings", nullable(json_map)).flatten();
    let tenant = fields.optional("tenant", nullable(read_tenant)).flatten();
    let merge_order = fields.update("merge_order", enum_of(MergeOrder::NAMES, MergeOrder::parse));
    let merge_mode = fields.update("merge_mode", enum_of(MergeMode::NAMES, MergeMode::parse));
    fields.optional("tasks", nullable(json_list));
    fields.optional("net_segment_type", nullable(string_with_length(0..=NAME_CHARS_MAX)));
    Some(NewBody {
        name: name?,
        releases,
        mode: mode.map(str::to_owned),
        net_provider,
        nodes: node_ids(nodes.unwrap_or_default()),
        components,
        wizard,
        ui_settings: ui_settings.unwrap_or_default(),
        tenant,
        merge_order: merge_order.value(),
        merge_mode: merge_mode.value(),
    })
}

pub(super) struct ChangeBody {
    pub(super) name: Option<String>,
    pub(super) releases: ReleaseRefs,
    pub(super) mode: Option<String>,
    pub(super) nodes: Option<Vec<NodeId>>,
    pub(super) components: Option<Vec<String>>,
    pub(super) ui_settings: Option<JsonMap>,
    pub(super) tenant: Option<TenantRef>,
    pub(super) merge_order: FieldUpdate<MergeOrder>,
    pub(super) merge_mode: FieldUpdate<MergeMode>,
}

#[expect(clippy::unnecessary_wraps, reason = "signature of a body reader")]
pub(super) fn read_change(fields: &mut Fields<'_, '_>) -> Option<ChangeBody> {
    let body = ChangeBody {
        name: fields.optional("name", string_with_length(1..=NAME_CHARS_MAX)),
        releases: ReleaseRefs::read(fields),
        mode: fields.optional("mode", one_of(MODES)).map(str::to_owned),
        nodes: fields.optional("nodes", list_of(identifier)).map(node_ids),
        components: fields.optional("components", read_names),
        ui_settings: fields.optional("ui_settings", json_map),
        tenant: fields.optional("tenant", nullable(read_tenant)).flatten(),
        merge_order: fields.update("merge_order", enum_of(MergeOrder::NAMES, MergeOrder::parse)),
        merge_mode: fields.update("merge_mode", enum_of(MergeMode::NAMES, MergeMode::parse)),
    };
    fields.ignore(&[
        "id",
        "status",
        "net_provider",
        "changes",
        "is_customized",
        "fuel_version",
        "is_locked",
        "tenant_id",
        "created_at",
        "tasks",
        "net_segment_type",
    ]);
    Some(body)
}

fn read_names(node: &Node, problems: &mut Diagnostics) -> Option<Vec<String>> {
    list_of(string_with_length(1..=NAME_CHARS_MAX))(node, problems)
}

fn node_ids(ids: Vec<i64>) -> Vec<NodeId> {
    ids.into_iter().map(NodeId).collect()
}
