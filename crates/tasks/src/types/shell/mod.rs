//! `shell`: a command on the node.

mod run;
pub(super) mod spec;

pub(super) use run::run_script;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "shell",
    about: "Run a command on the node.",
    reference: "\
The text is given to `bash` (to `sh` where there is none); a command that is only a program with plain arguments is started
directly. It has no input. Success is exit code 0. What it prints is reported as it comes: the first and the last 64 KiB of each
of its two streams.

Whatever it starts is in one group of processes. A timeout or a cancelled run ends all of it: first politely (`SIGTERM`), a few
seconds later for good, also what has detached itself. A daemon that it leaves behind when it ends by itself stays.",
    runs_on: RunsOn::Node,
    is_idempotent: false,
    noop: "Says which command would run.",
    parameters: spec::PARAMETERS,
    example: "\
- id: restart-nova
  type: shell
  version: 2.1.0
  roles: [compute]
  parameters:
    cmd: systemctl restart nova-compute
    timeout: 120
    retries: 3
    interval: 10",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
