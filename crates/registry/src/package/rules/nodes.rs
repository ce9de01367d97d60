//! `node_roles.yaml`, `volumes.yaml`, `network_roles.yaml`.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, boolean, integer, list_of, one_of, report_wrong_type, string};
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::package::plugin::Documents;
use crate::package::shapes::{
    condition, is_lower_name, is_plain_name, non_empty_list, open_map, restrictions, text_like,
};
use crate::package::{Context, codes};

pub(in crate::package) fn node_roles(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    let Some(mut fields) = Fields::new(node, problems) else { return };
    for (name, role) in fields.remaining() {
        let problems = fields.problems();
        if !is_plain_name(name) {
            let message =
                format!("a role name must consist of letters, digits, `_` and `-`, got {}", quoted(name));
            problems.in_key(name, |problems| {
                problems.error(codes::FIELD_PATTERN, role.span, message);
            });
        }
        problems.in_key(name, |problems| node_role(role, context.text, problems));
    }
}

fn node_role(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        fields.required("name", string);
        fields.required("description", string);
        fields.optional("conflicts", conflicts);
        fields.optional("has_primary", boolean);
        fields.optional("public_ip_required", boolean);
        fields.optional("weight", integer);
        fields.optional("limits", |node, problems| limits(node, text, problems));
        fields.optional("update_required", list_of(string));
        fields.optional("update_once", list_of(string));
        fields.optional("restrictions", restrictions(text));
    })(node, problems)
}

fn conflicts(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    if node.as_str() == Some("*") {
        return Some(());
    }
    list_of(string)(node, problems).map(|_| ())
}

fn limits(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        node_counts(fields);
        fields.optional("condition", |node, problems| condition(node, text, problems));
        let override_limits = |node: &Node, problems: &mut Diagnostics| {
            open_map(|fields| {
                fields.required("condition", |node, problems| condition(node, text, problems));
                node_counts(fields);
            })(node, problems)
        };
        fields.optional("overrides", non_empty_list(override_limits));
    })(node, problems)
}

fn node_counts(fields: &mut Fields<'_, '_>) {
    for key in ["min", "max", "recommended"] {
        fields.optional(key, |node, problems| {
            let is_number = matches!(&node.kind, NodeKind::Scalar(Scalar::Str(_) | Scalar::Int(_)));
            if !is_number {
                report_wrong_type(node, "a number or an expression", problems);
            }
            is_number.then_some(())
        });
    }
}

const SIZES: &[&str] = &["all", "min", "full-disk"];

pub(in crate::package) fn volumes(
    node: &Node,
    _: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    _ = open_map(|fields| {
        fields.required(
            "volumes",
            list_of(open_map(|fields| {
                fields.required("id", string);
                fields.required("type", string);
            })),
        );
        fields.required("volumes_roles_mapping", |node, problems| {
            let part = || {
                open_map(|fields| {
                    fields.required("id", string);
                    fields.required("allocate_size", one_of(SIZES));
                })
            };
            let mut fields = Fields::new(node, problems)?;
            for (role, parts) in fields.remaining() {
                fields.problems().in_key(role, |problems| non_empty_list(part())(parts, problems));
            }
            Some(())
        });
    })(node, problems);
}

pub(in crate::package) fn network_roles(
    node: &Node,
    _: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    _ = list_of(open_map(|fields| {
        fields.required("id", string);
        fields.required("default_mapping", string);
        fields.required(
            "properties",
            open_map(|fields| {
                fields.required("subnet", boolean);
                fields.required("gateway", boolean);
                fields.required("vip", list_of(vip));
            }),
        );
    }))(node, problems);
}

fn vip(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let name = || text_like(codes::FIELD_PATTERN, "lowercase letters, digits, `_` and `-`", is_lower_name);
    open_map(|fields| {
        fields.required("name", name());
        fields.optional("namespace", name());
    })(node, problems)
}
