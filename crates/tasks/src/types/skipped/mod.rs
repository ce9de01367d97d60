//! `skipped`: a disabled task.

mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "skipped",
    summary: "Disable a task.",
    reference: "\
It does nothing and ends as skipped; dependent tasks continue. A layer that sets this type on a task disables it without
breaking the order. Its parameters are ignored.",
    runs_on: Executor::None,
    is_idempotent: true,
    noop: "Never executed.",
    parameters: spec::PARAMETERS,
    example: "\
- id: ntp-server
  type: skipped",
    run: None,
    prepare: None,
    #[cfg(test)]
    cases: &[],
};
