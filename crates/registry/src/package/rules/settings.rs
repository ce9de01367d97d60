//! `environment_config.yaml`: the plugin's section on the settings page.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::{Fields, boolean, integer, list_of, one_of, report_wrong_type, string};
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::package::Context;
use crate::package::plugin::Documents;
use crate::package::shapes::{open_map, regex, restrictions};
use crate::package::version::PackageVersion;

pub(in crate::package) fn settings(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    _ = open_map(|fields| {
        fields.optional("attributes", |node, problems| attributes(node, context, problems));
    })(node, problems);
}

fn attributes(node: &Node, context: Context<'_>, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("metadata", |node, problems| section(node, context, problems));
    for (name, value) in fields.remaining() {
        fields.problems().in_key(name, |problems| attribute(value, context, problems));
    }
    Some(())
}

const SECTION_GROUPS: &[&str] =
    &["general", "security", "compute", "network", "storage", "logging", "openstack_services", "other"];

fn section(node: &Node, context: Context<'_>, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        fields.optional("label", string);
        fields.optional("weight", integer);
        fields.optional("toggleable", boolean);
        fields.optional("enabled", boolean);
        fields.optional("restrictions", restrictions(context.text));
        if context.version >= PackageVersion::V4 {
            fields.optional("group", one_of(SECTION_GROUPS));
        }
    })(node, problems)
}

fn attribute(node: &Node, context: Context<'_>, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        fields.required("type", string);
        fields.required("label", string);
        fields.required("weight", integer);
        fields.required("value", attribute_value);
        fields.optional("description", string);
        fields.optional("values", list_of(choice));
        fields.optional("regex", regex);
        fields.optional("restrictions", restrictions(context.text));
    })(node, problems)
}

fn choice(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        fields.required("data", string);
        fields.required("label", string);
    })(node, problems)
}

/// Reads a string, a boolean, a generator (a map), or a list of strings and booleans.
fn attribute_value(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(_) | Scalar::Bool(_)) | NodeKind::Map(_) => Some(()),
        NodeKind::Seq(_) => list_of(simple_value)(node, problems).map(|_| ()),
        NodeKind::Scalar(_) => {
            report_wrong_type(node, "text, true, false, a list of them, or a generator map", problems)
                .set_help("put a number in quotes");
            None
        }
    }
}

fn simple_value(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    if matches!(&node.kind, NodeKind::Scalar(Scalar::Str(_) | Scalar::Bool(_))) {
        return Some(());
    }
    report_wrong_type(node, "text, true or false", problems);
    None
}
