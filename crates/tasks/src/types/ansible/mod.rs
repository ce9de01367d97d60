//! `ansible`: runs a playbook on the node itself.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "ansible",
    summary: "TaskRunner an Ansible playbook on the node, against itself.",
    reference: "\
Runs `ansible-playbook -i localhost, -c local`: the node is the only host and no SSH is involved. Plays should use
`hosts: all` or `hosts: localhost`. The counts of the recap are stored with the result. Variables are passed in a private file,
so they are not visible in the process list. Requires `ansible-playbook` on the node.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Runs `ansible-playbook --check --diff`, which lists the changes that its modules can predict.",
    parameters: spec::PARAMETERS,
    example: "\
- id: tune-kernel
  type: ansible
  version: 2.1.0
  roles: [compute]
  parameters:
    playbook: /etc/stoker/playbooks/kernel.yml
    extra_vars: {hugepages: {yaql_exp: $.compute.hugepages}}",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
