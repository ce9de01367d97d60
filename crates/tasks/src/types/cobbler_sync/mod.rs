//! `cobbler_sync`: updates the network boot service.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "cobbler_sync",
    summary: "Update the network boot service.",
    reference: "\
Regenerates the configuration of the service that provisions nodes.

The implementation is site-specific: the operator starts the agent with a program for it, `--hook cobbler_sync=PATH`. The program
reads a JSON object from standard input (`{\"task_type\": …, \"node\": …, \"parameters\": …}`, with `\"debug\": true` in a debug run)
and the UID of the node from `STOKER_NODE`; exit code 0 is success. Without a configured hook the task is refused.",
    runs_on: Executor::Master,
    is_idempotent: false,
    noop: "Prints the program that would be called.",
    parameters: spec::PARAMETERS,
    example: "\
- id: cobbler_sync
  type: cobbler_sync
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    provisioning_info: {yaql_exp: '$.provision'}",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
