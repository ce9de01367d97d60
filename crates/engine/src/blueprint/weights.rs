//! Instance priorities: the instance with the longest remaining path is the most urgent.
//!
//! The predecessor summed the weights of all paths, which grows exponentially with depth. The longest path
//! does not, and it is a lower bound of the makespan.

use stoker_model::{InstanceIdx, VertexIdx};

use super::draft::Draft;

/// Position of an instance in the order of urgency; 0 is the most urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct ApplyKey(u32);

impl ApplyKey {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Returns the rank of each instance, the most urgent first, and the inverse. The graph must be acyclic.
pub(super) fn ranks(draft: &Draft) -> (Vec<ApplyKey>, Vec<InstanceIdx>) {
    let weights = longest_paths(draft);
    let mut by_rank: Vec<InstanceIdx> = InstanceIdx::first(draft.instances.len()).collect();
    by_rank.sort_by_key(|idx| (std::cmp::Reverse(weights[idx.index()]), *idx));
    let mut rank = vec![ApplyKey(0); by_rank.len()];
    for (position, idx) in (0..).map(ApplyKey).zip(&by_rank) {
        rank[idx.index()] = position;
    }
    (rank, by_rank)
}

/// Returns the length of the longest path from each vertex to the end, including its own duration.
fn longest_paths(draft: &Draft) -> Vec<u64> {
    let duration = |vertex: VertexIdx| match draft.instances.get(vertex.index()) {
        Some(instance) if instance.work.is_some() => {
            u64::from(draft.durations.get(vertex.index()).copied().unwrap_or(1))
        }
        _ => 0,
    };
    let mut weights = vec![0; draft.order.n_vertices()];
    let order = draft.order.topological_order().unwrap_or_default();
    for vertex in order.into_iter().rev() {
        let after = draft.order.targets(vertex).iter().map(|target| weights[*target as usize]).max();
        let vertex = VertexIdx::new(vertex);
        weights[vertex.index()] = duration(vertex) + after.unwrap_or(0);
    }
    weights
}
