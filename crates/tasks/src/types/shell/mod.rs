//! `shell`: runs a command on the node.

mod run;
pub(super) mod spec;

pub(super) use run::{command_of, run_script};

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "shell",
    summary: "Run a command on the node.",
    reference: "\
The text is run by `bash`, or by `sh` if there is no `bash`; a command that consists of an absolute path and plain arguments is
executed directly. Standard input is empty. Success is exit code 0. Output is reported as it is produced: the first and the last
64 KiB of standard output and of standard error.

On a timeout or a cancelled run all its processes are ended, including detached ones: first with `SIGTERM`, a few seconds later with
`SIGKILL`. A daemon that it leaves running after a normal exit is kept.",
    runs_on: Executor::Node,
    is_idempotent: false,
    noop: "Prints the command that would run.",
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
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
