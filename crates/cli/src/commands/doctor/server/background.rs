//! Background tasks of the server that fail. Only admins see them.

use stoker_api_types::servers::ServerView;
use stoker_client::Request;

use crate::commands::doctor::finding::Finding;
use crate::remote::{Remote, display};

const CHECK: &str = "background tasks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let Ok(servers) = remote.read_list::<ServerView>(&Request::get("servers")) else { return Vec::new() };
    let tasks: Vec<_> =
        servers.iter().filter_map(|server| server.background_tasks.as_ref()).flatten().collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    let failing: Vec<Finding> = tasks
        .iter()
        .filter(|task| task.is_failing)
        .map(|task| {
            let message = format!(
                "the latest pass of `{}` failed at {}: {}",
                display(&task.name),
                display(task.failed_at.as_deref().unwrap_or_default()),
                display(task.error.as_deref().unwrap_or_default())
            );
            Finding::warning(CHECK, message, "look at the log of the server; the task retries by itself")
        })
        .collect();
    if failing.is_empty() {
        return vec![Finding::ok(CHECK, format!("{} are running and none fails", tasks.len()))];
    }
    failing
}
