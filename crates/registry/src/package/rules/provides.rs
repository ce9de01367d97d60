//! `provides` in the metadata: components that list the components they are compatible with and refuse all
//! others.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, list_of, nullable, string};
use stoker_yaml::Node;

use crate::components::{ComponentName, ComponentType, NameToken};
use crate::package::codes;

pub(super) fn provides(node: &Node, plugin: Option<&str>, problems: &mut Diagnostics) -> Option<()> {
    let is_single = node.as_seq().is_some_and(|entries| entries.len() == 1);
    let own_name = if is_single { plugin } else { None };
    list_of(|entry: &Node, problems: &mut Diagnostics| check_provided(entry, own_name, problems))(
        node, problems,
    )
    .map(|_| ())
}

/// Checks one component. A subtype is completed with `own_name`, the name of a plugin that provides a single
/// component.
fn check_provided(node: &Node, own_name: Option<&str>, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    fields.required("name", |node, problems| check_provided_name(node, own_name, problems));
    fields.optional("label", string);
    for kind in ComponentType::ALL {
        fields.optional(kind.compatible_key(), nullable(tokens(*kind)));
    }
    fields.finish_with_warnings();
    Some(())
}

fn check_provided_name(node: &Node, own_name: Option<&str>, problems: &mut Diagnostics) -> Option<()> {
    let text = string(node, problems)?;
    let Some(name) = ComponentName::parse(&text) else {
        super::components::bad_name(node, &text, problems);
        return None;
    };
    if name.is_bare_subtype() && own_name.is_none() {
        let message = format!("{} is a subtype, not a specific component", quoted(&text));
        problems
            .error(codes::SPECIFIC_NAME_REQUIRED, node.span, message)
            .set_help(format!("append a specific name, for example `{name}:mine`"));
        return None;
    }
    Some(())
}

fn tokens(kind: ComponentType) -> impl Fn(&Node, &mut Diagnostics) -> Option<()> {
    move |node, problems| {
        let token = |item: &Node, problems: &mut Diagnostics| {
            let text = string(item, problems)?;
            if NameToken::parse(&text, kind).is_none() {
                let message = format!("{} is not a valid component prefix", quoted(&text));
                problems
                    .error(codes::BAD_TOKEN, item.span, message)
                    .set_help("use `all`, or leading segments of names such as `core` or `ml2:mech`");
            }
            Some(())
        };
        list_of(token)(node, problems).map(|_| ())
    }
}
