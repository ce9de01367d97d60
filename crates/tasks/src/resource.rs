//! Resources: parts of a host with a desired state.
//!
//! A resource type implements one function, [`Check`], which compares the host with the desired state and returns the
//! steps that remove the differences. Everything else follows from it: a dry run reports the differences, an attempt
//! performs the steps and checks again. So the report of a dry run equals that of the attempt, and applying a resource
//! twice changes nothing the second time.

use std::time::Duration;

use stoker_model::{Change, HostDifference, TaskReport};

use crate::context::Context;
use crate::host::{HostChange, HostFuture};
use crate::outcome::{Failure, TaskOutcome};
use crate::values::Values;

/// Compares the host with the desired state. Never changes the host.
pub(crate) type Check = for<'a> fn(&'a Values, Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>>;

/// Reports parameters that no host could satisfy. Reads no host.
pub(crate) type Validate = fn(&Values) -> Result<(), Failure>;

/// A resource type.
#[derive(Clone, Copy)]
pub struct Resource {
    pub(crate) check: Check,
    pub(crate) validate: Validate,
    /// Maximum time until the effect of the changes is visible, for example until a started service is active.
    pub(crate) settle: Duration,
}

/// Changes that remove differences together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) differences: Vec<HostDifference>,
    pub(crate) changes: Vec<HostChange>,
    /// Whether the step has no state that a check can see, such as the restart of a service.
    pub(crate) is_action: bool,
}

impl Step {
    pub(crate) fn new(difference: HostDifference, change: HostChange) -> Self {
        Self { differences: vec![difference], changes: vec![change], is_action: false }
    }
}

impl Resource {
    pub(crate) const fn new(check: Check, validate: Validate) -> Self {
        Self { check, validate, settle: Duration::ZERO }
    }

    pub(crate) const fn settle(self, settle: Duration) -> Self {
        Self { settle, ..self }
    }

    /// Brings the host into the desired state, or reports in noop mode what would change.
    pub(crate) async fn converge(self, values: &Values, cx: Context<'_>) -> TaskOutcome {
        let steps = (self.check)(values, cx).await?;
        let diff: Vec<HostDifference> =
            steps.iter().flat_map(|step| step.differences.iter().cloned()).collect();
        for difference in &diff {
            cx.host.log(&describe(difference));
        }
        let report = TaskReport { changed: Some(!steps.is_empty()), diff, ..TaskReport::default() };
        let is_action_only = steps.iter().all(|step| step.is_action);
        perform(steps, cx).await?;
        if !cx.is_noop() && !is_action_only {
            self.verify(values, cx).await.map_err(|failure| failure.report(report.clone()))?;
        }
        Ok(report)
    }

    /// Returns the differences between the host and the desired state. Actions have no state to compare.
    pub(crate) async fn compare(
        self,
        values: &Values,
        cx: Context<'_>,
    ) -> Result<Vec<HostDifference>, Failure> {
        let steps = (self.check)(values, cx).await?;
        Ok(steps.into_iter().filter(|step| !step.is_action).flat_map(|step| step.differences).collect())
    }

    /// Fails if the host differs after all changes were made, because another program changes it back, or because
    /// the change had no effect.
    async fn verify(self, values: &Values, cx: Context<'_>) -> Result<(), Failure> {
        const INTERVAL: Duration = Duration::from_millis(200);
        let mut waited = Duration::ZERO;
        loop {
            let remaining: Vec<String> = self.compare(values, cx).await?.iter().map(describe).collect();
            if remaining.is_empty() {
                return Ok(());
            }
            if waited >= self.settle {
                return Err(Failure::failed(format!(
                    "the node still differs after the change: {}",
                    remaining.join("; ")
                )));
            }
            tokio::time::sleep(INTERVAL).await;
            waited += INTERVAL;
        }
    }
}

/// Makes the changes. A failure reports the steps that were completed; the effect of the failed one is unknown.
async fn perform(steps: Vec<Step>, cx: Context<'_>) -> Result<(), Failure> {
    let mut done = TaskReport::default();
    for step in steps {
        for change in step.changes {
            let outcome = cx.host.change(change).await;
            outcome.map_err(|error| Failure::from(error).report(done.clone()))?;
            done.changed = Some(true);
        }
        done.diff.extend(step.differences);
    }
    Ok(())
}

/// Describes a difference in one line, without the text of a diff.
fn describe(difference: &HostDifference) -> String {
    let HostDifference { subject, attribute, change } = difference;
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
    match change {
        Change::Value { old, new } => format!("{subject}: {attribute} {} → {}", value(old), value(new)),
        Change::Text(text) => {
            let count = |sign: char| text.lines().filter(|line| line.starts_with(sign)).count();
            format!("{subject}: {attribute} changed, {} lines added, {} removed", count('+'), count('-'))
        }
    }
}
