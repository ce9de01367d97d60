//! Readers of roles, tags and volumes in the documents of releases, clusters and plugins.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{
    Fields, boolean, json_list, json_map, list_of, map_of, object, one_of, report_wrong_type, string,
    string_with_length,
};
use stoker_model::{Json, JsonMap};
use stoker_registry::package::{check_wizard, warn_about_placeholders};
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::request::{Request, request};

/// Portions of a disk that a volume can take.
const ALLOCATE_SIZES: &[&str] = &["all", "min", "full-disk"];

/// Fields of roles that other readers check, or that real releases carry.
const ROLE_FIELDS: &[&str] =
    &["fault_tolerance", "group", "has_primary", "public_for_dvr_required", "weight"];

/// Value that was checked. It is stored as part of its document, so its reader returns nothing else.
#[derive(Debug)]
pub struct Checked;

request! {
    /// Metadata of a role. Unknown fields are stored unchanged.
    pub struct RoleMeta {
        /// Display name.
        #[schema(nullable = false, required = true, example = "Compute")]
        name: Option<String> = optional(string),
        /// Human-readable description.
        #[schema(nullable = false, required = true, example = "Runs guests")]
        description: Option<String> = optional(string),
        /// Tags that the role assigns to its nodes. All must exist.
        #[schema(nullable = false, example = json!(["compute"]))]
        tags: Option<Vec<String>> = optional(list_of(string)),
        /// Roles that cannot be assigned to the same node.
        #[schema(nullable = false, value_type = Option<Vec<String>>)]
        conflicts: Option<Checked> = optional(conflicts),
        /// Limits of the number of nodes with this role: `{min, max, recommended, condition, overrides}`.
        #[schema(nullable = false, value_type = Option<Object>)]
        limits: Option<Checked> = optional(limits),
        /// Conditions without which the role cannot be assigned: `[{condition, warning}]`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        depends: Option<Vec<Checked>> = optional(list_of(object(dependency))),
        /// Roles whose nodes run their tasks again whenever a node gets this role.
        #[schema(nullable = false)]
        update_required: Option<Vec<String>> = optional(list_of(string)),
        /// Roles whose nodes run their tasks again when the first node gets this role.
        #[schema(nullable = false)]
        update_once: Option<Vec<String>> = optional(list_of(string)),
        /// Conditions that forbid the role.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        restrictions: Option<Checked> = optional(checked_elsewhere),
        /// Whether nodes with this role need a public IP address; an assignment warns about it.
        #[schema(nullable = false, value_type = Option<bool>)]
        public_ip_required: Option<Checked> = optional(checked_elsewhere),
    }
}

request! {
    /// Metadata of a tag. Unknown fields are stored unchanged.
    pub struct TagMeta {
        /// Whether one node of the tag is its primary.
        #[schema(nullable = false)]
        has_primary: Option<bool> = optional(boolean),
    }
}

/// Warns about restrictions without an effect in a document that `read` reads.
pub(crate) fn restricted<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<T> {
    move |node, problems| {
        warn_about_placeholders(node, problems);
        read(node, problems)
    }
}

/// Reads a wizard, with the same validation as the wizards of packages.
pub(crate) fn wizard(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<JsonMap> {
    check_wizard(node, text, problems);
    json_map(node, problems)
}

/// Reads metadata by role.
pub(crate) fn roles(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    map_of(role_meta)(node, problems).map(objects)
}

/// Reads metadata by tag.
pub(crate) fn tags(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    map_of(tag_meta)(node, problems).map(objects)
}

/// Reads the metadata of a role of a document, where `name` and `description` may be absent.
fn role_meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    whole::<RoleMeta>(node, ROLE_FIELDS, problems)
}

/// Reads the metadata of a single role. `name` and `description` are required: users select roles by them.
pub(crate) fn complete_role_meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let meta = role_meta(node, problems)?;
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

/// Reads the metadata of a tag.
pub(crate) fn tag_meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    whole::<TagMeta>(node, &[], problems)
}

