//! Request and response types of sequences.

use serde::Serialize;
use stoker_manifest::reader::{identifier, list_of, object, string_with_length};
use stoker_manifest::codes;
use stoker_diagnostics::Diagnostics;
use stoker_model::{Sequence, SequenceGraph};
use stoker_yaml::Node;
use utoipa::ToSchema;

use stoker_services::metadata::embedded_graphs::graph_type;

/// List of graphs that run one after another.
#[derive(Serialize, ToSchema)]
#[schema(as = Sequence)]
pub(super) struct SequenceView {
    /// ID of the sequence.
    #[schema(example = 3)]
    id: i64,
    /// Name of the sequence.
    #[schema(example = "deploy-changes")]
    name: String,
    /// ID of the release.
    #[schema(example = 1)]
    release_id: i64,
    /// Graphs in execution order.
    graphs: Vec<SequenceGraphView>,
}

/// Graph of a sequence, optionally limited to nodes and tasks.
#[derive(Serialize, ToSchema)]
#[schema(as = SequenceGraph)]
pub(super) struct SequenceGraphView {
    /// Graph type.
    #[serde(rename = "type")]
    #[schema(example = "provision", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    graph_type: String,
    /// IDs of the nodes to run on (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    nodes: Option<Vec<i64>>,
    /// Tasks to run (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tasks: Option<Vec<String>>,
}

/// New sequence.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewSequenceBody {
    /// ID of the release that the sequence belongs to.
    #[schema(example = 1, minimum = 1)]
    release: i64,
    /// Name of the sequence, unique within the release.
    #[schema(example = "deploy-changes", min_length = 1, max_length = 255)]
    name: String,
    /// Graphs in execution order.
    #[schema(min_items = 1)]
    graphs: Vec<SequenceGraphView>,
}

/// Update of a sequence. Omitted fields are unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct SequenceBody {
    /// Name of the sequence, unique within the release.
    #[schema(nullable = false, example = "deploy-changes", min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Graphs in execution order; replaces the current ones.
    #[schema(nullable = false, min_items = 1)]
    graphs: Option<Vec<SequenceGraphView>>,
}

impl From<Sequence> for SequenceView {
    fn from(sequence: Sequence) -> Self {
        let graphs = sequence.graphs.into_iter().map(|graph| SequenceGraphView {
            graph_type: graph.graph_type.as_str().to_owned(),
            nodes: graph.nodes,
            tasks: graph.tasks,
        });
        Self {
            id: sequence.id.0,
            name: sequence.name,
            release_id: sequence.release_id.0,
            graphs: graphs.collect(),
        }
    }
}

/// Parses the graphs of a sequence; at least one is required.
pub(super) fn read_graphs(node: &Node, problems: &mut Diagnostics) -> Option<Vec<SequenceGraph>> {
    let graphs = list_of(object(|fields| {
        let graph_type = fields.required("type", graph_type);
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
