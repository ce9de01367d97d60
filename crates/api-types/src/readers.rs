//! Readers that several resources share.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{Fields, json, string};
use stoker_model::{ErrorChain, GraphType, JsonMap};
use stoker_yaml::Node;

/// Reads a graph type.
pub(crate) fn read_graph_type(node: &Node, problems: &mut Diagnostics) -> Option<GraphType> {
    let name = string(node, problems)?;
    GraphType::new(&name)
        .map_err(|error| _ = problems.error(codes::FORM, node.span, ErrorChain(&error).to_string()))
        .ok()
}

/// Returns the fields that no reader has consumed: user-defined fields, and those in `stored`. Fields that resemble a known
/// one are reported.
pub(crate) fn read_user_defined(fields: &mut Fields<'_, '_>, stored: &[&'static str]) -> JsonMap {
    let mut own = JsonMap::new();
    for (name, node) in fields.user_defined(stored) {
        let value = fields.problems().in_key(name, |problems| json(node, problems));
        own.extend(value.map(|value| (name.to_owned(), value)));
    }
    own
}
