//! `master_shell`: a command on the master, for a node.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "master_shell",
    about: "Run a command on the master for a node.",
    reference: "\
As `shell`, but the agent of the master carries it out: once for each node the task is on, with expressions computed for that
node. The variable `STOKER_NODE` says which.",
    runs_on: RunsOn::Master,
    is_idempotent: false,
    noop: "Says which command would run.",
    parameters: spec::PARAMETERS,
    example: "\
- id: register-dns
  type: master_shell
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    cmd: {yaql_exp: '\"register-dns \" + $.fqdn'}",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
