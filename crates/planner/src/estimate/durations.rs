//! Durations of all instances, estimated where no earlier run recorded one.

use std::collections::HashMap;

use stoker_model::InstanceIdx;

use super::DurationLookup;
use crate::plan::{InstanceAction, Plan};

/// The assumed duration of a task if neither it nor any task of its type was ever measured. A rough guess.
pub const DEFAULT_DURATION_MS: u64 = 30_000;

pub(super) struct Durations {
    /// Duration of each instance in milliseconds; zero for skipped instances.
    pub(super) ms: Vec<u64>,
    pub(super) n_known: usize,
    pub(super) n_unknown: usize,
}

impl Durations {
    pub(super) fn new(plan: &Plan, lookup: &DurationLookup<'_>) -> Self {
        let mut ms: Vec<Option<u64>> = vec![Some(0); plan.n_instances()];
        let mut by_type: HashMap<&str, Vec<u64>> = HashMap::new();
        let (mut n_known, mut n_unknown) = (0, 0);
        for task in &plan.tasks {
            let mut of_task = Vec::new();
            let running = || {
                plan.instances_of(task).filter(|instance| instance.verdict.action() == InstanceAction::Run)
            };
            for instance in running() {
                let duration = lookup(instance.task, instance.node);
                ms[instance.idx.index()] = duration;
                n_known += usize::from(duration.is_some());
                n_unknown += usize::from(duration.is_none());
                of_task.extend(duration);
                if let (Some(duration), Some(details)) = (duration, plan.details(instance.idx)) {
                    by_type.entry(&details.task_type).or_default().push(duration);
                }
            }
            if let Some(median) = median(&mut of_task) {
                running().for_each(|instance| _ = ms[instance.idx.index()].get_or_insert(median));
            }
        }
        let by_type: HashMap<&str, u64> = by_type
            .into_iter()
            .filter_map(|(task_type, mut of_type)| Some((task_type, median(&mut of_type)?)))
            .collect();
        let guess = |idx: InstanceIdx| {
            let details = plan.details(idx);
            details
                .and_then(|details| by_type.get(&*details.task_type).copied())
                .unwrap_or(DEFAULT_DURATION_MS)
        };
        let ms =
            InstanceIdx::first(ms.len()).zip(ms).map(|(idx, ms)| ms.unwrap_or_else(|| guess(idx))).collect();
        Self { ms, n_known, n_unknown }
    }
}

/// The lower median.
fn median(values: &mut [u64]) -> Option<u64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}
