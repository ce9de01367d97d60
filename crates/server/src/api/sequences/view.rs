//! Request and response types of sequences.

use stoker_api_types::sequences::{SequenceGraphView, SequenceView};
use stoker_manifest::reader::{identifier, list_of, object, string_of};
use stoker_manifest::{Problems, codes};
use stoker_model::{Sequence, SequenceGraph};
use stoker_yaml::Node;
use utoipa::ToSchema;

use stoker_services::metadata::embedded_graphs::graph_type;

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

pub(super) fn render_sequence(sequence: Sequence) -> SequenceView {
    let graphs = sequence.graphs.into_iter().map(|graph| SequenceGraphView {
        graph_type: graph.graph_type.as_str().to_owned(),
        nodes: graph.nodes,
        tasks: graph.tasks,
    });
    SequenceView {
        id: sequence.id.0,
        name: sequence.name,
        release_id: sequence.release_id.0,
        graphs: graphs.collect(),
    }
}

/// Parses the graphs of a sequence; at least one is required.
pub(super) fn read_graphs(node: &Node, problems: &mut Problems) -> Option<Vec<SequenceGraph>> {
    let graphs = list_of(object(|fields| {
        let graph_type = fields.required("type", graph_type);
        let nodes = fields.optional("nodes", list_of(identifier));
        let tasks = fields.optional("tasks", list_of(string_of(1..=255)));
        Some(SequenceGraph { graph_type: graph_type?, nodes, tasks })
    }))(node, problems)?;
    if graphs.is_empty() {
        problems.error(codes::LENGTH, node.span, "a sequence must have at least one graph");
        return None;
    }
    Some(graphs)
}
