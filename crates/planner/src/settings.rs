//! Default limits of evaluations.

use stoker_yaql::Options;

/// Collections grow with the fleet; this scales the limit so that a large cluster does not exceed it.
const ITEMS_PER_NODE: i64 = 10;
/// Generous upper bound of a node's state, in bytes as the YAQL memory quota counts them.
const BYTES_PER_NODE: i64 = 1 << 20;

/// The evaluation options for a cluster with `n_nodes` nodes.
pub fn options(n_nodes: usize) -> Options {
    let n_nodes = i64::try_from(n_nodes).unwrap_or(i64::MAX);
    let default = Options::DEFAULT;
    Options {
        limit_iterators: default.limit_iterators.max(n_nodes.saturating_mul(ITEMS_PER_NODE)),
        memory_quota: default.memory_quota.max(n_nodes.saturating_mul(BYTES_PER_NODE)),
        // Sets must stay sets so that old and new values compare by type; results are converted to lists
        // separately.
        convert_sets_to_lists: false,
        ..default
    }
}
