//! Definition of a task type.

use stoker_engine::blueprint::Executor;

use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::TaskOutcome;
use crate::parameter::Parameter;
use crate::prepare::Prepare;
use crate::resource::Resource;
use crate::values::Values;

pub struct TaskType {
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Reference documentation in Markdown.
    pub reference: &'static str,
    /// Agent that executes tasks of this type.
    pub runs_on: Executor,
    /// Whether executing the task twice has the same effect as executing it once, so that an interrupted
    /// attempt may be retried.
    pub is_idempotent: bool,
    /// Behaviour in noop mode.
    pub noop: &'static str,
    pub parameters: &'static [Parameter],
    /// Example task in YAML.
    pub example: &'static str,
    /// Executor; absent for types that are never executed.
    pub run: Option<TaskRunner>,
    /// Preparation on the master before an attempt is sent.
    pub prepare: Option<Prepare>,
    #[cfg(test)]
    pub(crate) cases: &'static [&'static str],
}

/// Executor of a task type.
#[derive(Clone, Copy)]
pub enum TaskRunner {
    /// Runs code. Whether it changes the host is unknown before it has run.
    Action(for<'a> fn(&'a Values, Context<'a>) -> HostFuture<'a, TaskOutcome>),
    /// Brings a part of the host into a desired state.
    Resource(Resource),
}
