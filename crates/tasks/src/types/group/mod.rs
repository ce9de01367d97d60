//! `group`: assigns tasks to nodes.

mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "group",
    summary: "Assign tasks to nodes.",
    reference: "\
It is never executed. Its `tasks` run on the nodes selected by its `roles`; `fault_tolerance` limits how many of them may fail.",
    runs_on: Executor::None,
    is_idempotent: true,
    noop: "Never executed.",
    parameters: spec::PARAMETERS,
    example: "\
- id: controller
  type: group
  version: 2.1.0
  roles: [controller]
  tasks: [hiera, netconfig]
  fault_tolerance: 0",
    run: None,
    prepare: None,
    #[cfg(test)]
    cases: &[],
};
