//! `reboot`: reboots the node.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "reboot",
    summary: "Reboot the node and wait until it is back.",
    reference: "\
The agent records the boot ID in its journal. The agent that starts after the reboot reports the success, so the agent must be
started at boot. The command is `shutdown -r now`, or the program configured with `--hook reboot=PATH`. For a simulated agent
(`--local-agents`) the task is refused without such a hook, because it would reboot the server.",
    runs_on: Executor::Node,
    is_idempotent: false,
    noop: "Prints that the node would reboot.",
    parameters: spec::PARAMETERS,
    example: "\
- id: reboot_after_kernel
  type: reboot
  version: 2.1.0
  roles: [compute]
  parameters:
    timeout: 900",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
