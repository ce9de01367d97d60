//! `wizard_metadata.yaml`: additions of the plugin to a release's wizard.

use stoker_conditions::Dialect;
use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, string};
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::package::plugin::Documents;
use crate::package::shapes::{bind_target, head, open_map, regex, restrictions_as};
use crate::package::{Context, codes};

const TYPES: &[&str] = &["radio", "checkbox", "text", "password", "select", "custom"];

pub(in crate::package) fn wizard(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    panes(node, File { text: context.text, bind: plugin_bind }, problems);
}

/// Checks the wizard of a release, a node in `text`, by the same rules.
pub fn check_release_wizard(node: &Node, text: &str, problems: &mut Diagnostics) {
    panes(node, File { text, bind }, problems);
}

fn panes(node: &Node, file: File<'_>, problems: &mut Diagnostics) {
    for_each_entry(node, "the wizard must be a map of panes", problems, |pane, problems| {
        for_each_entry(pane, "a pane must be a map of controls", problems, |control_node, problems| {
            control(control_node, file, problems);
        });
    });
}

/// Source text and reader of binds of a wizard. Restrictions may write `Compute.vcenter` for `wizard:Compute.vcenter`.
#[derive(Clone, Copy)]
struct File<'t> {
    text: &'t str,
    bind: fn(&Node, &mut Diagnostics) -> Option<()>,
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
fn control(node: &Node, file: File<'_>, problems: &mut Diagnostics) {
    if is_null(node) {
        return;
    }
    if node.as_map().is_none() {
        problems.error(codes::WIZARD_SHAPE, head(node), "a control must be a map");
        return;
    }
    _ = open_map(|fields| {
        fields.optional("type", control_type);
        common(fields, file);
        fields.optional("values", |node, problems| options(node, file, problems));
    })(node, problems);
}

fn common(fields: &mut Fields<'_, '_>, file: File<'_>) {
    fields.optional("label", string);
    fields.optional("description", string);
    fields.optional("bind", file.bind);
    fields.optional("restrictions", restrictions_as(Dialect::LEGACY_WIZARD, file.text));
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

fn options(node: &Node, file: File<'_>, problems: &mut Diagnostics) -> Option<()> {
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
            _ = open_map(|fields| common(fields, file))(item, problems);
        });
    }
    Some(())
}

/// Like [`bind`], with warnings about targets without an effect. Wizards of releases also bind answers of other panes, which
/// the Fuel web interface evaluated.
fn plugin_bind(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    bind(node, problems)?;
    let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
    for (idx, item) in items.iter().enumerate() {
        problems.in_item(idx, |problems| {
            if let Some(target) = item.as_str() {
                bind_target(target, item, problems);
            }
            for (key, _) in item.as_map().into_iter().flatten() {
                bind_target(key.as_str().unwrap_or_default(), key, problems);
            }
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
    is_bind.then_some(())
}
