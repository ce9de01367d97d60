//! Conversion between sequences and their API types.

use stoker_api_types::sequences::{SequenceGraphView, SequenceView};
use stoker_model::Sequence;

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
