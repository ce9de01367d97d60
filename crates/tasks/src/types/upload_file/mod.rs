//! `upload_file`: a file whose content is a parameter.

mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

use crate::task_type::TaskType;

pub(super) const TYPE: TaskType = TaskType {
    name: "upload_file",
    about: "Put a text into a file on the node.",
    reference: "\
The content is usually computed. The file appears whole or not at all: it is written beside its place and moved there. A link is
followed. Without an owner the file belongs to the user the agent runs as.",
    runs_on: RunsOn::Node,
    is_idempotent: true,
    noop: "Says which file would be written.",
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
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
