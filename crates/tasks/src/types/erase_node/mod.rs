//! `erase_node`: the boot areas of a node are wiped.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "erase_node",
    about: "Wipe what a node boots from.",
    reference: "\
The node does not boot from its disks afterwards; it is not restarted.

How that is done depends on the place, so the operator gives the agent a program for it: `--hook erase_node=PATH`. It finds the
parameters as JSON in its input (`{\"task_type\": …, \"node\": …, \"parameters\": …}`, and `\"debug\": true` in a run that is to say more) and the uid of the node in
`STOKER_NODE`; exit code 0 is success. Without such a program the task is refused.",
    runs_on: RunsOn::Node,
    is_idempotent: false,
    noop: "Says which program would be called.",
    parameters: spec::PARAMETERS,
    example: "\
- id: erase_node
  type: erase_node
  version: 2.1.0
  roles: ['/.*/']",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
