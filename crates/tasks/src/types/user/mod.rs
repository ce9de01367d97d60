//! `user`: a local user account.

mod access;
mod check;
mod expiry;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "user",
    summary: "Manage a local user account.",
    reference: "\
Attributes that are not set are not managed. `groups` are the supplementary groups: with `append` the user stays in others as well. `password` is a
hash, as `openssl passwd -6` prints it; it is never shown. `state: absent` removes the account, with `remove_home` also its home directory.

`authorized_keys` are added to `~/.ssh/authorized_keys`, which is created; with `exclusive_keys` other keys are removed.

Groups must exist; manage them with tasks of type `user_group`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: deploy-user
  type: user
  version: 3.0.0
  roles: ['/.*/']
  parameters: {name: deploy, groups: [deployers], shell: /bin/bash}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
