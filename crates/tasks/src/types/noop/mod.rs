//! `noop`: does nothing.

mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "noop",
    summary: "Do nothing.",
    reference: "\
Like `skipped`.",
    runs_on: Executor::None,
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
