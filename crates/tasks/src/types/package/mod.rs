//! `package`: packages of the operating system.

mod check;
pub(in crate::types) mod manager;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "package",
    summary: "Install, upgrade or remove packages.",
    reference: "\
Uses apt or dnf, whichever the node has. All packages are installed in one transaction, without questions; changed configuration files are kept. `version`
is the version of a single package; several versions are written as `name=version` in `names`. `latest` installs the newest version that the package
lists of the node offer.

`hold` prevents other programs from upgrading the packages (apt only). With `update_cache` the package lists are updated before packages
are installed; if no package needs to be installed, they are not updated. With `state: latest` they are updated first, so that new versions are found; this
is no change. A dry run compares with the lists that the node has. A package of another architecture is written as `name:arch`, with dnf as `name.arch`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: web-packages
  type: package
  version: 3.0.0
  roles: [web]
  parameters:
    names: [nginx, 'postgresql-client=15*']
    update_cache: true",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate).refresh(check::refresh))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
