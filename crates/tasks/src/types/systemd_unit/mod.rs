//! `systemd_unit`: a systemd unit file.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "systemd_unit",
    summary: "Manage a systemd unit file, such as a service or a timer.",
    reference: "\
The file is written to `/etc/systemd/system`, and systemd reloads its configuration. A drop-in changes a unit of a package: its name is
`UNIT.d/NAME.conf`. Start and enable the unit with a task of type `service`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: shop-unit
  type: systemd_unit
  version: 3.0.0
  roles: [web]
  parameters:
    name: shop.service
    content: |
      [Service]
      ExecStart=/usr/local/bin/shop
      [Install]
      WantedBy=multi-user.target",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
