//! `puppet`: applies a manifest without a Puppet master.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "puppet",
    summary: "Apply a Puppet manifest on the node.",
    reference: "\
Runs `puppet apply --detailed-exitcodes`. Success requires exit code 0 or 2 and a run summary without failed resources; the
summary is stored with the result. Manifest and modules must already be on the node (see `sync`); relative paths are relative to
`cwd`. Requires `puppet` on the node.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Runs `puppet apply --noop`, which lists what would change.",
    parameters: spec::PARAMETERS,
    example: "\
- id: ntp-server
  type: puppet
  version: 2.1.0
  roles: [controller]
  parameters:
    puppet_manifest: /etc/puppet/modules/osnailyfacter/modular/ntp/ntp-server.pp
    puppet_modules: /etc/puppet/modules
    timeout: 600",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
