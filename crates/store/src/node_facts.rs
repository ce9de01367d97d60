//! Facts that users uploaded for nodes, beside those that agents report.

use std::collections::HashMap;

use stoker_model::{NodeFacts, NodeId};

use crate::sql::{Record as _, Values, record};
use crate::{Session, StoreError, WriteTransaction};

record! {
    NodeFacts in "node_facts", "facts of a node" { node_id, uploaded, reported }
}

impl Session {
    /// Returns the facts of those of the nodes for which facts were uploaded.
    pub async fn node_facts(&mut self, ids: &[NodeId]) -> Result<HashMap<NodeId, NodeFacts>, StoreError> {
        let (conditions, args) = self.select().and_ids("node_id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("{}{conditions}", NodeFacts::table().select_sql());
        let rows: Vec<NodeFacts> = self.read_all(sql, args).await?;
        Ok(rows.into_iter().map(|facts| (facts.node_id, facts)).collect())
    }
}

impl WriteTransaction {
    pub async fn node_facts_put(&mut self, facts: &NodeFacts) -> Result<(), StoreError> {
        let replace =
            "ON CONFLICT (node_id) DO UPDATE SET uploaded = excluded.uploaded, reported = excluded.reported";
        self.connection.insert("node_facts", Values::of(facts), replace).await?;
        Ok(())
    }
}
