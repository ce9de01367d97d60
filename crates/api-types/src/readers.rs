//! Readers that several resources share.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::string;
use stoker_model::{ErrorChain, GraphType};
use stoker_yaml::Node;

/// Reads a graph type.
pub(crate) fn read_graph_type(node: &Node, problems: &mut Diagnostics) -> Option<GraphType> {
    let name = string(node, problems)?;
    GraphType::new(&name)
        .map_err(|error| _ = problems.error(codes::FORM, node.span, ErrorChain(&error).to_string()))
        .ok()
}
