//! Bulk updates of nodes by agents and runs: a whole fleet may connect or be deployed concurrently.
//!
//! These writes do not check the generation, because they read and write in one transaction. They increment
//! it, so that a concurrent edit by a user fails with [`StoreError::Stale`].

use std::collections::BTreeMap;

use stoker_model::{Actor, JsonMap, Micros, NewNotification, Node, NodeFacts, NodeId, NodeStatus};

use crate::sql::Values;
use crate::{List, NodeFilter, Store, StoreError, WriteTransaction};

const UPDATE_OUTCOME: &str = "UPDATE nodes SET status = updates.status, roles = updates.roles, \
     pending_roles = updates.pending_roles, pending_addition = updates.pending_addition, \
     pending_deletion = updates.pending_deletion, error_type = updates.error_type, error_msg = updates.error_msg, \
     progress = updates.progress, generation = generation + 1 FROM updates WHERE nodes.id = updates.id";

const UPDATE_PRESENCE: &str = "UPDATE nodes SET online = updates.online, facts = updates.facts, \
     last_seen_at = updates.last_seen_at, generation = generation + 1 FROM updates WHERE nodes.id = updates.id";

/// The connection state of a node's agent, with facts about its host if the agent reported any.
#[derive(Clone, Debug, PartialEq)]
pub struct PresenceUpdate {
    pub online: bool,
    pub facts: Option<JsonMap>,
}

impl Store {
    /// Updates the connection state and facts of nodes; uploaded facts take precedence over reported ones. Missing and unchanged nodes are skipped. `notification`
    /// creates the notification for a node that went online or offline. Returns the number of queued webhook
    /// deliveries.
    pub async fn nodes_update_presence(
        &self,
        updates: &BTreeMap<NodeId, PresenceUpdate>,
        now: Micros,
        notification: impl Fn(&Node) -> NewNotification,
    ) -> Result<usize, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let ids: Vec<NodeId> = updates.keys().copied().collect();
        let mut of_users = writing.node_facts(&ids).await?;
        let filter = NodeFilter { ids: Some(ids), ..NodeFilter::default() };
        let (mut rows, mut notifications) = (Vec::new(), Vec::new());
        for mut node in writing.node_list(&filter, &List::default()).await?.items {
            let Some(PresenceUpdate { online, facts }) = updates.get(&node.id) else { continue };
            let reported = facts.as_ref().filter(|facts| !facts.is_empty());
            let merged = match (reported, of_users.remove(&node.id)) {
                (Some(reported), Some(of_user)) => Some(writing.node_facts_report(of_user, reported).await?),
                _ => None,
            };
            let facts = merged.as_ref().or(reported).unwrap_or(&node.facts);
            if node.online != *online || node.facts != *facts {
                let row = Values::new().set("id", &node.id).set("online", online).set("facts", facts);
                rows.push(row.set("last_seen_at", &now));
            }
            if node.online != *online {
                node.online = *online;
                notifications.push(notification(&node));
            }
        }
        if rows.is_empty() {
            return Ok(0);
        }
        writing.connection.update_many(rows.into_iter().collect(), UPDATE_PRESENCE).await?;
        let n_deliveries = writing.notifications_add(&notifications).await?;
        writing.commit_unaudited().await?;
        Ok(n_deliveries)
    }
}

fn outcome(node: &Node) -> Values {
    Values::new()
        .set("id", &node.id)
        .set("status", &node.status)
        .set("roles", &node.roles)
        .set("pending_roles", &node.pending_roles)
        .set("pending_addition", &node.pending_addition)
        .set("pending_deletion", &node.pending_deletion)
        .set("error_type", &node.error_type)
        .set("error_msg", &node.error_msg)
        .set("progress", &node.progress)
}

impl WriteTransaction {
    /// Records what an agent reported, and returns it merged with the uploaded facts.
    async fn node_facts_report(
        &mut self,
        mut facts: NodeFacts,
        reported: &JsonMap,
    ) -> Result<JsonMap, StoreError> {
        if facts.reported != *reported {
            facts.reported.clone_from(reported);
            self.node_facts_put(&facts).await?;
        }
        Ok(facts.merged())
    }

    /// Marks nodes as deploying and clears their errors.
    pub async fn nodes_start_deploying(&mut self, ids: &[NodeId]) -> Result<(), StoreError> {
        let (condition, args) = self.select().and_ids("id", ids.iter().map(|id| id.0)).finish();
        let sql = format!(
            "UPDATE nodes SET status = '{}', progress = 1, error_type = NULL, error_msg = NULL, \
             generation = generation + 1{condition}",
            NodeStatus::Deploying.as_str()
        );
        self.connection.execute(sql, args).await?;
        Ok(())
    }

    /// Sets the progress of nodes in percent; nodes that have it already are not written.
    pub async fn nodes_progress(&mut self, ids: &[NodeId], percent: i64) -> Result<(), StoreError> {
        let select = self.select().and_int("progress <> ?", Some(percent));
        let (condition, args) = select.and_ids("id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("UPDATE nodes SET progress = $1, generation = generation + 1{condition}");
        self.connection.execute(sql, args).await?;
        Ok(())
    }

    /// Writes status, roles, pending changes, error and progress of nodes read in this transaction. Other
    /// columns are unchanged.
    pub async fn nodes_put_outcome(&mut self, nodes: &[Node]) -> Result<(), StoreError> {
        self.connection.update_many(nodes.iter().map(outcome).collect(), UPDATE_OUTCOME).await?;
        Ok(())
    }
}
