//! Checks for background tasks of the server that fail, ended or hang. Only admins can list these tasks.

use stoker_api_types::servers::{BackgroundTaskView, ServerView};
use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, display};

const CHECK: &str = "background tasks";
const RESTART: &str = "restart the server, and report the bug with its log";

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
    let unhealthy: Vec<CheckResult> = tasks.iter().filter_map(|task| finding(task)).collect();
    if unhealthy.is_empty() {
        return vec![CheckResult::ok(CHECK, format!("{} are running and none fails", tasks.len()))];
    }
    unhealthy
}

/// Returns the most serious finding about a task.
fn finding(task: &BackgroundTaskView) -> Option<CheckResult> {
    let name = display(&task.name);
    let time = |at: &Option<String>| display(at.as_deref().unwrap_or_default());
    let failure =
        format!("{}: {}", time(&task.failed_at), display(task.error.as_deref().unwrap_or_default()));
    if task.has_ended {
        let message = format!("`{name}` ended at {failure}");
        return Some(CheckResult::problem(CHECK, message, RESTART));
    }
    if task.is_overdue {
        let message = match &task.started_at {
            Some(_) => format!("`{name}` hangs: its latest pass began at {}", time(&task.started_at)),
            None => format!("`{name}` hangs before its first pass"),
        };
        return Some(CheckResult::problem(CHECK, message, RESTART));
    }
    let message = format!("the latest pass of `{name}` failed at {failure}");
    let help = "look at the log of the server; the task retries by itself";
    task.is_failing.then(|| CheckResult::warning(CHECK, message, help))
}

#[cfg(test)]
mod tests {
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
            has_ended: false,
            is_overdue: false,
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

    #[test]
    fn ended_and_hanging_tasks_are_problems() {
        let ended = BackgroundTaskView {
            has_ended: true,
            ..task("webhooks", true, Some(("2026-01-31T07:00:00", "the task panicked")))
        };
        let hanging = BackgroundTaskView {
            is_overdue: true,
            started_at: Some("2026-01-31T07:00:00".to_owned()),
            ..task("leases", false, None)
        };
        let found = findings(&[server(Some(vec![ended, hanging, task("task output", false, None)]))]);
        assert!(found.iter().all(|finding| finding.level == Level::Problem), "{found:?}");
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        let expected = [
            "`webhooks` ended at 2026-01-31 07:00:00: the task panicked",
            "`leases` hangs: its latest pass began at 2026-01-31 07:00:00",
        ];
        assert_eq!(messages, expected);
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
