//! Background tasks of the server that fail. Only admins see them.

use serde_json::Value as Json;
use stoker_client::RestRequest;

use crate::commands::doctor::finding::Finding;
use crate::remote::{Remote, cell};

const CHECK: &str = "background tasks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let Ok(answer) = remote.try_send(&RestRequest::get("servers")).and_then(|answer| answer.json()) else {
        return Vec::new();
    };
    findings(&answer)
}

/// Checks the response of `GET servers`.
fn findings(answer: &Json) -> Vec<Finding> {
    let servers = answer.as_array().into_iter().flatten();
    let tasks: Vec<_> =
        servers.filter_map(|server| server["background_tasks"].as_array()).flatten().collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    let failing: Vec<Finding> = tasks
        .iter()
        .filter(|task| task["is_failing"] == true)
        .map(|task| {
            let message = format!(
                "the latest pass of `{}` failed at {}: {}",
                cell(&task["name"]),
                cell(&task["failed_at"]),
                cell(&task["error"])
            );
            Finding::warning(CHECK, message, "look at the log of the server; the task retries by itself")
        })
        .collect();
    if failing.is_empty() {
        return vec![Finding::ok(CHECK, format!("{} are running and none fails", tasks.len()))];
    }
    failing
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::doctor::finding::Level;

    #[test]
    fn failing_tasks_are_warnings_with_their_error() {
        let answer = json!([
            {"background_tasks": [
                {"name": "leases", "is_failing": false, "failed_at": null, "error": null},
                {"name": "webhooks", "is_failing": true, "failed_at": "2026-01-31T07:00:00", "error": "disk full"},
            ]},
            {"background_tasks": [{"name": "garbage collection", "is_failing": true, "failed_at": "T", "error": "busy"}]},
        ]);
        let found = findings(&answer);
        assert!(found.iter().all(|finding| finding.level == Level::Warning), "{found:?}");
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        let expected = "the latest pass of `webhooks` failed at 2026-01-31 07:00:00: disk full";
        assert!(texts[0].contains(expected), "{}", texts[0]);
        assert!(texts[1].contains("`garbage collection` failed"), "{}", texts[1]);
    }

    /// A task that failed before and succeeded since is not failing.
    #[test]
    fn recovered_tasks_are_fine_and_older_servers_are_not_checked() {
        let task = json!({"name": "leases", "is_failing": false, "failed_at": "T", "error": "busy"});
        let found = findings(&json!([{"background_tasks": [task]}]));
        assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [Level::Ok]);
        assert!(findings(&json!([{"name": "one"}])).is_empty());
        assert!(findings(&json!({"message": "forbidden"})).is_empty());
    }
}
