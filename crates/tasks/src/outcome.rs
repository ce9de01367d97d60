//! Results of task execution.

use stoker_model::JsonMap;

use crate::host::{HostError, StopReason};
use crate::output::Mask;

/// Summary of a successful attempt, or the failure.
pub type Outcome = Result<JsonMap, Failure>;

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub cause: Cause,
    /// Partial summary.
    pub summary: JsonMap,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The task was executed and failed.
    Failed(String),
    /// The task was not started, because the request is invalid.
    Refused(String),
    Stopped(StopReason),
}

impl Failure {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { cause: Cause::Failed(message.into()), summary: JsonMap::new() }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { cause: Cause::Refused(message.into()), summary: JsonMap::new() }
    }

    pub(crate) fn summary(mut self, summary: JsonMap) -> Self {
        self.summary = summary;
        self
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Stopped(reason) => Self { cause: Cause::Stopped(reason), summary: JsonMap::new() },
            other => Self::failed(other.to_string()),
        }
    }
}

/// Masks secrets in messages and summary.
pub fn masked(outcome: Outcome, mask: &Mask) -> Outcome {
    match outcome {
        Ok(summary) => Ok(mask.map(summary)),
        Err(Failure { cause, summary }) => {
            let cause = match cause {
                Cause::Failed(message) => Cause::Failed(mask.text(&message)),
                Cause::Refused(message) => Cause::Refused(mask.text(&message)),
                stopped @ Cause::Stopped(_) => stopped,
            };
            Err(Failure { cause, summary: mask.map(summary) })
        }
    }
}
