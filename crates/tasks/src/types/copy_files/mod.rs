//! `copy_files`: files of the master, on the node.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "copy_files",
    about: "Copy files and folders of the master to the node.",
    reference: "\
The master reads the sources before the attempt leaves: all of them together may have 8 MiB. For more there is `sync`. A source
that cannot be read fails the task before anything is written.

A folder is copied with everything in it, up to 2000 files and no links. Its files are executable where they are on the
master, unless `permissions` beside `src` says otherwise; what else is in the folder of the node stays there.",
    runs_on: RunsOn::Node,
    is_idempotent: true,
    noop: "Says which files would be written.",
    parameters: spec::PARAMETERS,
    example: "\
- id: copy_keys
  type: copy_files
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    files:
      - {src: /var/lib/stoker/keys/ceph.key, dst: /etc/ceph/ceph.key}
    permissions: '0600'
    dir_permissions: '0700'",
    run: Some(run::run),
    prepare: Some(spec::prepare),
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