/// Checks a document with the reader of a request, and returns it with the fields that users added.
fn whole<T: Request>(node: &Node, stored: &[&'static str], problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    T::read(&mut fields);
    fields.user_defined(stored);
    json_map(node, problems)
}

/// Reads limits of the number of nodes with a role. Other keys are errors: they would limit nothing.
fn limits(node: &Node, problems: &mut Diagnostics) -> Option<Checked> {
    object(|fields| {
        bounds(fields);
        fields.optional("condition", string);
        fields.optional(
            "overrides",
            list_of(object(|fields| {
                let condition = fields.required("condition", string);
                bounds(fields);
                condition.map(drop)
            })),
        );
        Some(Checked)
    })(node, problems)
}

fn bounds(fields: &mut Fields<'_, '_>) {
    for key in ["min", "max", "recommended"] {
        fields.optional(key, bound);
    }
    fields.optional("message", string);
}

/// Reads a limit: a number of nodes, or an expression with such a value.
fn bound(node: &Node, problems: &mut Diagnostics) -> Option<Checked> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(number)) if *number >= 0 => Some(Checked),
        NodeKind::Scalar(Scalar::Str(_)) => Some(Checked),
        _ => {
            report_wrong_type(node, "a number of nodes or a condition expression", problems);
            None
        }
    }
}

/// Reads a dependency of a role: `{condition, warning}`.
fn dependency(fields: &mut Fields<'_, '_>) -> Option<Checked> {
    let condition = fields.required("condition", |node, problems| match &node.kind {
        NodeKind::Map(_) => json_map(node, problems).map(drop),
        _ => string(node, problems).map(drop),
    });
    fields.optional("warning", string);
    condition.map(|()| Checked)
}

/// Reads conflicts: role names, or `*` for all other roles.
fn conflicts(node: &Node, problems: &mut Diagnostics) -> Option<Checked> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(_)) => one_of(&["*"])(node, problems).map(|_| Checked),
        _ => list_of(string)(node, problems).map(|_| Checked),
    }
}

/// Accepts any value: the services that evaluate it report its problems.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a reader")]
fn checked_elsewhere(_: &Node, _: &mut Diagnostics) -> Option<Checked> {
    Some(Checked)
}

/// Reads the volumes of each role.
pub(crate) fn volumes_of_roles(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mapping = map_of(volumes_of_role)(node, problems)?;
    Some(mapping.into_iter().map(|(role, volumes)| (role, Json::Array(volumes))).collect())
}

/// Reads volumes: `[{id, allocate_size}]`.
pub(crate) fn volumes_of_role(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    list_of(object(|fields| {
        let id = fields.required("id", string_with_length(1..=255));
        let size = fields.required("allocate_size", one_of(ALLOCATE_SIZES));
        id.and(size)
    }))(node, problems)?;
    json_list(node, problems)
}

/// Reads `{volumes: [{id, …}], volumes_roles_mapping: {…}, …}`.
pub(crate) fn volumes(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("volumes", list_of(volume));
    fields.optional("volumes_roles_mapping", volumes_of_roles);
    fields.remaining();
    json_map(node, problems)
}

fn volume(node: &Node, problems: &mut Diagnostics) -> Option<Checked> {
    let mut fields = Fields::new(node, problems)?;
    let id = fields.required("id", string);
    fields.remaining();
    id.map(|_| Checked)
}

/// Reads a name that needs no escaping in a URL path: letters, digits, `-` and `_`.
pub(crate) fn path_name(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let name = string_with_length(1..=255)(node, problems)?;
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.chars().all(legal) {
        return Some(name);
    }
    problems.error(codes::FORM, node.span, "must consist of letters, digits, `-` and `_`");
    None
}

fn objects(entries: Vec<(String, JsonMap)>) -> JsonMap {
    entries.into_iter().map(|(name, meta)| (name, Json::Object(meta))).collect()
}
