//! `stage`: a synchronization point.

mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "stage",
    summary: "Define a synchronization point for ordering.",
    reference: "\
It does nothing and is done when everything it requires is done. It belongs to no node.",
    runs_on: Executor::None,
    is_idempotent: true,
    noop: "Never executed.",
    parameters: spec::PARAMETERS,
    example: "\
- id: pre_deployment_end
  type: stage
  requires: [pre_deployment_start]",
    run: None,
    prepare: None,
    #[cfg(test)]
    cases: &[],
};
