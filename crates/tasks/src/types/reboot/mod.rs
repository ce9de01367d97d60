//! `reboot`: the node starts anew.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "reboot",
    about: "Restart the node and wait until it is back.",
    reference: "\
The journal of the agent remembers which boot it was; success is reported by the agent that comes up in another one, so the
agent has to be started at boot. The command is `shutdown -r now`, or what the operator gave as `--hook reboot=PATH`. Where the agent
of a node is only pretended (`--local-agents`), the task is refused without such a program: it would restart the server.",
    runs_on: RunsOn::Node,
    is_idempotent: false,
    noop: "Says that the node would reboot.",
    parameters: spec::PARAMETERS,
    example: "\
- id: reboot_after_kernel
  type: reboot
  version: 2.1.0
  roles: [compute]
  parameters:
    timeout: 900",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
