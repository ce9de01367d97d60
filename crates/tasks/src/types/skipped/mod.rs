//! `skipped`: nothing, in its place.

mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "skipped",
    about: "A task that is switched off.",
    reference: "\
It does nothing and ends as skipped; what depends on it goes on. A layer that gives a task this type switches it off without
breaking the order. Parameters that the task had are of no interest.",
    runs_on: RunsOn::Nowhere,
    is_idempotent: true,
    noop: "Nothing is done in any mode.",
    parameters: spec::PARAMETERS,
    example: "\
- id: ntp-server
  type: skipped",
    run: None,
    prepare: None,
    #[cfg(test)]
    cases: &[],
};
