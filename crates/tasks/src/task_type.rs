//! What a task type is.

use stoker_engine::blueprint::RunsOn;
use stoker_engine::session::Mode;
use stoker_model::JsonMap;

use crate::host::{Host, Work};
use crate::outcome::Outcome;
use crate::parameter::Parameter;
use crate::prepare::Prepare;
use crate::values::Values;

/// One kind of work.
pub struct TaskType {
    pub name: &'static str,
    /// A line.
    pub about: &'static str,
    /// Paragraphs, in Markdown.
    pub reference: &'static str,
    /// Whose agent carries it out.
    pub runs_on: RunsOn,
    /// Doing it twice is the same as doing it once.
    pub is_idempotent: bool,
    /// What happens where nothing may be touched.
    pub noop: &'static str,
    pub parameters: &'static [Parameter],
    /// A task, in YAML.
    pub example: &'static str,
    /// Absent where there is nothing to be done.
    pub run: Option<Run>,
    /// What the master adds before an attempt leaves.
    pub prepare: Option<Prepare>,
    #[cfg(test)]
    pub(crate) cases: &'static [&'static str],
}

pub(crate) type Run = for<'a> fn(&'a Values, Context<'a>) -> Work<'a, Outcome>;

/// Where an attempt finds itself.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub host: &'a dyn Host,
    /// The node it is for.
    pub node: &'a str,
    pub mode: Mode,
    pub debug: bool,
}

impl Context<'_> {
    pub(crate) fn is_noop(&self) -> bool {
        self.mode == Mode::Noop
    }
}

/// One sentence as a summary.
pub(crate) fn told(sentence: impl Into<String>) -> JsonMap {
    JsonMap::from_iter([("message".to_owned(), sentence.into().into())])
}
