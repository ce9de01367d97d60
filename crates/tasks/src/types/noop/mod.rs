//! `noop`: nothing, in its place.

mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "noop",
    about: "A task that does nothing.",
    reference: "\
As `skipped`.",
    runs_on: RunsOn::Nowhere,
    is_idempotent: true,
    noop: "Nothing is done in any mode.",
    parameters: spec::PARAMETERS,
    example: "\
- id: placeholder
  type: noop",
    run: None,
    prepare: None,
    #[cfg(test)]
    cases: &[],
};
