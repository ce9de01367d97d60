//! `command`: runs a command unless it is unnecessary.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "command",
    summary: "Run a command unless it is unnecessary.",
    reference: "\
The command is run as in `shell`. It is skipped, and the task is *unchanged*, if the path `creates` exists, if the command `unless` succeeds, or if the
command `only_if` fails. These two must only read: they are run in noop mode too.

A command that ran has *changed* the node, unless `changed_when` says otherwise: a list of exit codes, or a regular expression that the end of
its standard output must match. Exit codes in `changed_when` count as success.",
    runs_on: Executor::Node,
    is_idempotent: false,
    noop: "Evaluates the conditions and prints the command that would run.",
    parameters: spec::PARAMETERS,
    example: "\
- id: create-database
  type: command
  version: 3.0.0
  roles: [db]
  parameters:
    cmd: sudo -u postgres createdb shop
    unless: sudo -u postgres psql -lqt | grep -qw shop",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
