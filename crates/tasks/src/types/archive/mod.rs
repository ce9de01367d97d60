//! `archive`: an unpacked archive.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "archive",
    summary: "Unpack an archive.",
    reference: "\
The archive is a tar file, plain or compressed with gzip, xz or zstd. It is downloaded, or read from the node, and unpacked only if its content has the
`digest`. The directory `dest` is replaced as a whole, so that readers never see a part of it: files that the archive does not have are gone afterwards.
A directory with other content, which no task of this type has created, is not replaced.

`dest/.stoker-archive` records what was unpacked; changes of single files are not detected. `strip` removes leading directories, each of which must be the
only entry.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: shop-release
  type: archive
  version: 3.0.0
  roles: [web]
  parameters:
    source: https://releases.example.org/shop-1.4.2.tar.gz
    dest: /opt/shop
    digest: sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
    strip: 1",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
