//! Checks that every active run has a driver.

use std::collections::BTreeSet;
use std::time::Duration;

use stoker_api_types::servers::ServerView;
use stoker_api_types::transactions::RunView;
use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::Remote;

const CHECK: &str = "runs";
const IDS_MAX: usize = 10;
/// Maximum time until a new run, or a run whose server just stopped, has a driver. Longer than a takeover.
const TAKEOVER_TIME: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "the command waits between two requests")]
pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Some((n_active, mut orphaned)) = list_runs(remote) else { return Vec::new() };
    if !orphaned.is_empty() {
        std::thread::sleep(TAKEOVER_TIME);
        let Some((_, still_orphaned)) = list_runs(remote) else { return Vec::new() };
        orphaned.retain(|run| still_orphaned.contains(run));
    }
    vec![evaluate(n_active, &orphaned)]
}

/// Returns the number of active runs and those without a driver; `None` without permission to list them.
fn list_runs(remote: &mut Remote<'_>) -> Option<(usize, BTreeSet<i64>)> {
    let active = RestRequest::get("transactions").query("statuses", "pending,running").query("whole", "true");
    let active: Vec<RunView> = remote.read_list(&active).ok()?;
    let servers: Vec<ServerView> = remote.read_list(&RestRequest::get("servers")).ok()?;
    let active: Vec<i64> = active.into_iter().map(|run| run.id).collect();
    let driven = servers.into_iter().flat_map(|server| server.runs).collect();
    Some((active.len(), without_driver(&active, &driven)))
}

fn without_driver(active: &[i64], driven: &BTreeSet<i64>) -> BTreeSet<i64> {
    active.iter().copied().filter(|run| !driven.contains(run)).collect()
}

fn evaluate(n_active: usize, orphaned: &BTreeSet<i64>) -> CheckResult {
    if orphaned.is_empty() {
        return CheckResult::ok(CHECK, format!("all {n_active} active runs have a driver"));
    }
    let more = if orphaned.len() > IDS_MAX { ", …" } else { "" };
    let ids = orphaned.iter().take(IDS_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    CheckResult::warning(
        CHECK,
        format!("{} of {n_active} active runs have no driver: {ids}{more}", orphaned.len()),
        "check the log of the servers; restart a server to take the runs over, or stop one with `stoker run stop ID`",
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::check_result::Level;
    use super::*;

    #[test]
    fn runs_without_a_driver_are_reported() {
        let active = [3, 5, 8];
        let driven = BTreeSet::from([3, 4, 8, 9]);
        let orphaned = without_driver(&active, &driven);
        let finding = evaluate(active.len(), &orphaned);
        assert_eq!(
            (finding.level, finding.message.as_str()),
            (Level::Warning, "1 of 3 active runs have no driver: 5")
        );
        assert!(finding.help.is_some_and(|help| help.contains("stoker run stop")));
        assert!(without_driver(&active[..1], &driven).is_empty());
        assert_eq!(evaluate(1, &BTreeSet::new()).level, Level::Ok);
        let many: BTreeSet<i64> = (1..=40).collect();
        assert!(evaluate(40, &many).message.ends_with("9, 10, …"));
    }
}
