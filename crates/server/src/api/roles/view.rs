//! Request and response types of roles.

use stoker_api_types::roles::{RoleView, VolumeOfRole};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::string_with_length;
use stoker_model::{Json, JsonMap};
use stoker_services::metadata::holder::RoleOwner;
use stoker_services::metadata::named::RoleUpdate;
use stoker_services::metadata::sections;
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::http::body::Document;
use crate::http::error::ApiResult;

pub(super) fn render_role(holder: &RoleOwner, name: &str, meta: Json) -> RoleView {
    let text = |volume: &Json, key| volume.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let volumes = holder.volumes_of_role(name);
    let volumes = volumes
        .iter()
        .map(|volume| VolumeOfRole { id: text(volume, "id"), allocate_size: text(volume, "allocate_size") });
    RoleView { name: name.to_owned(), meta, volumes_roles_mapping: volumes.collect() }
}

pub(super) fn read_new(document: &Document) -> ApiResult<(String, JsonMap, Vec<Json>)> {
    document.fields(|fields| {
        let name = fields.required("name", sections::path_name);
        let meta = fields.required("meta", meta);
        let volumes = fields.optional("volumes_roles_mapping", sections::volumes_of_role);
        Some((name?, meta?, volumes.unwrap_or_default()))
    })
}

pub(super) fn read_change(document: &Document) -> ApiResult<RoleUpdate> {
    document.fields(|fields| {
        let name = fields.optional("name", string_with_length(1..=255));
        let meta = fields.optional("meta", meta);
        let volumes = fields.optional("volumes_roles_mapping", sections::volumes_of_role);
        Some(RoleUpdate { name, meta, volumes })
    })
}

/// Parses the metadata of a role. `name` and `description` are required: users select roles by them.
fn meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let meta = sections::role_meta(node, problems)?;
    let mut is_complete = true;
    for key in ["name", "description"] {
        if !meta.contains_key(key) {
            is_complete = false;
            problems.in_key(key, |problems| {
                problems.error(codes::MISSING, node.span, format!("`{key}` is missing"));
            });
        }
    }
    is_complete.then_some(meta)
}

/// New role.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewRoleBody {
    /// Name of the role, unique within its owner.
    #[schema(example = "compute", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    name: String,
    /// Metadata of the role.
    meta: RoleMeta,
    /// Volumes that the role uses.
    #[schema(nullable = false)]
    volumes_roles_mapping: Option<Vec<VolumeOfRole>>,
}

/// Update of a role. Omitted fields are unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct RoleBody {
    /// Name of the role. Cannot be changed; must equal the current name if present.
    #[schema(nullable = false, example = "compute", min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Metadata of the role; replaces the current one.
    #[schema(nullable = false)]
    meta: Option<RoleMeta>,
    /// Volumes that the role uses; replaces the current ones.
    #[schema(nullable = false)]
    volumes_roles_mapping: Option<Vec<VolumeOfRole>>,
}

/// Metadata of a role. Unknown fields are stored unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct RoleMeta {
    /// Display name.
    #[schema(example = "Compute")]
    name: String,
    /// Human-readable description.
    #[schema(example = "Runs guests")]
    description: String,
    /// Tags that the role assigns to its nodes. All must exist.
    #[schema(nullable = false, example = json!(["compute"]))]
    tags: Option<Vec<String>>,
    /// Roles that cannot be assigned to the same node.
    #[schema(nullable = false)]
    conflicts: Option<Vec<String>>,
    /// Limits of the number of nodes with this role: `{min, max, recommended, condition, overrides}`.
    #[schema(nullable = false, value_type = Option<Object>)]
    limits: Option<JsonMap>,
    /// Conditions without which the role cannot be assigned: `[{condition, warning}]`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    depends: Option<Vec<Json>>,
    /// Conditions that forbid the role.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    restrictions: Option<Vec<Json>>,
    /// Whether nodes with this role need a public IP address; an assignment warns about it.
    #[schema(nullable = false)]
    public_ip_required: Option<bool>,
}
