//! `move_to_bootstrap`: registers a node for network boot.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "move_to_bootstrap",
    summary: "Boot a node into the bootstrap image.",
    reference: "\
Registers the node with the network boot service and reboots it if it was registered before.

The implementation is site-specific: the operator starts the agent with a program for it, `--hook move_to_bootstrap=PATH`. The
program reads a JSON object from standard input (`{\"task_type\": …, \"node\": …, \"parameters\": …}`, with `\"debug\": true` in a
debug run) and the UID of the node from `STOKER_NODE`; exit code 0 is success. Without a configured hook the task is refused.",
    runs_on: Executor::Master,
    is_idempotent: false,
    noop: "Prints the program that would be called.",
    parameters: spec::PARAMETERS,
    example: "\
- id: move_to_bootstrap
  type: move_to_bootstrap
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    provisioning_info: {yaql_exp: '$.provision'}",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
