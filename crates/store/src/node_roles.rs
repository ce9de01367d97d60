//! Roles of nodes, read without the node records, whose inventories are large.

use std::collections::BTreeSet;

use stoker_model::ClusterId;

use crate::sql::read_pairs;
use crate::{Session, StoreError};

impl Session {
    /// Returns the assigned and pending roles of the nodes in these clusters.
    pub async fn roles_in_use(&mut self, clusters: &[ClusterId]) -> Result<BTreeSet<String>, StoreError> {
        let ids = clusters.iter().map(|id| id.0);
        let (condition, args) = self.select().and_ids("cluster_id", ids).finish();
        let sql = format!("SELECT DISTINCT roles, pending_roles FROM nodes{condition}");
        let rows = self.connection.fetch_all(sql, args).await?;
        let lists: Vec<(Vec<String>, Vec<String>)> = read_pairs(&rows, "nodes", ["roles", "pending_roles"])?;
        Ok(lists.into_iter().flat_map(|(roles, pending)| roles.into_iter().chain(pending)).collect())
    }
}
