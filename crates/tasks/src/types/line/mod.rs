//! `line`: a line or a marked block in a file.

mod check;
mod edit;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "line",
    summary: "Manage a line or a block of lines in a file.",
    reference: "\
With `line`: the last line that matches `regexp` is replaced by `line`; if none matches, or without `regexp`, a missing line is added at the end.
If `regexp` does not match `line` itself, a file that has the line is left unchanged.
`state: absent` removes all lines that match `regexp` or, without it, equal `line`.

With `block`: the lines between two marker lines are managed. `marker` is the text of the marker lines; `{mark}` stands for `BEGIN` and
`END`. Blocks with different markers can be in one file.

New lines are added at the end, or at the place that `insertafter` or `insertbefore` finds; existing ones are not moved. A missing file is an error,
unless `create` is set. `validate` and `backup` work as in `file`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: no-root-login
  type: line
  version: 3.0.0
  roles: ['/.*/']
  parameters:
    path: /etc/ssh/sshd_config
    regexp: '^#?PermitRootLogin '
    line: PermitRootLogin no",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
