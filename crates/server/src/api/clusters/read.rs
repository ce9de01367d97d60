//! Parsing of cluster request bodies.

use stoker_api_types::Request as _;
use stoker_api_types::clusters::{ClusterBody, NewClusterBody, ReleaseRef, read_release};
use stoker_api_types::users::TenantRef;
use stoker_manifest::reader::{Fields, Given, nullable};
use stoker_model::{JsonMap, MergeMode, MergeOrder, NodeId, ReleaseId};

use crate::http::error::{ApiError, ApiResult};

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

impl ReleaseRefs {
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

impl From<NewClusterBody> for NewBody {
    fn from(body: NewClusterBody) -> Self {
        Self {
            name: body.name,
            releases: ReleaseRefs { release_id: body.release_id, release: body.release },
            mode: body.mode.map(str::to_owned),
            net_provider: body.net_provider,
            nodes: node_ids(body.nodes.unwrap_or_default()),
            components: body.components,
            wizard: body.wizard,
            ui_settings: body.ui_settings.unwrap_or_default(),
            tenant: body.tenant,
            merge_order: body.merge_order,
            merge_mode: body.merge_mode,
        }
    }
}

pub(super) struct ChangeBody {
    pub(super) name: Option<String>,
    pub(super) releases: ReleaseRefs,
    pub(super) mode: Option<String>,
    pub(super) nodes: Option<Vec<NodeId>>,
    pub(super) components: Option<Vec<String>>,
    pub(super) ui_settings: Option<JsonMap>,
    pub(super) tenant: Option<TenantRef>,
    pub(super) merge_order: Given<MergeOrder>,
    pub(super) merge_mode: Given<MergeMode>,
}

/// Parses an update. A response contains the release, so that it may be sent back.
pub(super) fn read_change(fields: &mut Fields<'_, '_>) -> Option<ChangeBody> {
    let release_id = fields.optional("release_id", nullable(read_release)).flatten();
    let release = fields.optional("release", nullable(read_release)).flatten();
    let body = ClusterBody::read(fields)?;
    Some(ChangeBody {
        name: body.name,
        releases: ReleaseRefs { release_id, release },
        mode: body.mode.map(str::to_owned),
        nodes: body.nodes.map(node_ids),
        components: body.components,
        ui_settings: body.ui_settings,
        tenant: body.tenant,
        merge_order: body.merge_order,
        merge_mode: body.merge_mode,
    })
}

fn node_ids(ids: Vec<i64>) -> Vec<NodeId> {
    ids.into_iter().map(NodeId).collect()
}
