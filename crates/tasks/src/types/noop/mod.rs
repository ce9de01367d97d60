//! `noop`: does nothing.

mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "noop",
    about: "Do nothing.",
    reference: "\
Like `skipped`.",
    runs_on: RunsOn::Nowhere,
    is_idempotent: true,
    noop: "Never executed.",
    parameters: spec::PARAMETERS,
    example: "\
- id: placeholder
  type: noop",
    run: None,
    prepare: None,
    #[cfg(test)]
    cases: &[],
};
