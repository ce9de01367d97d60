//! `nic_config.yaml`, `bond_config.yaml`, `node_config.yaml`: attributes of interfaces and nodes.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, string};
use stoker_yaml::Node;

use crate::package::plugin::Documents;
use crate::package::shapes::{anything, open_map, restrictions};
use crate::package::{Context, codes};

pub(in crate::package) fn interface_attributes(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    attributes(node, context, problems);
}

/// Checks node attributes. Each section has the format of an interface attribute file.
pub(in crate::package) fn node_attributes(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    let Some(mut fields) = Fields::new(node, problems) else { return };
    for (name, section) in fields.remaining() {
        fields.problems().in_key(name, |problems| attributes(section, context, problems));
    }
}

fn attributes(node: &Node, context: Context<'_>, problems: &mut Diagnostics) {
    let Some(mut fields) = Fields::new(node, problems) else { return };
    fields.optional("metadata", open_map(|fields| _ = fields.required("label", string)));
    for (name, attribute) in fields.remaining() {
        let problems = fields.problems();
        problems.in_key(name, |problems| {
            if name.starts_with("metadata") {
                let message = format!("attribute name {} is reserved", quoted(name));
                problems.error(codes::UNEXPECTED_FIELD, attribute.span, message);
                return;
            }
            _ = open_map(|fields| {
                fields.required("type", string);
                fields.required("label", string);
                fields.required("value", anything);
                fields.optional("description", string);
                fields.optional("restrictions", restrictions(context.text));
            })(attribute, problems);
        });
    }
}
