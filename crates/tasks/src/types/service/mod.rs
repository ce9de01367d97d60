//! `service`: a systemd service.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "service",
    summary: "Manage a systemd service.",
    reference: "\
`state: running` starts the service and waits until it is active; a service that fails is an error with the last lines of its journal, as is one that is not
active 15 seconds after its start. Restarts and reloads wait in the same way.
`restarted` and `reloaded` are actions: they are done each time the task runs. Without `state`, `enabled` or `masked` that aspect is not managed.

The agent talks to systemd over D-Bus; a check starts no program.",
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
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
