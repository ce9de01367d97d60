//! `group`: a set of tasks and their place.

mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "group",
    about: "Tasks that share a place.",
    reference: "\
It is never carried out. Its `tasks` run where its `roles` say, and its `fault_tolerance` says how many of these nodes may fail.",
    runs_on: RunsOn::Nowhere,
    is_idempotent: true,
    noop: "Nothing is done in any mode.",
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
