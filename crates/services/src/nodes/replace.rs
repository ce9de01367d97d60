//! Replacement of a machine: the applied states of the previous machine are invalid for the new one.

use serde_json::json;
use stoker_model::{Actor, AgentMachine, AgentUid, AuditChange, Json, JsonMap, Node};
use stoker_store::{AppliedScope, Store, StoreError, WriteTransaction};

use crate::clock::Clock;
use crate::error::ServiceResult;
use crate::webhooks::{Replacement, replaced_news};

/// Maximum length of a journal or machine id. Longer values are ignored: they are stored for each agent.
const ID_BYTES_MAX: usize = 128;

/// Journal and machine of an agent, as reported by the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOrigin {
    pub journal_id: Option<String>,
    /// Node that the agent last served with this journal; only in join requests.
    pub journal_node: Option<AgentUid>,
    pub machine_id: Option<String>,
}

impl AgentOrigin {
    pub fn new(journal_id: Option<String>, facts: &JsonMap) -> Self {
        let machine_id = facts.get("machine_id").and_then(Json::as_str).filter(|id| is_usable(id));
        Self {
            journal_id: journal_id.filter(|id| is_usable(id)),
            journal_node: None,
            machine_id: machine_id.map(str::to_owned),
        }
    }

    /// Reports whether a joining agent continues the journal of the previous agent, on the same machine.
    fn continues(&self, uid: &AgentUid, previous: Option<&AgentMachine>) -> bool {
        let served = self.journal_node.as_ref();
        let recorded = previous.and_then(|previous| previous.journal_id.as_ref());
        let has_journal = match (recorded, &self.journal_id) {
            // After a lost response the agent joins again and does not know its node yet.
            (Some(recorded), Some(own)) => recorded == own && served.is_none_or(|served| served == uid),
            (None, Some(_)) => served == Some(uid),
            (_, None) => false,
        };
        has_journal && !previous.is_some_and(|previous| self.is_on_another_machine(previous))
    }

    fn is_on_another_machine(&self, previous: &AgentMachine) -> bool {
        match (&previous.machine_id, &self.machine_id) {
            // Ids of the installed system and of the hardware differ in length and cannot be compared.
            (Some(before), Some(now)) => before.len() == now.len() && before != now,
            _ => false,
        }
    }

    fn into_machine(self, uid: &AgentUid) -> AgentMachine {
        AgentMachine { uid: uid.clone(), journal_id: self.journal_id, machine_id: self.machine_id }
    }
}

fn is_usable(id: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&id.len())
}

/// Records the machine of an agent that joins. Returns whether it replaces the machine of a previous agent, whose
/// applied states are then invalid. `had_agent`: an agent had joined for the node before.
pub async fn note_joined_machine(
    writing: &mut WriteTransaction,
    uid: &AgentUid,
    had_agent: bool,
    origin: AgentOrigin,
) -> Result<bool, StoreError> {
    let previous = writing.agent_machine(uid).await?;
    let had_machine = had_agent || previous.is_some() || writing.applied_exists(uid.as_str()).await?;
    let is_replaced = had_machine && !origin.continues(uid, previous.as_ref());
    writing.agent_machine_put(&origin.into_machine(uid)).await?;
    if is_replaced {
        machine_replaced(writing, uid, Replacement::Joined).await?;
    }
    Ok(is_replaced)
}

/// Records the machine of an agent that connects. An agent that did not join is on another machine if the machine id
/// changed; its applied states are then invalid. Returns whether that is so. The machine of an agent that joined was
/// compared when it joined; only ids that were unknown are recorded.
pub async fn note_connected_machine(
    store: &Store,
    clock: Clock,
    uid: &AgentUid,
    has_joined: bool,
    origin: AgentOrigin,
) -> Result<bool, StoreError> {
    if origin == AgentOrigin::default() {
        return Ok(false);
    }
    let previous = store.read().await?.agent_machine(uid).await?;
    let machine = merged(uid, previous.as_ref(), has_joined, &origin);
    if previous.as_ref() == Some(&machine) {
        return Ok(false);
    }
    let is_replaced =
        !has_joined && previous.as_ref().is_some_and(|previous| origin.is_on_another_machine(previous));
    if !is_replaced {
        store.agent_machine_note(&machine, clock.now()).await?;
        return Ok(false);
    }
    let mut writing = store.begin_write(&Actor::server(), clock.now()).await?;
    writing.agent_machine_put(&machine).await?;
    machine_replaced(&mut writing, uid, Replacement::Connected).await?;
    writing.commit(replaced_change(uid)).await?;
    Ok(true)
}

/// The machine to record for a connected agent. Ids that the agent does not report stay as they are.
fn merged(
    uid: &AgentUid,
    previous: Option<&AgentMachine>,
    has_joined: bool,
    origin: &AgentOrigin,
) -> AgentMachine {
    let reported = origin.clone().into_machine(uid);
    let Some(previous) = previous.cloned() else { return reported };
    let (first, second) = if has_joined { (previous, reported) } else { (reported, previous) };
    AgentMachine {
        uid: first.uid,
        journal_id: first.journal_id.or(second.journal_id),
        machine_id: first.machine_id.or(second.machine_id),
    }
}

