//! Resources: parts of a host with a desired state.
//!
//! A resource type implements one function, [`Check`], which compares the host with the desired state and returns the
//! steps that remove the differences. Everything else follows from it: a dry run reports the differences, an attempt
//! performs the steps and checks again. So the report of a dry run equals that of the attempt, and applying a resource
//! twice changes nothing the second time.

use stoker_model::{Change, HostDifference, TaskReport};

use crate::context::Context;
use crate::host::{HostChange, HostFuture};
use crate::outcome::{Failure, TaskOutcome};
use crate::values::Values;

/// Compares the host with the desired state. Never changes the host.
pub(crate) type Check = for<'a> fn(&'a Values, Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>>;

/// Returns changes that bring up to date what the check reads, such as package lists. They are no part of the desired state,
/// and a dry run omits them.
pub(crate) type Refresh =
    for<'a> fn(&'a Values, Context<'a>) -> HostFuture<'a, Result<Vec<HostChange>, Failure>>;

/// Reports parameters that no host could satisfy. Reads no host.
pub(crate) type Validate = fn(&Values) -> Result<(), Failure>;

/// A resource type.
#[derive(Clone, Copy)]
pub struct Resource {
    pub(crate) check: Check,
    pub(crate) validate: Validate,
    /// Changes that precede the first check.
    pub(crate) refresh: Option<Refresh>,
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
        Self { check, validate, refresh: None }
    }

    pub(crate) const fn refresh(self, refresh: Refresh) -> Self {
        Self { refresh: Some(refresh), ..self }
    }

    /// Brings the host into the desired state, or reports in noop mode what would change.
    pub(crate) async fn converge(self, values: &Values, cx: Context<'_>) -> TaskOutcome {
        if let Some(refresh) = self.refresh.filter(|_| !cx.is_noop()) {
            for change in refresh(values, cx).await? {
                cx.host.change(change).await?;
            }
        }
        let steps = (self.check)(values, cx).await?;
        let diff: Vec<HostDifference> =
            steps.iter().flat_map(|step| step.differences.iter().cloned()).collect();
        for difference in &diff {
            cx.host.log(&describe(difference));
        }
        let report =
            TaskReport { changed: Some(!steps.is_empty()), diff: bounded(diff), ..TaskReport::default() };
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
        let remaining: Vec<String> = self.compare(values, cx).await?.iter().map(describe).collect();
        if remaining.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(format!("the node still differs after the change: {}", remaining.join("; "))))
    }
}

/// Makes the changes. A failure reports the steps that were completed; the effect of the failed one is unknown.
async fn perform(steps: Vec<Step>, cx: Context<'_>) -> Result<(), Failure> {
    let mut done = TaskReport::default();
    for step in steps {
        for change in step.changes {
            let outcome = cx.host.change(change).await;
            outcome.map_err(|error| {
                Failure::from(error).report(TaskReport { diff: bounded(done.diff.clone()), ..done.clone() })
            })?;
            done.changed = Some(true);
        }
        done.diff.extend(step.differences);
    }
    Ok(())
}

/// Maximum number of differences in a report. With [`DIFF_TEXTS_BYTES_MAX`] a report fits into the message of a result.
const DIFFERENCES_MAX: usize = 1000;
/// Maximum size of all unified diffs in a report.
const DIFF_TEXTS_BYTES_MAX: usize = 128 << 10;

/// Shortens the differences of a report: of later diffs only the numbers of lines remain, and further differences are counted.
fn bounded(mut diff: Vec<HostDifference>) -> Vec<HostDifference> {
    let n_more = diff.len().saturating_sub(DIFFERENCES_MAX);
    diff.truncate(DIFFERENCES_MAX);
    let mut n_bytes = 0;
    for difference in &mut diff {
        if let Change::Text(text) = &difference.change {
            n_bytes += text.len();
            if n_bytes > DIFF_TEXTS_BYTES_MAX {
                let (n_added, n_removed) = count_lines(text);
                let (old, new) = (format!("{n_removed} lines removed"), format!("{n_added} lines added"));
                difference.change = Change::Value { old: Some(old), new: Some(new) };
            }
        }
    }
    if n_more > 0 {
        diff.push(HostDifference::value("…", "further differences", None, Some(n_more.to_string())));
    }
    diff
}

/// Returns the numbers of added and removed lines of a unified diff.
fn count_lines(diff: &str) -> (usize, usize) {
    let count = |sign: char| diff.lines().filter(|line| line.starts_with(sign)).count();
    (count('+'), count('-'))
}

/// Describes a difference in one line, without the text of a diff.
fn describe(difference: &HostDifference) -> String {
    let HostDifference { subject, attribute, change } = difference;
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
    match change {
        Change::Value { old, new } => format!("{subject}: {attribute} {} → {}", value(old), value(new)),
        Change::Text(text) => {
            let (n_added, n_removed) = count_lines(text);
            format!("{subject}: {attribute} changed, {n_added} lines added, {n_removed} removed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_bounded_and_keep_their_subjects() {
        let text = |idx: usize| HostDifference::text(format!("/f{idx}"), "content", "+a\n".repeat(5_000));
        let long = bounded((0..100).map(text).collect());
        assert_eq!(long.len(), 100);
        let texts = long.iter().filter(|difference| matches!(difference.change, Change::Text(_))).count();
        assert_eq!(texts, DIFF_TEXTS_BYTES_MAX / 15_000);
        let (old, new) = (Some("0 lines removed".to_owned()), Some("5000 lines added".to_owned()));
        assert_eq!(long[99], HostDifference::value("/f99", "content", old, new));

        let value = |idx: usize| HostDifference::value(format!("/f{idx}"), "mode", None, None);
        let many = bounded((0..1_500).map(value).collect());
        assert_eq!(many.len(), DIFFERENCES_MAX + 1);
        let further = Some("500".to_owned());
        assert_eq!(many.last(), Some(&HostDifference::value("…", "further differences", None, further)));
        let size =
            |diff: &[HostDifference]| diff.iter().map(|it| it.to_json().to_string().len()).sum::<usize>();
        assert!(size(&long) < 200 << 10 && size(&many) < 200 << 10);
    }
}
