//! `directory`: a directory with desired attributes.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "directory",
    summary: "Manage a directory.",
    reference: "\
Missing parent directories are created with the same permissions. `state: absent` removes the directory with its contents; symbolic links in it are
removed, not followed.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: data
  type: directory
  version: 3.0.0
  roles: [db]
  parameters: {path: /srv/data, owner: postgres, group: postgres, mode: '0700'}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
