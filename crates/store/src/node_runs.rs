//! What agents and runs do to nodes, many at a time: a fleet comes, and is deployed to, at once.
//!
//! Whoever reads in the transaction in which it writes needs no generation to be right; it counts on all the same, so
//! that somebody who edits the node meanwhile is told.

use std::collections::BTreeMap;

use stoker_model::{Actor, JsonMap, Micros, NewNotification, Node, NodeErrorKind, NodeId, NodeStatus};

use crate::sql::{Args, Many};
use crate::{List, NodeFilter, Store, StoreError, Writing};

const PUT: Many<'_> = Many {
    before: "WITH given (id, status, roles, pending_roles, pending_addition, pending_deletion, error_type, error_msg, \
             progress) AS (",
    after: ") UPDATE nodes SET status = given.status, roles = given.roles, pending_roles = given.pending_roles, \
            pending_addition = given.pending_addition, pending_deletion = given.pending_deletion, \
            error_type = given.error_type, error_msg = given.error_msg, progress = given.progress, \
            generation = generation + 1 FROM given WHERE nodes.id = given.id",
};

const SIGHTED: Many<'_> = Many {
    before: "WITH given (id, online, facts, last_seen_at) AS (",
    after: ") UPDATE nodes SET online = given.online, facts = given.facts, last_seen_at = given.last_seen_at, \
            generation = generation + 1 FROM given WHERE nodes.id = given.id",
};

/// An agent came or went, and perhaps said something about its machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    pub online: bool,
    pub facts: Option<JsonMap>,
}

impl Store {
    /// Notes which agents came and went. What they say about their machines is kept as facts of their nodes; nodes that
    /// are not there, and those of which nothing is new, are left alone. `tell` says what others are told of a node that came
    /// or went. How many webhooks are told.
    pub async fn nodes_sighted(
        &self,
        sightings: &BTreeMap<NodeId, Sighting>,
        now: Micros,
        tell: impl Fn(&Node) -> NewNotification,
    ) -> Result<usize, StoreError> {
        let mut writing = self.change(&Actor::server(), now).await?;
        let filter = NodeFilter { ids: Some(sightings.keys().copied().collect()), ..NodeFilter::default() };
        let (mut rows, mut news) = (Vec::new(), Vec::new());
        for mut node in writing.node_list(&filter, &List::default()).await?.items {
            let Some(Sighting { online, facts }) = sightings.get(&node.id) else { continue };
            let facts = facts.as_ref().filter(|facts| !facts.is_empty()).unwrap_or(&node.facts);
            if node.online != *online || node.facts != *facts {
                rows.push(Args::new().int(node.id.0).bool(*online).map(facts).int(now.0));
            }
            if node.online != *online {
                node.online = *online;
                news.push(tell(&node));
            }
        }
        if rows.is_empty() {
            return Ok(0);
        }
        writing.connection.write_many(SIGHTED, rows).await?;
        let n_told = writing.notifications_add(&news).await?;
        writing.commit_quietly().await?;
        Ok(n_told)
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

impl Writing {
    /// Something is about to be done to nodes; what was wrong with them before is past.
    pub async fn nodes_begin(&mut self, ids: &[NodeId]) -> Result<(), StoreError> {
        let (condition, args) = self.select().and_ids("id", ids.iter().map(|id| id.0)).finish();
        let sql = format!(
            "UPDATE nodes SET status = '{}', progress = 1, error_type = NULL, error_msg = NULL, \
             generation = generation + 1{condition}",
            NodeStatus::Deploying.as_str()
        );
        self.connection.execute(sql, args).await?;
        Ok(())
    }

    /// How far nodes have come; those that are there already stay as they are.
    pub async fn nodes_progress(&mut self, ids: &[NodeId], percent: i64) -> Result<(), StoreError> {
        let select = self.select().and_int("progress <> ?", Some(percent));
        let (condition, args) = select.and_ids("id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("UPDATE nodes SET progress = $1, generation = generation + 1{condition}");
        self.connection.execute(sql, args).await?;
        Ok(())
    }

    /// What became of nodes that were read in this very transaction: status, roles, what is pending, what is wrong and
    /// how far they have come. Nothing else of them is written.
    pub async fn nodes_end(&mut self, nodes: &[Node]) -> Result<(), StoreError> {
        self.connection.write_many(PUT, nodes.iter().map(args).collect()).await?;
        Ok(())
    }
}
