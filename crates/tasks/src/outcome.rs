//! Results of task execution.

use stoker_model::{JsonMap, TaskReport};

use crate::host::{HostError, StopReason};
use crate::output::Mask;

/// Report of a successful attempt, or the failure.
pub type TaskOutcome = Result<TaskReport, Failure>;

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub cause: FailureCause,
    /// Report up to the failure.
    pub report: Box<TaskReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// The task was executed and failed.
    Failed(String),
    /// The task was not started, because the request is invalid.
    Refused(String),
    Stopped(StopReason),
}

impl Failure {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { cause: FailureCause::Failed(message.into()), report: Box::default() }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { cause: FailureCause::Refused(message.into()), report: Box::default() }
    }

    pub(crate) fn report(mut self, report: TaskReport) -> Self {
        self.report = Box::new(report);
        self
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Stopped(reason) => {
                Self { cause: FailureCause::Stopped(reason), report: Box::default() }
            }
            other => Self::failed(other.to_string()),
        }
    }
}

/// Masks secrets in messages and reports.
pub fn mask_outcome(outcome: TaskOutcome, mask: &Mask) -> TaskOutcome {
    match outcome {
        Ok(report) => Ok(mask.report(report)),
        Err(Failure { cause, report }) => {
            let cause = match cause {
                FailureCause::Failed(message) => FailureCause::Failed(mask.text(&message)),
                FailureCause::Refused(message) => FailureCause::Refused(mask.text(&message)),
                stopped @ FailureCause::Stopped(_) => stopped,
            };
            Err(Failure { cause, report: Box::new(mask.report(*report)) })
        }
    }
}

/// Returns a report that consists of one message.
pub(crate) fn message_report(sentence: impl Into<String>) -> TaskReport {
    TaskReport::of_summary(JsonMap::from_iter([("message".to_owned(), sentence.into().into())]))
}