/// The audit log entry of a machine that was replaced without a request of a user.
pub fn replaced_change(uid: &AgentUid) -> AuditChange {
    let target = uid.node_id().map_or_else(|| uid.to_string(), |id| format!("node {id}"));
    AuditChange { action: "node.replaced", target, detail: json!({"uid": uid}) }
}

/// Invalidates the applied states of a node or the master, resets a node of a cluster to a newly assigned one, and
/// adds a notification.
async fn machine_replaced(
    writing: &mut WriteTransaction,
    uid: &AgentUid,
    how: Replacement,
) -> Result<(), StoreError> {
    writing.applied_invalidate(&[uid.as_str()], AppliedScope::Everywhere).await?;
    let mut node = match uid.node_id() {
        Some(id) => writing.node_get(id).await?,
        None => None,
    };
    if let Some(node) = node.as_mut().filter(|node| node.cluster_id.is_some()) {
        node.redeploy();
        // A run or a heartbeat may change the node at the same time, so the generation is not compared.
        writing.nodes_put_outcome(std::slice::from_ref(node)).await?;
    }
    let news = replaced_news(node.as_ref(), how, writing.now());
    writing.notification_add(&news).await?;
    Ok(())
}

/// A node that waits for its new machine.
pub struct ReplacedNode {
    pub node: Node,
    /// Digest of the revoked credential, whose connection the caller closes.
    pub digest: Option<String>,
}

/// Prepares a node for another machine: revokes the agent, and invalidates the applied states, so that the next run
/// deploys the machine that joins next.
pub async fn node_replace(mut writing: WriteTransaction, node: Node) -> ServiceResult<ReplacedNode> {
    let uid = AgentUid::from(node.id);
    let digest = writing.agent_digest(&uid).await?;
    writing.node_revoke(node.id).await?;
    // Whichever machine joins next is the announced one and not another replacement.
    writing.agent_machine_delete(&uid).await?;
    machine_replaced(&mut writing, &uid, Replacement::Requested).await?;
    let mut node = writing.node_get(node.id).await?.unwrap_or(node);
    // Runs leave the node out until its new agent connects. The server starts other agents itself when a run needs them.
    if digest.is_some() && node.online {
        node.online = false;
        node = writing.node_update(&node).await?;
    }
    let target = format!("node {}", node.id);
    let detail = json!({"name": node.name, "cluster_id": node.cluster_id.map(|id| id.0)});
    writing.commit(AuditChange { action: "node.replace", target, detail }).await?;
    Ok(ReplacedNode { node, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(journal: Option<&str>, machine: Option<&str>) -> AgentMachine {
        let text = |id: Option<&str>| id.map(str::to_owned);
        AgentMachine { uid: "5".into(), journal_id: text(journal), machine_id: text(machine) }
    }

    fn origin(journal: Option<&str>, node: Option<&str>, machine: Option<&str>) -> AgentOrigin {
        let text = |id: Option<&str>| id.map(str::to_owned);
        AgentOrigin {
            journal_id: text(journal),
            journal_node: node.map(AgentUid::from),
            machine_id: text(machine),
        }
    }

    #[test]
    fn joining_agent_continues_its_own_journal_on_the_same_machine() {
        let uid = AgentUid::from("5");
        let known = machine(Some("j"), Some("m"));
        for (is_same, previous, now) in [
            (true, Some(&known), origin(Some("j"), Some("5"), Some("m"))),
            (true, Some(&known), origin(Some("j"), None, Some("m"))),
            (true, Some(&known), origin(Some("j"), Some("5"), None)),
            (true, Some(&known), origin(Some("j"), Some("5"), Some("longer"))),
            (false, Some(&known), origin(Some("j"), Some("5"), Some("n"))),
            (false, Some(&known), origin(Some("j"), Some("6"), Some("m"))),
            (false, Some(&known), origin(Some("k"), Some("5"), Some("m"))),
            (false, Some(&known), origin(None, None, Some("m"))),
            (true, Some(&machine(None, Some("m"))), origin(Some("j"), Some("5"), Some("m"))),
            (false, Some(&machine(None, Some("m"))), origin(Some("j"), Some("5"), Some("n"))),
            (true, None, origin(Some("j"), Some("5"), None)),
            (false, None, origin(Some("j"), None, None)),
            (false, None, origin(Some("j"), Some("6"), None)),
            (false, None, origin(None, None, None)),
        ] {
            assert_eq!(now.continues(&uid, previous), is_same, "{previous:?} {now:?}");
        }
    }

    #[test]
    fn unusable_ids_are_ignored() {
        let facts = |id: Json| JsonMap::from_iter([("machine_id".to_owned(), id)]);
        let long = "x".repeat(ID_BYTES_MAX + 1);
        for (journal, id) in
            [(Some(long.clone()), json!(long)), (Some(String::new()), json!(5)), (None, json!(""))]
        {
            assert_eq!(AgentOrigin::new(journal, &facts(id)), AgentOrigin::default());
        }
    }
}
