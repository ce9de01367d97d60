//! Request and response types for sequences.

use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{identifier, list_of, object, string_with_length};
use stoker_model::SequenceGraph;
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::readers::read_graph_type;
use crate::request::request;

/// List of graphs that run one after another.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Sequence)]
pub struct SequenceView {
    /// ID of the sequence.
    #[schema(example = 3)]
    pub id: i64,
    /// Name of the sequence.
    #[schema(example = "deploy-changes")]
    pub name: String,
    /// ID of the release.
    #[schema(example = 1)]
    pub release_id: i64,
    /// Graphs in execution order.
    pub graphs: Vec<SequenceGraphView>,
}

/// Graph of a sequence, optionally limited to nodes and tasks.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = SequenceGraph)]
pub struct SequenceGraphView {
    /// Graph type.
    #[serde(rename = "type")]
    #[schema(example = "provision", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    pub graph_type: String,
    /// IDs of the nodes to run on (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nodes: Option<Vec<i64>>,
    /// Tasks to run (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tasks: Option<Vec<String>>,
}

request! {
    /// New sequence.
    pub struct NewSequenceBody {
        /// ID of the release that the sequence belongs to.
        #[schema(example = 1, minimum = 1)]
        release: i64 = required(identifier),
        /// Name of the sequence, unique within the release.
        #[schema(example = "deploy-changes", min_length = 1, max_length = 255)]
        name: String = required(string_with_length(1..=255)),
        /// Graphs in execution order.
        #[schema(min_items = 1, value_type = Vec<SequenceGraphView>)]
        graphs: Vec<SequenceGraph> = required(read_graphs),
    }
    // A downloaded sequence can be uploaded to another server, where its IDs have no meaning.
    ignored: "id", "release_id";
}

request! {
    /// Update of a sequence. Omitted fields are unchanged.
    pub struct SequenceBody {
        /// Name of the sequence, unique within the release.
        #[schema(nullable = false, example = "deploy-changes", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Graphs in execution order; replaces the current ones.
        #[schema(nullable = false, min_items = 1, value_type = Option<Vec<SequenceGraphView>>)]
        graphs: Option<Vec<SequenceGraph>> = optional(read_graphs),
    }
    read_only: "id", "release_id";
}

/// Reads the graphs of a sequence; at least one is required.
fn read_graphs(node: &Node, problems: &mut Diagnostics) -> Option<Vec<SequenceGraph>> {
    let graphs = list_of(object(|fields| {
        let graph_type = fields.required("type", read_graph_type);
        let nodes = fields.optional("nodes", list_of(identifier));
        let tasks = fields.optional("tasks", list_of(string_with_length(1..=255)));
        Some(SequenceGraph { graph_type: graph_type?, nodes, tasks })
    }))(node, problems)?;
    if graphs.is_empty() {
        problems.error(codes::LENGTH, node.span, "a sequence must have at least one graph");
        return None;
    }
    Some(graphs)
}
