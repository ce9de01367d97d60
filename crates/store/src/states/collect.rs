//! Garbage collection of unreferenced documents.

use crate::sql::Args;
use crate::{StoreError, WriteTransaction};

/// Number of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcStats {
    pub n_documents: u64,
    pub n_parts: u64,
}

impl WriteTransaction {
    /// Deletes snapshots and documents that no plan or applied state references, and pieces that no document references.
    pub async fn states_gc(&mut self) -> Result<GcStats, StoreError> {
        let snapshots = "DELETE FROM state_snapshots WHERE id NOT IN (SELECT snapshot_id FROM plan_snapshots \
                         UNION SELECT snapshot_id FROM applied_states WHERE snapshot_id IS NOT NULL)";
        self.connection.execute(snapshots.to_owned(), Args::new()).await?;
        // Servers of the previous version write successes until they are upgraded.
        let documents = "DELETE FROM state_documents WHERE id NOT IN (SELECT common_id FROM plans UNION SELECT graph_id FROM plans \
                         UNION SELECT document_id FROM plan_nodes UNION SELECT common_id FROM state_snapshots \
                         UNION SELECT graph_id FROM state_snapshots UNION SELECT sources_id FROM state_snapshots \
                         UNION SELECT settled_id FROM state_snapshots \
                         UNION SELECT document_id FROM applied_states WHERE document_id IS NOT NULL \
                         UNION SELECT inputs_id FROM applied_states WHERE inputs_id IS NOT NULL \
                         UNION SELECT common_id FROM successes UNION SELECT document_id FROM successes)";
        let n_documents = self.connection.execute(documents.to_owned(), Args::new()).await?;
        if n_documents == 0 {
            return Ok(GcStats::default());
        }
        let parts = "DELETE FROM state_parts WHERE NOT EXISTS \
                     (SELECT 1 FROM state_document_parts WHERE part_id = state_parts.id)";
        let n_parts = self.connection.execute(parts.to_owned(), Args::new()).await?;
        Ok(GcStats { n_documents, n_parts })
    }
}
