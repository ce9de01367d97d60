//! `modules`: applies or removes an ordered list of modules as one task.
//!
//! Graphs cannot contain this type: the server creates such tasks when modules are applied, and records their
//! results.

mod contents;
mod drivers;
mod run;
mod spec;

use stoker_engine::blueprint::Executor;

pub use self::drivers::{DRIVERS, Driver};
use crate::task_type::{TaskRunner, TaskType};

pub(crate) const TYPE: TaskType = TaskType {
    name: "modules",
    summary: "Apply modules to the node or remove them, in order.",
    reference: "\
Each module is processed by the driver of its type. A failed module is reported with its reason and does not stop the others. The
task itself fails only if it is stopped, or if a type has no driver; in that case nothing is applied.",
    runs_on: Executor::Node,
    is_idempotent: false,
    noop: "Prints the actions of the drivers.",
    parameters: spec::PARAMETERS,
    example: "\
- id: modules
  type: modules
  version: 2.1.0
  parameters:
    action: apply
    modules:
      - {id: m1, name: greeting, type: ping, contents: bWVzc2FnZT1oaQo=}",
    run: Some(TaskRunner::Action(run::run)),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
