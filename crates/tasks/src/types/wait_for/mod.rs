//! `wait_for`: waits for a port, a file or an HTTP response.

mod run;
mod spec;

use stoker_engine::blueprint::Executor;

use crate::task_type::{TaskRunner, TaskType};

pub(super) const TYPE: TaskType = TaskType {
    name: "wait_for",
    summary: "Wait for a port, a file or an HTTP response.",
    reference: "\
Waits on the node until the condition is true, and tries once a second. `timeout` limits the wait; the failure says what was found last. `state: absent`
waits for the opposite: a closed port, a missing file or text, another response. The task never changes the node.

`port` is a TCP port of `host`, `path` a file, which with `regexp` must have a matching line, and `url` an address whose response must have the `status`.
Redirects are not followed.",
    runs_on: Executor::Node,
    is_idempotent: true,
    noop: "Checks once and reports whether the attempt would wait.",
    parameters: spec::PARAMETERS,
    example: "\
- id: database-answers
  type: wait_for
  version: 3.0.0
  roles: [web]
  parameters: {host: db1.example.org, port: 5432, timeout: 120}",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
