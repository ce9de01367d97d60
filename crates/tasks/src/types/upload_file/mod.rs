//! `upload_file`: writes a file whose content is a parameter.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::resource::Resource;
use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "upload_file",
    summary: "Write text to a file on the node.",
    reference: "\
The content is usually computed. A file with the content, permissions and owner is left unchanged; otherwise it is replaced atomically: a
temporary file in the same directory is renamed. Symbolic links are followed. Without an owner a new file belongs to the user that the
agent runs as. Use `file` for files that are removed, validated or backed up.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Prints the file that would be written.",
    parameters: spec::PARAMETERS,
    example: "\
- id: upload_nodes_info
  type: upload_file
  version: 2.1.0
  roles: ['/.*/']
  parameters:
    path: /etc/hiera/nodes.yaml
    data: {yaql_exp: '{nodes => $.network_metadata.nodes}.toYaml()'}
    permissions: '0640'",
    run: Some(TaskRunner::Resource(Resource::new(run::check, |values| spec::Spec::read(values).map(drop)))),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
