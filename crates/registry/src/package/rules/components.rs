//! `components.yaml`: components with incompatibilities and requirements.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, boolean, integer, list_of, nullable, report_wrong_type, string};
use stoker_yaml::Node;

use crate::components::{ComponentName, ComponentPattern, Predicate};
use crate::package::plugin::Documents;
use crate::package::shapes::{bind_target, head, open_map};
use crate::package::{Context, codes};

pub(in crate::package) fn components(
    node: &Node,
    _: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    _ = list_of(component)(node, problems);
}

fn component(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    fields.required("name", component_name);
    fields.required("label", string);
    fields.optional("description", string);
    fields.optional("weight", integer);
    fields.optional("default", boolean);
    fields.optional("bind", list_of(bind));
    fields.optional("compatible", nullable(list_of(relation)));
    fields.optional("incompatible", nullable(list_of(relation)));
    fields.optional("requires", nullable(requires));
    fields.finish();
    Some(())
}

/// Checks a binding: a path, `[path, value]` or `{path: value}`.
#[expect(clippy::unnecessary_wraps, reason = "has the signature of all readers")]
fn bind(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let target = match (node.as_seq(), node.as_map()) {
        (Some([target, _]), _) => Some(target),
        (None, Some([(target, _)])) => Some(target),
        (None, None) => Some(node),
        _ => None,
    };
    match target.and_then(|target| Some((target, target.as_str()?))) {
        Some((target, text)) => bind_target(text, target, problems),
        None => {
            problems
                .warning(codes::BIND_TARGET, head(node), "the bind has no effect")
                .set_help("write a path, or `[path, value]`");
        }
    }
    Some(())
}

fn component_name(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let text = string(node, problems)?;
    if ComponentName::parse(&text).is_none() {
        bad_name(node, &text, problems);
    }
    Some(())
}

pub(super) fn bad_name(node: &Node, text: &str, problems: &mut Diagnostics) {
    problems.error(codes::COMPONENT_NAME, node.span, format!("{} is not a valid component name", quoted(text))).set_help(
        "use `type:name` or `type:subtype:name` with the type hypervisor, network, storage, monitoring or \
         additional_service",
    );
}

fn relation(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let description = node.get("description");
    if let (Some(description), None) = (description, node.get("message")) {
        problems.in_key("description", |problems| {
            problems
                .warning(codes::UNEXPECTED_FIELD, description.span, "`description` is treated as `message`")
                .set_help("rename it to `message`");
        });
    }
    open_map(|fields| {
        fields.required("name", pattern);
        fields.optional("message", string);
    })(node, problems)
}

fn pattern(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let text = string(node, problems)?;
    if ComponentPattern::parse(&text).is_none() {
        let message = format!("{} is not a valid component pattern", quoted(&text));
        problems
            .error(codes::COMPONENT_PATTERN, node.span, message)
            .set_help("use a name, or `type:*` or `type:subtype:*` as a wildcard");
    }
    Some(())
}

/// List of names or list of predicates.
fn requires(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let items = node.as_seq().unwrap_or_default();
    let n_names = items.iter().filter(|item| item.get("name").is_some()).count();
    if n_names > 0 && n_names < items.len() {
        problems
            .error(codes::REQUIRES_MIXED, head(node), "`requires` mixes names and predicates")
            .set_help("use only predicates: `any_of`, `all_of`, `one_of`, `none_of`");
        return None;
    }
    if n_names > 0 {
        list_of(relation)(node, problems)?
    } else {
        list_of(predicates)(node, problems)?
    };
    Some(())
}

fn predicates(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let Some(entries) = node.as_map() else {
        report_wrong_type(node, "a map with `name` or with predicates", problems);
        return None;
    };
    for (key, value) in entries {
        let name = key.as_scalar().map(ToString::to_string).unwrap_or_default();
        if Predicate::parse(&name).is_some() {
            problems.in_key(&name, |problems| predicate(value, problems));
        } else {
            let message = format!("unknown predicate {}", quoted(&name));
            problems
                .error(codes::REQUIRES_PREDICATE, key.span, message)
                .set_help("use `one_of`, `any_of`, `all_of` or `none_of`");
        }
    }
    Some(())
}

fn predicate(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        fields.required("items", list_of(pattern));
        fields.optional("message", string);
        fields.optional("message_invalid", string);
    })(node, problems)
}
