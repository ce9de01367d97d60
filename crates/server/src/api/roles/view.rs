//! How roles are shown and read.

use serde::Serialize;
use stoker_manifest::reader::string_of;
use stoker_manifest::{Problems, codes};
use stoker_model::{Json, JsonMap};
use stoker_yaml::Node;
use utoipa::ToSchema;
use stoker_services::metadata::holder::Holder;
use stoker_services::metadata::sections;

use crate::http::body::Document;
use crate::http::error::ApiResult;

#[derive(Serialize, ToSchema)]
#[schema(as = Role)]
pub(super) struct RoleView {
    #[schema(example = "compute")]
    name: String,
    /// `name`, `description`, `tags`, `conflicts`, `group`, `limits` and others.
    #[schema(value_type = Object)]
    meta: Json,
    volumes_roles_mapping: Vec<VolumeOfRole>,
}

/// A volume that a role uses.
#[derive(Serialize, ToSchema)]
pub(super) struct VolumeOfRole {
    #[schema(example = "os")]
    id: String,
    /// `all`, `min` or `full-disk`.
    #[schema(example = "min")]
    allocate_size: String,
}

impl RoleView {
    pub(super) fn new(holder: &Holder, name: &str, meta: Json) -> Self {
        let text = |volume: &Json, key| volume.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let volumes = holder.volumes_of_role(name);
        let volumes = volumes.iter().map(|volume| VolumeOfRole {
            id: text(volume, "id"),
            allocate_size: text(volume, "allocate_size"),
        });
        Self { name: name.to_owned(), meta, volumes_roles_mapping: volumes.collect() }
    }
}

/// A role as somebody wrote it.
pub(super) struct Said {
    pub(super) name: Option<String>,
    pub(super) meta: Option<JsonMap>,
    pub(super) volumes: Option<Vec<Json>>,
}

pub(super) fn read_new(document: &Document) -> ApiResult<(String, JsonMap, Vec<Json>)> {
    document.fields(|fields| {
        let name = fields.required("name", sections::path_name);
        let meta = fields.required("meta", meta);
        let volumes = fields.optional("volumes_roles_mapping", sections::volumes_of_role);
        Some((name?, meta?, volumes.unwrap_or_default()))
    })
}

pub(super) fn read_change(document: &Document) -> ApiResult<Said> {
    document.fields(|fields| {
        let name = fields.optional("name", string_of(1..=255));
        let meta = fields.optional("meta", meta);
        let volumes = fields.optional("volumes_roles_mapping", sections::volumes_of_role);
        Some(Said { name, meta, volumes })
    })
}

/// People choose among roles, so each has a name and a description for them.
fn meta(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    let meta = sections::role_meta(node, problems)?;
    let mut is_whole = true;
    for key in ["name", "description"] {
        if !meta.contains_key(key) {
            is_whole = false;
            problems.in_key(key, |problems| {
                problems.error(codes::MISSING, node.span, format!("`{key}` is missing"));
            });
        }
    }
    is_whole.then_some(meta)
}

/// A new role.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewRoleBody {
    #[schema(example = "compute", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    name: String,
    meta: RoleMeta,
    /// The volumes it uses.
    #[schema(nullable = false)]
    volumes_roles_mapping: Option<Vec<VolumeOfRole>>,
}

/// What may change about a role.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct RoleBody {
    /// May be repeated, but not changed.
    #[schema(nullable = false, example = "compute", min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(nullable = false)]
    meta: Option<RoleMeta>,
    #[schema(nullable = false)]
    volumes_roles_mapping: Option<Vec<VolumeOfRole>>,
}

/// What is said about a role. Other fields are kept as they come.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct RoleMeta {
    #[schema(example = "Compute")]
    name: String,
    #[schema(example = "Runs guests")]
    description: String,
    /// Tags that the role gives to a node; each must be known.
    #[schema(nullable = false, example = json!(["compute"]))]
    tags: Option<Vec<String>>,
    /// Roles that cannot be on the same node.
    #[schema(nullable = false)]
    conflicts: Option<Vec<String>>,
    #[schema(nullable = false, value_type = Option<Object>)]
    limits: Option<JsonMap>,
}
