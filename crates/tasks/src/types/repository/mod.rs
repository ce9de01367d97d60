//! `repository`: a package source.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "repository",
    summary: "Manage a package source.",
    reference: "\
With apt the source is `/etc/apt/sources.list.d/NAME.sources` and its key `/etc/apt/keyrings/NAME.asc`; with dnf they are `/etc/yum.repos.d/NAME.repo` and
`/etc/pki/rpm-gpg/NAME.asc`. Apt downloads the package lists before the source is enabled, so a source with a wrong address or key is an error and is not
added. `suites`, `components`, `types` and `architectures` are for apt; a flat repository has a suite that ends with `/` and no components.

`key` is the text of the public key; `signed_by` names a key file or URL instead. Packages must be signed, unless `gpgcheck` is `false`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: postgresql-source
  type: repository
  version: 3.0.0
  roles: [db]
  parameters:
    name: pgdg
    uris: https://apt.postgresql.org/pub/repos/apt
    suites: bookworm-pgdg
    components: main
    key: {yaql_exp: $.settings.postgresql.key.value}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
