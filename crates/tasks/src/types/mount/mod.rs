//! `mount`: a mounted file system.

mod check;
mod spec;
mod tables;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "mount",
    summary: "Manage a mount and its line in `/etc/fstab`.",
    reference: "\
`mounted` writes the line and mounts the file system, `present` only writes the line, `unmounted` unmounts it and leaves the line, `absent` removes both.
A missing mount point is created. The file system is mounted again when its source or type differs, and remounted when the options differ.

Of the options of a mounted file system, `ro`, `nosuid`, `nodev`, `noexec` and `noatime` are compared with the kernel; all others are compared with the line.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: data-mount
  type: mount
  version: 3.0.0
  roles: [db]
  parameters: {path: /srv/data, source: /dev/vdb1, fstype: ext4, options: 'noatime,nodev'}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
