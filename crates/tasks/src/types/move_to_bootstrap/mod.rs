//! `move_to_bootstrap`: a node is registered for network boot.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "move_to_bootstrap",
    about: "Let a node start into the bootstrap image.",
    reference: "\
The node is registered with whatever serves its network boot, and restarted if it was known there.

How that is done depends on the place, so the operator gives the agent a program for it: `--hook move_to_bootstrap=PATH`. It finds the
parameters as JSON in its input (`{\"task_type\": …, \"node\": …, \"parameters\": …}`, and `\"debug\": true` in a run that is to say more) and the uid of the node in
`STOKER_NODE`; exit code 0 is success. Without such a program the task is refused.",
    runs_on: RunsOn::Master,
    is_idempotent: false,
    noop: "Says which program would be called.",
    parameters: spec::PARAMETERS,
    example: "\
- id: move_to_bootstrap
  type: move_to_bootstrap
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    provisioning_info: {yaql_exp: '$.provision'}",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
