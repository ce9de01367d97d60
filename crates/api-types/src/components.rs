//! Readers of component lists of releases and plugins.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{
    Fields, boolean, integer, json, json_list, list_of, object, string, string_with_length,
};
use stoker_model::Json;
use stoker_registry::components::ComponentType;
use stoker_yaml::Node;

const COMPONENTS_MAX: usize = 500;
const PREDICATES: &[&str] = &["any_of", "all_of", "one_of", "none_of"];

/// Reads a list of components. Only the structure is validated; unresolved names are found when components are chosen.
pub(crate) fn read(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    list_of(component)(node, problems)?;
    bounded(json_list(node, problems)?, node, problems)
}

/// Reads a list of components with their compatibility.
pub(crate) fn read_provided(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    let provided = object(|fields| {
        let name = fields.required("name", string_with_length(1..=255));
        described(fields);
        for kind in ComponentType::ALL {
            fields.take(kind.compatible_key());
        }
        fields.user_defined(&[]);
        name
    });
    list_of(provided)(node, problems)?;
    bounded(json_list(node, problems)?, node, problems)
}

/// Checks the number of components. It is bounded, because compatibility is checked pairwise.
fn bounded(components: Vec<Json>, node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    if components.len() <= COMPONENTS_MAX {
        return Some(components);
    }
    let message = format!("too many components: {} (at most {COMPONENTS_MAX})", components.len());
    problems.error(codes::TOO_MANY, node.span, message);
    None
}

fn component(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let name = fields.required("name", string_with_length(1..=255));
    described(&mut fields);
    fields.optional("default", boolean);
    fields.optional("bind", list_of(json));
    fields.optional("compatible", list_of(related));
    fields.optional("incompatible", list_of(related));
    fields.optional("requires", list_of(requirement));
    fields.user_defined(&[]);
    name.map(drop)
}

/// Reads what the wizard shows of a component.
fn described(fields: &mut Fields<'_, '_>) {
    fields.optional("label", string);
    fields.optional("description", string);
    fields.optional("weight", integer);
}

fn related(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let name = fields.required("name", string);
    fields.remaining();
    name.map(drop)
}

/// Reads a requirement: `{name}`, or predicates: `{one_of: {items: […]}}`.
fn requirement(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let mut n_known = usize::from(fields.node().get("name").is_some());
    fields.optional("name", string);
    for predicate in PREDICATES {
        n_known += usize::from(fields.node().get(predicate).is_some());
        fields.optional(predicate, items);
    }
    fields.remaining();
    if n_known == 0 {
        let message = format!("must have `name` or one of {}", PREDICATES.join(", "));
        problems.error(codes::MISSING, node.span, message);
        return None;
    }
    Some(())
}

fn items(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let items = fields.required("items", list_of(string));
    fields.optional("message", string);
    fields.optional("message_invalid", string);
    fields.user_defined(&[]);
    items.map(drop)
}
