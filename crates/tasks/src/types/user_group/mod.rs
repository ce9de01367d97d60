//! `user_group`: a group of users.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "user_group",
    summary: "Manage a group of users.",
    reference: "\
The name `group` belongs to groups of tasks. Membership is managed by tasks of type `user`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: deployers
  type: user_group
  version: 3.0.0
  roles: ['/.*/']
  parameters: {name: deployers, gid: 2000}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
