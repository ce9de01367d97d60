//! Checks that all agents are connected.

use std::collections::BTreeSet;

use stoker_api_types::agents::AgentView;
use stoker_api_types::nodes::NodeView;
use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, sanitize};

const CHECK: &str = "agents";
const NAMES_MAX: usize = 10;

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(agents) = remote.read_list::<AgentView>(&RestRequest::get("agents")) else { return Vec::new() };
    let Ok(nodes) = remote.read_list::<NodeView>(&RestRequest::get("nodes")) else { return Vec::new() };
    let online: BTreeSet<i64> = nodes.iter().filter(|node| node.online).map(|node| node.id).collect();
    vec![evaluate(&agents, &online)]
}

/// Checks the agents. An agent can be connected to another server of the group; its node is then online.
fn evaluate(agents: &[AgentView], online_nodes: &BTreeSet<i64>) -> CheckResult {
    let is_online = |agent: &AgentView| {
        agent.is_connected || agent.node_id.is_some_and(|node| online_nodes.contains(&node))
    };
    let offline: Vec<String> =
        agents.iter().filter(|agent| !is_online(agent)).map(|agent| sanitize(agent.uid.as_str())).collect();
    if agents.is_empty() {
        return CheckResult::ok(CHECK, "no agent has joined yet");
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
    use super::super::super::check_result::Level;
    use super::*;

    #[test]
    fn agent_of_another_server_is_online() {
        let agent = |id: i64, is_connected| AgentView {
            id,
            uid: id.to_string().into(),
            node_id: Some(id),
            version: String::new(),
            joined_at: String::new(),
            last_seen_at: None,
            is_connected,
        };
        let agents = [agent(1, true), agent(2, false)];
        assert_eq!(evaluate(&agents, &BTreeSet::from([2])).level, Level::Ok);
        let offline = evaluate(&agents, &BTreeSet::new());
        assert_eq!((offline.level, offline.message.as_str()), (Level::Warning, "1 of 2 are offline: 2"));
    }
}
