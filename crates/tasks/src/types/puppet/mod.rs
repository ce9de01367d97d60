//! `puppet`: a manifest applied without a master.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "puppet",
    about: "Apply a Puppet manifest on the node.",
    reference: "\
Runs `puppet apply --detailed-exitcodes` and waits for its end. Success is exit code 0 or 2 and a summary of the run without
failed resources; the summary is kept with the result. Manifest and modules are on the node already (see `sync`); relative paths
begin at `cwd`. `puppet` has to be on the node.",
    runs_on: RunsOn::Node,
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
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
