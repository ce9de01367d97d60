//! `link`: a symbolic link.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "link",
    summary: "Manage a symbolic link.",
    reference: "\
The link is replaced atomically. A file or directory at the path is never replaced. The target need not exist.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: current-release
  type: link
  version: 3.0.0
  roles: [web]
  parameters: {path: /srv/www/current, target: /srv/www/releases/42}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
