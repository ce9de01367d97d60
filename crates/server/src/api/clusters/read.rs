//! Parsing of cluster request bodies.

use stoker_api_types::Request as _;
use stoker_api_types::clusters::{ClusterBody, NewClusterBody, ReleaseRef};
use stoker_manifest::reader::{FieldUpdate, Fields};
use stoker_model::{JsonMap, MergeMode, MergeOrder, NodeId, ReleaseId, TenantRef};
use stoker_services::clusters::{ClusterRequest, ClusterUpdate};

use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};

pub(super) struct NewBody {
    name: String,
    releases: ReleaseRefs,
    mode: Option<String>,
    net_provider: Option<String>,
    net_segment_type: Option<String>,
    nodes: Vec<NodeId>,
    components: Option<Vec<String>>,
    wizard: Option<JsonMap>,
    ui_settings: JsonMap,
    tenant: Option<TenantRef>,
    merge_order: Option<MergeOrder>,
    merge_mode: Option<MergeMode>,
}

impl NewBody {
    /// Converts the body to a request. The default tenant is the tenant of the caller.
    pub(super) fn into_request(self, login: &Authenticated) -> ApiResult<ClusterRequest> {
        let release_id = self.releases.agreed()?;
        Ok(ClusterRequest {
            name: self.name,
            release_id: release_id.ok_or_else(|| ApiError::bad_request("Release ID is required"))?,
            mode: self.mode,
            net_provider: self.net_provider,
            net_segment_type: self.net_segment_type,
            nodes: self.nodes,
            components: self.components,
            wizard: self.wizard,
            ui_settings: self.ui_settings,
            tenant: self.tenant.unwrap_or(TenantRef::Id(login.caller.tenant_id)),
            merge_order: self.merge_order,
            merge_mode: self.merge_mode,
        })
    }
}

/// Release reference under both of its field names.
#[derive(Default)]
struct ReleaseRefs {
    release_id: Option<ReleaseRef>,
    release: Option<ReleaseRef>,
}

impl ReleaseRefs {
    /// Returns the release ID, if any; the two fields must not differ.
    fn agreed(&self) -> ApiResult<Option<ReleaseId>> {
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
            net_segment_type: body.net_segment_type.filter(|kind| !kind.is_empty()),
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
    name: Option<String>,
    releases: ReleaseRefs,
    mode: Option<String>,
    nodes: Option<Vec<NodeId>>,
    components: Option<Vec<String>>,
    ui_settings: Option<JsonMap>,
    tenant: Option<TenantRef>,
    merge_order: FieldUpdate<MergeOrder>,
    merge_mode: FieldUpdate<MergeMode>,
}

impl ChangeBody {
    pub(super) fn into_update(self) -> ApiResult<ClusterUpdate> {
        Ok(ClusterUpdate {
            name: self.name,
            release_id: self.releases.agreed()?,
            mode: self.mode,
            nodes: self.nodes,
            components: self.components,
            ui_settings: self.ui_settings,
            tenant: self.tenant,
            merge_order: self.merge_order,
            merge_mode: self.merge_mode,
        })
    }
}

/// Parses an update.
pub(super) fn read_change(fields: &mut Fields<'_, '_>) -> Option<ChangeBody> {
    let body = ClusterBody::read(fields)?;
    Some(ChangeBody {
        name: body.name,
        releases: ReleaseRefs { release_id: body.release_id, release: body.release },
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
