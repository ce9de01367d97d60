//! Relations between tasks on different nodes.

use stoker_diagnostics::Diagnostics;
use stoker_yaml::{Node, NodeKind, Scalar};

use super::fields::{check_name, check_node_names};
use crate::expression::is_computed;
use crate::reader::{Fields, list_of, one_of};

const POLICIES: &[&str] = &["all", "any"];

pub(super) fn check_relations(node: &Node, problems: &mut Diagnostics) {
    _ = list_of(check_relation)(node, problems);
}

/// Checks triggers: names of tasks on the same node, or relations to tasks on other nodes.
pub(super) fn check_triggers(node: &Node, problems: &mut Diagnostics) {
    let check = |node: &Node, problems: &mut Diagnostics| {
        if node.as_map().is_some() { check_relation(node, problems) } else { check_name(node, problems) }
    };
    _ = list_of(check)(node, problems);
}

fn check_relation(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    if is_computed(node) {
        return Some(());
    }
    let mut fields = Fields::new(node, problems)?;
    fields.required("name", check_name);
    for key in ["role", "tags"] {
        fields.optional(key, |node, problems| {
            check_target_nodes(node, problems);
            Some(())
        });
    }
    fields.optional("policy", |node, problems| {
        if is_computed(node) { Some(()) } else { one_of(POLICIES)(node, problems).map(|_| ()) }
    });
    fields.finish_with_warnings();
    Some(())
}

/// Checks the nodes of the other task; null means stages.
fn check_target_nodes(node: &Node, problems: &mut Diagnostics) {
    if !is_computed(node) && !matches!(node.kind, NodeKind::Scalar(Scalar::Null)) {
        check_node_names(node, problems);
    }
}
