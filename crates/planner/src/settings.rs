//! Default limits of evaluations.

use stoker_yaql::{FixedHost, Limits, Options};

use crate::compute::evaluator::EvalSettings;
use crate::input::PlanningInput;

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

/// The YAQL options of all evaluations of a plan.
pub(crate) fn options_of(input: &PlanningInput<'_>) -> Options {
    let mut options = options(input.nodes.len());
    if let Some(limit) = input.settings.limit_iterators {
        options.limit_iterators = limit;
    }
    if let Some(quota) = input.settings.memory_quota {
        options.memory_quota = quota;
    }
    options
}

pub(crate) fn eval_settings<'o>(input: &PlanningInput<'_>, options: &'o Options) -> EvalSettings<'o> {
    let host = FixedHost { now_micros: input.settings.now_micros, random_bits: input.settings.random_bits };
    EvalSettings { options, limits: &Limits::DEFAULT, host, cache: None }
}
