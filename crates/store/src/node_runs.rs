//! Bulk updates of nodes by agents and runs: a whole fleet may connect or be deployed concurrently.
//!
//! These writes do not check the generation, because they read and write in one transaction. They still
//! increment it, so that a concurrent edit by a user fails with [`StoreError::Stale`].

use std::collections::BTreeMap;

use stoker_model::{Actor, JsonMap, Micros, NewNotification, Node, NodeErrorKind, NodeId, NodeStatus};

use crate::sql::{Args, Many};
use crate::{List, NodeFilter, Store, StoreError, WriteTransaction};

const UPDATE_OUTCOME: Many<'_> = Many {
    before: "WITH updates (id, status, roles, pending_roles, pending_addition, pending_deletion, error_type, error_msg, \
             progress) AS (",
    after: ") UPDATE nodes SET status = updates.status, roles = updates.roles, pending_roles = updates.pending_roles, \
            pending_addition = updates.pending_addition, pending_deletion = updates.pending_deletion, \
            error_type = updates.error_type, error_msg = updates.error_msg, progress = updates.progress, \
            generation = generation + 1 FROM updates WHERE nodes.id = updates.id",
};

const UPDATE_PRESENCE: Many<'_> = Many {
    before: "WITH updates (id, online, facts, last_seen_at) AS (",
    after: ") UPDATE nodes SET online = updates.online, facts = updates.facts, last_seen_at = updates.last_seen_at, \
            generation = generation + 1 FROM updates WHERE nodes.id = updates.id",
};

/// The connection state of a node's agent, with facts about its host if the agent reported any.
#[derive(Clone, Debug, PartialEq)]
pub struct PresenceUpdate {
    pub online: bool,
    pub facts: Option<JsonMap>,
}

impl Store {
    /// Updates the connection state and facts of nodes. Missing and unchanged nodes are skipped. `tell`
    /// creates the notification for a node that went online or offline. Returns the number of queued webhook
    /// deliveries.
    pub async fn nodes_update_presence(
        &self,
        sightings: &BTreeMap<NodeId, PresenceUpdate>,
        now: Micros,
        tell: impl Fn(&Node) -> NewNotification,
    ) -> Result<usize, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let filter = NodeFilter { ids: Some(sightings.keys().copied().collect()), ..NodeFilter::default() };
        let (mut rows, mut notifications) = (Vec::new(), Vec::new());
        for mut node in writing.node_list(&filter, &List::default()).await?.items {
            let Some(PresenceUpdate { online, facts }) = sightings.get(&node.id) else { continue };
            let facts = facts.as_ref().filter(|facts| !facts.is_empty()).unwrap_or(&node.facts);
            if node.online != *online || node.facts != *facts {
                rows.push(Args::new().int(node.id.0).bool(*online).map(facts).int(now.0));
            }
            if node.online != *online {
                node.online = *online;
                notifications.push(tell(&node));
            }
        }
        if rows.is_empty() {
            return Ok(0);
        }
        writing.connection.write_many(UPDATE_PRESENCE, rows).await?;
        let n_deliveries = writing.notifications_add(&notifications).await?;
        writing.commit_unaudited().await?;
        Ok(n_deliveries)
    }
}

fn args(node: &Node) -> Args {
    Args::new()
        .int(node.id.0)
        .text(node.status.as_str())
        .strings(&node.roles)
        .strings(&node.pending_roles)
        .bool(node.pending_addition)
        .bool(node.pending_deletion)
        .opt_text(node.error_type.map(NodeErrorKind::as_str))
        .opt_text(node.error_msg.as_deref())
        .int(node.progress)
}

impl WriteTransaction {
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
        self.connection.write_many(UPDATE_OUTCOME, nodes.iter().map(args).collect()).await?;
        Ok(())
    }
}
