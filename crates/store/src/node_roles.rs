//! Roles of nodes, read without the node records, whose inventories are large.

use std::collections::BTreeSet;

use stoker_model::ClusterId;

use crate::{Session, StoreError};

impl Session {
    /// Assigned and pending roles of the nodes in these clusters.
    pub async fn roles_in_use(&mut self, clusters: &[ClusterId]) -> Result<BTreeSet<String>, StoreError> {
        let ids = clusters.iter().map(|id| id.0);
        let (condition, args) = self.select().and_ids("cluster_id", ids).finish();
        let sql = format!("SELECT DISTINCT roles, pending_roles FROM nodes{condition}");
        let mut roles = BTreeSet::new();
        for row in self.connection.fetch_all(sql, args).await? {
            let mut columns = row.columns("nodes");
            roles.extend(columns.strings()?);
            roles.extend(columns.strings()?);
        }
        Ok(roles)
    }
}
