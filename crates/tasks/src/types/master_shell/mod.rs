//! `master_shell`: runs a command on the master for a node.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "master_shell",
    summary: "Run a command on the master for a node.",
    reference: "\
Like `shell`, but executed by the agent of the master: once for each node of the task, with expressions evaluated for that node.
The variable `STOKER_NODE` contains the UID of the node.",
    runs_on: Executor::Master,
    is_idempotent: false,
    noop: "Prints the command that would run.",
    parameters: spec::PARAMETERS,
    example: "\
- id: register-dns
  type: master_shell
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    cmd: {yaql_exp: '\"register-dns \" + $.fqdn'}",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
