//! Agents that should be there.

use serde_json::Value as Json;
use stoker_client::Request;

use crate::commands::doctor::finding::Finding;
use crate::remote::{Remote, cell};

const CHECK: &str = "agents";
const NAMED_MAX: usize = 10;

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let Ok(agents) = remote.get_list(&Request::get("agents")) else { return Vec::new() };
    let Ok(nodes) = remote.get_list(&Request::get("nodes")) else { return Vec::new() };
    vec![judge(&agents, &nodes)]
}

/// With several servers an agent may be with another: then its node is online all the same.
fn judge(agents: &[Json], nodes: &[Json]) -> Finding {
    let is_online = |agent: &Json| {
        agent["is_connected"] == true
            || nodes.iter().any(|node| node["id"] == agent["node_id"] && node["online"] == true)
    };
    let away: Vec<String> =
        agents.iter().filter(|agent| !is_online(agent)).map(|agent| cell(&agent["uid"])).collect();
    if agents.is_empty() {
        return Finding::ok(CHECK, "none has joined");
    }
    if away.is_empty() {
        return Finding::ok(CHECK, format!("all {} are there", agents.len()));
    }
    let more = if away.len() > NAMED_MAX { ", …" } else { "" };
    let named = away.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    Finding::warning(
        CHECK,
        format!("{} of {} are away: {named}{more}", away.len(), agents.len()),
        "on such a node: `systemctl status stoker-agent` and `stoker doctor agent`; one that will never come back: \
         `DELETE /api/v1/agents/ID`",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::finding::Level;
    use super::*;

    #[test]
    fn who_is_with_another_server_is_there() {
        let agents = [
            json!({"uid": "1", "node_id": 1, "is_connected": true}),
            json!({"uid": "2", "node_id": 2, "is_connected": false}),
        ];
        let nodes = |online| [json!({"id": 2, "online": online})];
        assert_eq!(judge(&agents, &nodes(true)).level, Level::Ok);
        let away = judge(&agents, &nodes(false));
        assert_eq!((away.level, away.message.as_str()), (Level::Warning, "1 of 2 are away: 2"));
    }
}
