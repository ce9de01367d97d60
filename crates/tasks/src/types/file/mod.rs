//! `file`: a file with desired content and attributes.

mod check;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "file",
    summary: "Manage the content, permissions and owner of a file.",
    reference: "\
Without `content` the content is not managed: a missing file is created empty, an existing one keeps its content. Attributes that are not set are not
managed either. The file is replaced atomically, and readers never see a part of it; a symbolic link is followed.

`validate` is a shell command that checks the new content before it becomes visible. If it fails, the file is left unchanged.
`backup` keeps the previous file as `PATH.~N~`.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Reports the differences and changes nothing.",
    parameters: spec::PARAMETERS,
    example: "\
- id: nginx-config
  type: file
  version: 3.0.0
  roles: [web]
  parameters:
    path: /etc/nginx/nginx.conf
    content: {yaql_exp: $.settings.nginx.config.value}
    mode: '0644'
    validate: nginx -t -c %s",
    run: Some(TaskRunner::Resource(Resource::new(check::check, spec::validate))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
