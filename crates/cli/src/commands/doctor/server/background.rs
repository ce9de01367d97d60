//! Background tasks of the server that fail. Only admins see them.

use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, cell};

const CHECK: &str = "background tasks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(answer) = remote.try_send(&RestRequest::get("servers")).and_then(|answer| answer.json()) else {
        return Vec::new();
    };
    let servers = answer.as_array().into_iter().flatten();
    let tasks: Vec<_> =
        servers.filter_map(|server| server["background_tasks"].as_array()).flatten().collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    let failing: Vec<CheckResult> = tasks
        .iter()
        .filter(|task| task["is_failing"] == true)
        .map(|task| {
            let message = format!(
                "the latest pass of `{}` failed at {}: {}",
                cell(&task["name"]),
                cell(&task["failed_at"]),
                cell(&task["error"])
            );
            CheckResult::warning(CHECK, message, "look at the log of the server; the task retries by itself")
        })
        .collect();
    if failing.is_empty() {
        return vec![CheckResult::ok(CHECK, format!("{} are running and none fails", tasks.len()))];
    }
    failing
}
