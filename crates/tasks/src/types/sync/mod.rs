//! `sync`: mirrors a directory with `rsync`.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "sync",
    summary: "Mirror a directory to the node with `rsync`.",
    reference: "\
Runs `rsync -c -r --delete -l`: files are compared by checksum, symbolic links are copied as links, and files that the source does
not have are deleted. The source is usually a module of an rsync server (`rsync://10.20.0.2:/puppet/modules/`). Requires `rsync` on
the node.

Files are compared with `rsync --dry-run` first. If nothing differs, the task is *unchanged*.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Runs `rsync --dry-run` and reports the differences.",
    parameters: spec::PARAMETERS,
    example: "\
- id: rsync_core_puppet
  type: sync
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    src: rsync://10.20.0.2:/puppet/modules/
    dst: /etc/puppet/modules",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
