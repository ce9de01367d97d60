//! `stage`: a point in the order.

mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "stage",
    about: "A point that others are ordered by.",
    reference: "\
It does nothing, and is ready when everything it requires is. It belongs to no node.",
    runs_on: RunsOn::Nowhere,
    is_idempotent: true,
    noop: "Nothing is done in any mode.",
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
