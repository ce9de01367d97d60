//! Longest chains of a plan.

use stoker_model::InstanceIdx;

use crate::plan::Plan;

/// For each vertex of the order, the duration of the longest chain that starts with it.
pub(super) fn remaining(plan: &Plan, ms: &[u64]) -> Vec<u64> {
    let order = plan.order.topological_order().unwrap_or_default();
    let mut remaining = vec![0_u64; plan.order.n_vertices()];
    for vertex in order.into_iter().rev() {
        let after = plan.order.targets(vertex).iter().map(|target| remaining[*target as usize]).max();
        let own = ms.get(vertex as usize).copied().unwrap_or(0);
        remaining[vertex as usize] = own.saturating_add(after.unwrap_or(0));
    }
    remaining
}

/// The longest chain, without vertices of zero duration.
pub(super) fn critical(plan: &Plan, ms: &[u64], remaining: &[u64]) -> Vec<(InstanceIdx, u64)> {
    let longest = |vertices: &mut dyn Iterator<Item = u32>| {
        // Ties go to the lowest vertex, so that the result is deterministic.
        vertices.max_by_key(|vertex| (remaining[*vertex as usize], std::cmp::Reverse(*vertex)))
    };
    let mut path = Vec::new();
    let mut next = longest(&mut (0..remaining.len() as u32));
    while let Some(vertex) = next {
        if let Some(own) = ms.get(vertex as usize).filter(|own| **own > 0) {
            path.push((InstanceIdx::new(vertex), *own));
        }
        next = longest(&mut plan.order.targets(vertex).iter().copied());
    }
    path
}
