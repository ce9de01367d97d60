//! `upload_files`: several files, for each node its own.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "upload_files",
    about: "Put texts into several files, for each node its own.",
    reference: "\
The list may have entries for many nodes; a node writes the files of the entry with its uid and no others. The first file that
cannot be written ends the task.",
    runs_on: RunsOn::Node,
    is_idempotent: true,
    noop: "Says which files would be written.",
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
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
