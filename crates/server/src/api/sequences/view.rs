//! How sequences are shown and read.

use serde::Serialize;
use stoker_manifest::reader::{identifier, list_of, object, string_of};
use stoker_manifest::{Problems, codes};
use stoker_model::{Sequence, SequenceGraph};
use stoker_yaml::Node;
use utoipa::ToSchema;

use stoker_services::metadata::embedded_graphs::graph_type;

#[derive(Serialize, ToSchema)]
#[schema(as = Sequence)]
pub(super) struct SequenceView {
    #[schema(example = 3)]
    id: i64,
    #[schema(example = "deploy-changes")]
    name: String,
    #[schema(example = 1)]
    release_id: i64,
    graphs: Vec<SequenceGraphView>,
}

/// A graph type of a sequence, and on what part of it to run.
#[derive(Serialize, ToSchema)]
#[schema(as = SequenceGraph)]
pub(super) struct SequenceGraphView {
    #[serde(rename = "type")]
    #[schema(example = "provision", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    graph_type: String,
    /// Only on these nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    nodes: Option<Vec<i64>>,
    /// Only these tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tasks: Option<Vec<String>>,
}

/// A new sequence.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewSequenceBody {
    /// The release it belongs to.
    #[schema(example = 1, minimum = 1)]
    release: i64,
    #[schema(example = "deploy-changes", min_length = 1, max_length = 255)]
    name: String,
    #[schema(min_items = 1)]
    graphs: Vec<SequenceGraphView>,
}

/// What may change about a sequence.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct SequenceBody {
    #[schema(nullable = false, example = "deploy-changes", min_length = 1, max_length = 255)]
    name: Option<String>,
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

/// One or more graph types.
pub(super) fn read_graphs(node: &Node, problems: &mut Problems) -> Option<Vec<SequenceGraph>> {
    let graphs = list_of(object(|fields| {
        let graph_type = fields.required("type", graph_type);
        let nodes = fields.optional("nodes", list_of(identifier));
        let tasks = fields.optional("tasks", list_of(string_of(1..=255)));
        Some(SequenceGraph { graph_type: graph_type?, nodes, tasks })
    }))(node, problems)?;
    if graphs.is_empty() {
        problems.error(codes::LENGTH, node.span, "a sequence has at least one graph");
        return None;
    }
    Some(graphs)
}
