//! How far evaluations may go.

use stoker_yaql::Options;

/// Collections grow with the fleet, and a large cluster must not fail for being large.
const ITEMS_PER_NODE: i64 = 10;
/// State of a node in the reckoning of the language, with plenty to spare.
const BYTES_PER_NODE: i64 = 1 << 20;

/// The options of evaluations in a cluster with so many nodes.
pub fn options(n_nodes: usize) -> Options {
    let n_nodes = i64::try_from(n_nodes).unwrap_or(i64::MAX);
    let default = Options::DEFAULT;
    Options {
        limit_iterators: default.limit_iterators.max(n_nodes.saturating_mul(ITEMS_PER_NODE)),
        memory_quota: default.memory_quota.max(n_nodes.saturating_mul(BYTES_PER_NODE)),
        // Old and new are compared as what they are; what leaves a plan is made of lists anyway.
        convert_sets_to_lists: false,
        ..default
    }
}
