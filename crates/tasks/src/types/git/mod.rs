//! `git`: a working copy of a git repository.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "git",
    summary: "Manage a working copy of a git repository.",
    reference: "\
The working copy has exactly the commit of `version`: a branch, a tag or a commit. Each check asks the repository which commit a branch or tag has, unless
`update` is `false`. Local changes of tracked files are an error when the commit must change; with `force` they are discarded, even if the commit stays.
Untracked files are kept. Submodules are not fetched. Requires `git` on the node; credentials come from the configuration of git and SSH, never from a prompt.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: shop-source
  type: git
  version: 3.0.0
  roles: [web]
  parameters: {repo: https://git.example.org/shop.git, dest: /srv/shop, version: v1.4.2}",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
