//! `modules`: an ordered list of modules, applied or removed as one task.
//!
//! No graph has tasks of this type: the server makes them when modules are applied, and records what they tell.

mod contents;
mod drivers;
mod run;
mod spec;

use stoker_engine::blueprint::RunsOn;

pub use self::drivers::{DRIVERS, Driver};
use crate::task_type::TaskType;

pub(crate) const TYPE: TaskType = TaskType {
    name: "modules",
    about: "Apply modules to the node, or remove them, in their order.",
    reference: "\
Each module is handed to the driver of its type. One that fails is told with its reason, and the next one has its turn. The task
itself fails only if it is stopped, or if a type has no driver; then nothing was begun.",
    runs_on: RunsOn::Node,
    is_idempotent: false,
    noop: "Says what the drivers would do.",
    parameters: spec::PARAMETERS,
    example: "\
- id: modules
  type: modules
  version: 2.1.0
  parameters:
    action: apply
    modules:
      - {id: m1, name: greeting, type: ping, contents: bWVzc2FnZT1oaQo=}",
    run: Some(run::run),
    prepare: None,
    #[cfg(test)]
    cases: &[include_str!("cases/all.yaml")],
};
