//! Executor of `wait_for`.

use std::time::Duration;

use stoker_model::TaskReport;

use super::spec::{Condition, Spec};
use crate::context::Context;
use crate::host::{FileKind, HostFuture};
use crate::outcome::{Failure, TaskOutcome, message_report};
use crate::values::Values;

const INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let mut waited = Duration::ZERO;
        loop {
            let (is_met, finding) = check(&spec.condition, cx).await?;
            let unchanged = |message: String| TaskReport { changed: Some(false), ..message_report(message) };
            if is_met != spec.is_absent {
                return Ok(unchanged(finding));
            }
            if cx.is_noop() {
                return Ok(unchanged(format!("would wait: {finding}")));
            }
            if waited + INTERVAL > spec.patience {
                let message = format!("waited {} seconds: {finding}", waited.as_secs());
                return Err(Failure::failed(message).report(unchanged(finding)));
            }
            tokio::time::sleep(INTERVAL).await;
            waited += INTERVAL;
        }
    })
}

/// Returns whether the condition is true, and what was found.
async fn check(condition: &Condition, cx: Context<'_>) -> Result<(bool, String), Failure> {
    let (path, regexp) = match condition {
        Condition::Probe(probe) => {
            let result = cx.host.probe(probe).await?;
            return Ok((result.is_met, result.finding));
        }
        Condition::File(path, regexp) => (path, regexp),
    };
    let file = path.display();
    let Some(entry) = cx.host.inspect(path).await? else {
        return Ok((false, format!("`{file}` does not exist")));
    };
    let Some(regexp) = regexp else { return Ok((true, format!("`{file}` exists"))) };
    let FileKind::File { .. } = entry.kind else {
        return Err(Failure::failed(format!("`{file}` is {}, not a file", entry.kind.name())));
    };
    let data = cx.host.read(path).await?;
    let is_match = String::from_utf8_lossy(&data).lines().any(|line| regexp.is_match(line));
    let verb = if is_match { "matches" } else { "does not match" };
    Ok((is_match, format!("`{file}` {verb} `{regexp}`")))
}
