//! `wizard_metadata.yaml`: additions of the plugin to a release's wizard.

use stoker_conditions::Dialect;
use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, string};
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::package::plugin::Documents;
use crate::package::shapes::{bind_target, head, open_map, regex, restrictions_as};
use crate::package::{Context, codes};
use crate::wizard::WIZARD_MODEL;

const TYPES: &[&str] = &["radio", "checkbox", "text", "password", "select", "custom"];

pub(in crate::package) fn wizard(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    panes(node, context.text, problems);
}

/// Checks a wizard of a release or of a plugin without a package, a node in `text`, by the same rules.
pub fn check_wizard(node: &Node, text: &str, problems: &mut Diagnostics) {
    panes(node, text, problems);
}

fn panes(node: &Node, text: &str, problems: &mut Diagnostics) {
    for_each_entry(node, "the wizard must be a map of panes", problems, |pane, problems| {
        for_each_entry(pane, "a pane must be a map of controls", problems, |control_node, problems| {
            control(control_node, text, problems);
        });
    });
}

/// Visits the entries of a map; null is treated as an empty map.
fn for_each_entry(
    node: &Node,
    message: &str,
    problems: &mut Diagnostics,
    check: impl Fn(&Node, &mut Diagnostics),
) {
    if is_null(node) {
        return;
    }
    if node.as_map().is_none() {
        problems.error(codes::WIZARD_SHAPE, head(node), message);
        return;
    }
    let Some(mut fields) = Fields::new(node, problems) else { return };
    for (name, value) in fields.remaining() {
        fields.problems().in_key(name, |problems| check(value, problems));
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Scalar(Scalar::Null))
}

/// Checks a control, or the `metadata` of a pane, which may have restrictions too.
fn control(node: &Node, text: &str, problems: &mut Diagnostics) {
    if is_null(node) {
        return;
    }
    if node.as_map().is_none() {
        problems.error(codes::WIZARD_SHAPE, head(node), "a control must be a map");
        return;
    }
    _ = open_map(|fields| {
        fields.optional("type", control_type);
        common(fields, text);
        fields.optional("values", |node, problems| options(node, text, problems));
    })(node, problems);
}

fn common(fields: &mut Fields<'_, '_>, text: &str) {
    fields.optional("label", string);
    fields.optional("description", string);
    fields.optional("bind", bind);
    // Restrictions may write `Compute.vcenter` for `wizard:Compute.vcenter`.
    fields.optional("restrictions", restrictions_as(Dialect::LEGACY_WIZARD, text));
    fields.optional("component", string);
    fields.optional("regex", regex);
}

fn control_type(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let control_type = string(node, problems)?;
    if !TYPES.contains(&&*control_type) {
        let message = format!("unknown control type {}", quoted(&control_type));
        problems
            .error(codes::WIZARD_SHAPE, node.span, message)
            .set_help(format!("use one of {}", TYPES.join(", ")));
    }
    Some(())
}

fn options(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<()> {
    let Some(items) = node.as_seq() else {
        problems.error(codes::WIZARD_SHAPE, head(node), "`values` must be a list of options");
        return None;
    };
    let mut data_values: Vec<&NodeKind> = Vec::new();
    for (item_idx, item) in items.iter().enumerate() {
        problems.in_item(item_idx, |problems| {
            let Some(data) = item.get("data") else {
                problems.error(codes::WIZARD_SHAPE, head(item), "an option must be a map with `data`");
                return;
            };
            if data_values.contains(&&data.kind) {
                let message = "duplicate option `data`";
                problems.in_key("data", |problems| {
                    problems.error(codes::NOT_UNIQUE, data.span, message);
                });
            }
            data_values.push(&data.kind);
            _ = open_map(|fields| common(fields, text))(item, problems);
        });
    }
    Some(())
}

/// Checks a binding: `model:path`, or a list of paths and `{path: value}` maps.
fn bind(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let is_item = |item: &Node| item.as_str().is_some() || item.as_map().is_some_and(|map| map.len() == 1);
    let is_bind = match &node.kind {
        NodeKind::Seq(items) => items.iter().all(is_item),
        _ => node.as_str().is_some(),
    };
    if !is_bind {
        problems
            .error(
                codes::WIZARD_SHAPE,
                head(node),
                "`bind` must be a path, or a list of paths and `{path: value}`",
            )
            .set_help("for example `[{\"settings:mine.metadata.enabled\": true}]`");
    }
    if !is_bind {
        return None;
    }
    for (idx, item) in node.as_seq().unwrap_or(std::slice::from_ref(node)).iter().enumerate() {
        problems.in_item(idx, |problems| {
            for target in
                item.as_map().map_or_else(|| vec![item], |map| map.iter().map(|(key, _)| key).collect())
            {
                wizard_target(target, problems);
            }
        });
    }
    Some(())
}

/// Warns about a target without an effect. Wizards also bind the answers of later controls.
fn wizard_target(node: &Node, problems: &mut Diagnostics) {
    let target = node.as_str().unwrap_or_default();
    let is_control = target
        .strip_prefix(WIZARD_MODEL)
        .and_then(|path| path.split_once('.'))
        .is_some_and(|(pane, control)| !pane.is_empty() && !control.is_empty());
    if !is_control {
        bind_target(target, node, problems);
    }
}
