//! `copy_files`: copies files from the master to the node.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "copy_files",
    summary: "Copy files and directories from the master to the node.",
    reference: "\
The master reads the sources before the attempt is sent; their total size is limited to 8 MiB. Use `sync` for more. A source
that cannot be read fails the task before anything is written.

A directory is copied recursively: up to 2000 files, no symbolic links. Its files are executable if they are on the master, unless
`permissions` is set next to `src`. Other files in the destination directory are kept.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Prints the files that would be written.",
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
    run: Some(TaskRunner::Resource(Resource::new(run::check, |_| Ok(())))),
    prepare: Some(spec::prepare),
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
