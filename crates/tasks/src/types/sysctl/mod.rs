//! `sysctl`: a kernel parameter.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "sysctl",
    summary: "Manage a kernel parameter.",
    reference: "\
The value is set in the running kernel and stored in `/etc/sysctl.d`, so that it survives a reboot. White space in values is not significant.
`state: absent` removes the stored value; the running kernel keeps its value until the next reboot.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: swappiness
  type: sysctl
  version: 3.0.0
  roles: [db]
  parameters: {name: vm.swappiness, value: 1}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
