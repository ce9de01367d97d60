//! Results of task execution.

use stoker_model::JsonMap;

use crate::host::{HostError, StopReason};
use crate::output::Mask;

/// Summary of a successful attempt, or the failure.
pub type TaskOutcome = Result<JsonMap, Failure>;

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub cause: FailureCause,
    /// Partial summary.
    pub summary: JsonMap,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// It was executed and failed.
    Failed(String),
    /// It was not started, because the request is invalid.
    Refused(String),
    Stopped(StopReason),
}

impl Failure {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { cause: FailureCause::Failed(message.into()), summary: JsonMap::new() }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { cause: FailureCause::Refused(message.into()), summary: JsonMap::new() }
    }

    pub(crate) fn summary(mut self, summary: JsonMap) -> Self {
        self.summary = summary;
        self
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Stopped(reason) => {
                Self { cause: FailureCause::Stopped(reason), summary: JsonMap::new() }
            }
            other => Self::failed(other.to_string()),
        }
    }
}

/// Masks secrets in messages and summary.
pub fn mask_outcome(outcome: TaskOutcome, mask: &Mask) -> TaskOutcome {
    match outcome {
        Ok(summary) => Ok(mask.map(summary)),
        Err(Failure { cause, summary }) => {
            let cause = match cause {
                FailureCause::Failed(message) => FailureCause::Failed(mask.text(&message)),
                FailureCause::Refused(message) => FailureCause::Refused(mask.text(&message)),
                stopped @ FailureCause::Stopped(_) => stopped,
            };
            Err(Failure { cause, summary: mask.map(summary) })
        }
    }
}
