//! Runs that somebody should carry out.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value as Json;
use stoker_client::Request;

use crate::commands::doctor::finding::Finding;
use crate::remote::Remote;

const CHECK: &str = "runs";
const NAMED_MAX: usize = 10;
/// A run that was started just now, or whose server went just now, is taken up within this.
const PAUSE: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "a command that looks twice waits in between")]
pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let Some((n_active, mut idle)) = look(remote) else { return Vec::new() };
    if !idle.is_empty() {
        std::thread::sleep(PAUSE);
        let Some((_, still)) = look(remote) else { return Vec::new() };
        idle.retain(|run| still.contains(run));
    }
    vec![judge(n_active, &idle)]
}

/// How many runs have not ended, and which of them nobody holds. Nothing where one may not ask.
fn look(remote: &mut Remote<'_>) -> Option<(usize, BTreeSet<i64>)> {
    let active = Request::get("transactions").query("statuses", "pending,running").query("whole", "true");
    let active = remote.get_list(&active).ok()?;
    let servers = remote.get_list(&Request::get("servers")).ok()?;
    Some((active.len(), without_driver(&active, &servers)))
}

fn without_driver(active: &[Json], servers: &[Json]) -> BTreeSet<i64> {
    let runs = servers.iter().filter_map(|server| server["runs"].as_array()).flatten();
    let held: BTreeSet<i64> = runs.filter_map(Json::as_i64).collect();
    active.iter().filter_map(|run| run["id"].as_i64()).filter(|run| !held.contains(run)).collect()
}

fn judge(n_active: usize, idle: &BTreeSet<i64>) -> Finding {
    if idle.is_empty() {
        return Finding::ok(CHECK, format!("all {n_active} that have not ended are carried out"));
    }
    let more = if idle.len() > NAMED_MAX { ", …" } else { "" };
    let named = idle.iter().take(NAMED_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Finding::warning(
        CHECK,
        format!("{} of {n_active} are carried out by no server: {named}{more}", idle.len()),
        "the log of a server says why (`runs that nobody carries out were not looked for`, `the run cannot be carried \
         out`); starting a server again takes them up, and `stoker run stop ID` ends one for good",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::finding::Level;
    use super::*;

    #[test]
    fn a_run_that_no_server_holds_is_named() {
        let active = [json!({"id": 3}), json!({"id": 5}), json!({"id": 8})];
        let servers = [json!({"runs": [3, 4]}), json!({"runs": []}), json!({"runs": [8, 9]})];
        let idle = without_driver(&active, &servers);
        let found = judge(active.len(), &idle);
        assert_eq!(
            (found.level, found.message.as_str()),
            (Level::Warning, "1 of 3 are carried out by no server: 5")
        );
        assert!(found.help.is_some_and(|help| help.contains("stoker run stop")));
        assert!(without_driver(&active[..1], &servers).is_empty());
        assert_eq!(judge(1, &BTreeSet::new()).level, Level::Ok);
        let many: BTreeSet<i64> = (1..=40).collect();
        assert!(judge(40, &many).message.ends_with("9, 10, …"));
    }
}
