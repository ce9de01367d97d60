//! `service`: a systemd service.

mod check;
mod spec;

use std::time::Duration;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "service",
    summary: "Manage a systemd service.",
    reference: "\
`state: running` starts the service and waits up to 15 seconds until it is active; a service that does not become active is a failure that names its state.
`restarted` and `reloaded` are actions: they are done each time the task runs. Without `state` or `enabled` that aspect is not managed.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: nginx
  type: service
  version: 3.0.0
  roles: [web]
  parameters: {name: nginx, state: running, enabled: true}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate).settle(Duration::from_secs(15)))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
