//! `sync`: a folder made equal to another.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "sync",
    about: "Make a folder of the node equal to another one, with `rsync`.",
    reference: "\
Runs `rsync -c -r --delete -l`: contents are compared, links are kept, what the source does not have is deleted. The source is
usually a module of a server (`rsync://10.20.0.2:/puppet/modules/`). `rsync` has to be on the node.",
    runs_on: RunsOn::Node,
    is_idempotent: true,
    noop: "Runs `rsync --dry-run`, which lists what would change.",
    parameters: spec::PARAMETERS,
    example: "\
- id: rsync_core_puppet
  type: sync
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    src: rsync://10.20.0.2:/puppet/modules/
    dst: /etc/puppet/modules",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
