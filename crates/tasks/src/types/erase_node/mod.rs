//! `erase_node`: wipes the boot areas of a node.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "erase_node",
    summary: "Wipe the boot areas of a node.",
    reference: "\
The node cannot boot from its disks afterwards. It is not rebooted.

The implementation is site-specific: the operator starts the agent with a program for it, `--hook erase_node=PATH`. The program
reads a JSON object from standard input (`{\"task_type\": …, \"node\": …, \"parameters\": …}`, with `\"debug\": true` in a debug run)
and the UID of the node from `STOKER_NODE`; exit code 0 is success. Without a configured hook the task is refused.",
    runs_on: Executor::Node,
    is_idempotent: false,
    noop: "Prints the program that would be called.",
    parameters: spec::PARAMETERS,
    example: "\
- id: erase_node
  type: erase_node
  version: 2.1.0
  roles: ['/.*/']",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
