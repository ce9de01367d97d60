//! Definition of a task type.

use stoker_engine::blueprint::Executor;
use stoker_engine::session::Mode;
use stoker_model::{JsonMap, TaskReport};

use crate::host::{Host, HostFuture};
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
    pub run: Option<Run>,
    /// Preparation on the master before an attempt is sent.
    pub prepare: Option<Prepare>,
    #[cfg(test)]
    pub(crate) cases: &'static [&'static str],
}

/// Executor of a task type.
#[derive(Clone, Copy)]
pub enum Run {
    /// Does something; only the function knows whether it changes the host.
    Action(for<'a> fn(&'a Values, Context<'a>) -> HostFuture<'a, TaskOutcome>),
    /// Brings a part of the host into a desired state.
    Resource(Resource),
}

/// Execution context of an attempt.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub host: &'a dyn Host,
    /// UID of the node that the task is for.
    pub node: &'a str,
    pub mode: Mode,
    pub debug: bool,
}

impl Context<'_> {
    pub(crate) fn is_noop(&self) -> bool {
        self.mode == Mode::Noop
    }
}

/// Returns a report that consists of one message.
pub(crate) fn message_report(sentence: impl Into<String>) -> TaskReport {
    TaskReport::of_summary(JsonMap::from_iter([("message".to_owned(), sentence.into().into())]))
}
