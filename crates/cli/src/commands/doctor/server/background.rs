//! Checks for failing background tasks of the server. Only admins can list these tasks.

use stoker_api_types::servers::ServerView;
use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, display};

const CHECK: &str = "background tasks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(servers) = remote.read_list::<ServerView>(&RestRequest::get("servers")) else { return Vec::new() };
    findings(&servers)
}

/// Checks the response of `GET servers`.
fn findings(servers: &[ServerView]) -> Vec<CheckResult> {
    let tasks: Vec<_> =
        servers.iter().filter_map(|server| server.background_tasks.as_ref()).flatten().collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    let failing: Vec<CheckResult> = tasks
        .iter()
        .filter(|task| task.is_failing)
        .map(|task| {
            let message = format!(
                "the latest pass of `{}` failed at {}: {}",
                display(&task.name),
                display(task.failed_at.as_deref().unwrap_or_default()),
                display(task.error.as_deref().unwrap_or_default())
            );
            CheckResult::warning(CHECK, message, "look at the log of the server; the task retries by itself")
        })
        .collect();
    if failing.is_empty() {
        return vec![CheckResult::ok(CHECK, format!("{} are running and none fails", tasks.len()))];
    }
    failing
}

#[cfg(test)]
mod tests {
    use stoker_api_types::servers::BackgroundTaskView;

    use super::*;
    use crate::commands::doctor::check_result::Level;

    fn server(background_tasks: Option<Vec<BackgroundTaskView>>) -> ServerView {
        ServerView {
            id: "embedded".to_owned(),
            name: "one".to_owned(),
            address: "0.0.0.0:8000".to_owned(),
            version: "0.1.0".to_owned(),
            is_alive: true,
            hears_bus: false,
            started_at: String::new(),
            seen_at: String::new(),
            runs: Vec::new(),
            background_tasks,
        }
    }

    fn task(name: &str, is_failing: bool, failed: Option<(&str, &str)>) -> BackgroundTaskView {
        BackgroundTaskView {
            name: name.to_owned(),
            period_seconds: None,
            started_at: None,
            succeeded_at: None,
            failed_at: failed.map(|(at, _)| at.to_owned()),
            error: failed.map(|(_, error)| error.to_owned()),
            n_failures: failed.iter().len() as u64,
            is_failing,
        }
    }

    #[test]
    fn failing_tasks_are_warnings_with_their_error() {
        let found = findings(&[
            server(Some(vec![
                task("leases", false, None),
                task("webhooks", true, Some(("2026-01-31T07:00:00", "disk full"))),
            ])),
            server(Some(vec![task("garbage collection", true, Some(("T", "busy")))])),
        ]);
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
        let found = findings(&[server(Some(vec![task("leases", false, Some(("T", "busy")))]))]);
        assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [Level::Ok]);
        assert!(findings(&[server(None)]).is_empty());
        assert!(findings(&[]).is_empty());
    }
}
