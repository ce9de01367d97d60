//! A sequence: graph types that run one after another.

use crate::{GraphType, ReleaseId, SequenceId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub id: SequenceId,
    pub generation: i64,
    pub release_id: ReleaseId,
    pub name: String,
    pub graphs: Vec<SequenceGraph>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSequence {
    pub release_id: ReleaseId,
    /// Sequence name, unique in the release.
    pub name: String,
    pub graphs: Vec<SequenceGraph>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceGraph {
    pub graph_type: GraphType,
    /// Nodes to run on; `None` means that the node filter of the graph selects them.
    pub nodes: Option<Vec<i64>>,
    pub tasks: Option<Vec<String>>,
}
