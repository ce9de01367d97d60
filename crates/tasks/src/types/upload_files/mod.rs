//! `upload_files`: writes several files, which differ between nodes.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "upload_files",
    summary: "Write text to several files, different ones for each node.",
    reference: "\
The list may contain entries for many nodes; a node writes only the files of the entry with its UID. The first file that cannot
be written stops the task.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Prints the files that would be written.",
    parameters: spec::PARAMETERS,
    example: "\
- id: upload_keys
  type: upload_files
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    nodes:
      - uid: '1'
        files:
          - {dst: /etc/ssl/a.pem, data: '…', permissions: '0600'}",
    run: Some(TaskRunner::Resource(Resource::new(run::check, |_| Ok(())))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
