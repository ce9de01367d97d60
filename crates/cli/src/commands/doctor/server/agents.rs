//! Checks that all agents are connected.

use serde_json::Value as Json;
use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, cell};

const CHECK: &str = "agents";
const NAMES_MAX: usize = 10;

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(agents) = remote.get_list(&RestRequest::get("agents")) else { return Vec::new() };
    let Ok(nodes) = remote.get_list(&RestRequest::get("nodes")) else { return Vec::new() };
    vec![evaluate(&agents, &nodes)]
}

/// An agent can be connected to another server of the group; its node is online then.
fn evaluate(agents: &[Json], nodes: &[Json]) -> CheckResult {
    let is_online = |agent: &Json| {
        agent["is_connected"] == true
            || nodes.iter().any(|node| node["id"] == agent["node_id"] && node["online"] == true)
    };
    let offline: Vec<String> =
        agents.iter().filter(|agent| !is_online(agent)).map(|agent| cell(&agent["uid"])).collect();
    if agents.is_empty() {
        return CheckResult::ok(CHECK, "no agent has joined");
    }
    if offline.is_empty() {
        return CheckResult::ok(CHECK, format!("all {} are online", agents.len()));
    }
    let more = if offline.len() > NAMES_MAX { ", …" } else { "" };
    let names = offline.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    CheckResult::warning(
        CHECK,
        format!("{} of {} are offline: {names}{more}", offline.len(), agents.len()),
        "run `systemctl status stoker-agent` and `stoker doctor agent` on the node; delete a decommissioned agent with \
         `DELETE /api/v1/agents/ID`",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::check_result::Level;
    use super::*;

    #[test]
    fn agent_of_another_server_is_online() {
        let agents = [
            json!({"uid": "1", "node_id": 1, "is_connected": true}),
            json!({"uid": "2", "node_id": 2, "is_connected": false}),
        ];
        let nodes = |online| [json!({"id": 2, "online": online})];
        assert_eq!(evaluate(&agents, &nodes(true)).level, Level::Ok);
        let offline = evaluate(&agents, &nodes(false));
        assert_eq!((offline.level, offline.message.as_str()), (Level::Warning, "1 of 2 are offline: 2"));
    }
}
