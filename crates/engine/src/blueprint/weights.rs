//! Instance priorities: the instance with the longest remaining path is the most urgent.
//!
//! The predecessor summed the weights of all paths, which grows exponentially with depth. The longest path
//! does not, and it is a lower bound of the makespan.

use super::draft::Draft;

/// Rank of each instance, the most urgent first, and the inverse. The graph must be acyclic.
pub(super) fn ranks(draft: &Draft) -> (Vec<u32>, Vec<u32>) {
    let weights = longest_paths(draft);
    let n_instances = draft.instances.len() as u32;
    let mut by_rank: Vec<u32> = (0..n_instances).collect();
    by_rank.sort_by_key(|idx| (std::cmp::Reverse(weights[*idx as usize]), *idx));
    let mut rank = vec![0; by_rank.len()];
    for (position, idx) in (0..).zip(&by_rank) {
        rank[*idx as usize] = position;
    }
    (rank, by_rank)
}

/// Length of the longest path from each vertex to the end, including its own duration.
fn longest_paths(draft: &Draft) -> Vec<u64> {
    let duration = |vertex: u32| match draft.instances.get(vertex as usize) {
        Some(instance) if instance.work.is_some() => {
            u64::from(draft.durations.get(vertex as usize).copied().unwrap_or(1))
        }
        _ => 0,
    };
    let mut weights = vec![0; draft.order.n_vertices()];
    let order = draft.order.topological_order().unwrap_or_default();
    for vertex in order.into_iter().rev() {
        let after = draft.order.targets(vertex).iter().map(|target| weights[*target as usize]).max();
        weights[vertex as usize] = duration(vertex) + after.unwrap_or(0);
    }
    weights
}
