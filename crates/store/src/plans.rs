//! Plans: immutable after creation.

use stoker_model::{Cluster, ClusterId, DocumentId, Json, Micros, NewPlan, PlanId, PlanRecord};

use crate::sql::{Args, Values, read_pairs, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TABLE: &str = "plans";

record! {
    PlanRecord in "plans", "plan" {
        id [auto sort],
        cluster_id,
        graph_type [sort],
        parent_id [sort],
        created_at [sort],
        created_by [sort],
        request,
        n_run [sort],
        n_skip [sort],
        graph_id,
        common_id,
    }
}

impl Session {
    /// Plans of a cluster without their documents.
    pub async fn plan_list(
        &mut self,
        cluster_id: ClusterId,
        list: &List,
    ) -> Result<Page<PlanRecord>, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster_id.0));
        self.list(select, list).await
    }

    pub async fn plan_get(&mut self, id: PlanId) -> Result<Option<PlanRecord>, StoreError> {
        self.get(id.0).await
    }

    /// Returns the serialized plan.
    pub async fn plan_document(&mut self, id: PlanId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT document FROM plans WHERE id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.map(|row| row.get(TABLE, "document")).transpose()
    }

    /// Digests of all inputs of the plan.
    pub async fn plan_inputs(&mut self, id: PlanId) -> Result<Option<Json>, StoreError> {
        let sql = "SELECT inputs FROM plans WHERE id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.map(|row| row.get(TABLE, "inputs")).transpose()
    }

    /// Returns the node-specific document of each node at planning time, by uid.
    pub async fn plan_nodes(&mut self, id: PlanId) -> Result<Vec<(String, DocumentId)>, StoreError> {
        let sql =
            "SELECT node_uid, document_id FROM plan_nodes WHERE plan_id = $1 ORDER BY node_uid".to_owned();
        let rows = self.connection.fetch_all(sql, Args::new().int(id.0)).await?;
        read_pairs(&rows, "plan_nodes", ["node_uid", "document_id"])
    }
}

impl WriteTransaction {
    pub async fn plan_create(&mut self, new: &NewPlan) -> Result<PlanRecord, StoreError> {
        self.require::<Cluster>(new.cluster_id.0).await?;
        if let Some(parent_id) = new.parent_id
            && self.plan_get(parent_id).await?.is_none()
        {
            return Err(StoreError::NotFound { what: "plan" });
        }
        let mut plan = PlanRecord {
            id: PlanId(0),
            cluster_id: new.cluster_id,
            graph_type: new.graph_type.clone(),
            parent_id: new.parent_id,
            created_at: self.now(),
            created_by: self.actor().user_name.clone(),
            request: new.request.clone(),
            n_run: new.n_run,
            n_skip: new.n_skip,
            graph_id: new.graph_id,
            common_id: new.common_id,
        };
        let values = Values::of(&plan).set("inputs", &new.inputs).set("document", &new.document);
        let row = self.connection.insert_returning(TABLE, values, "RETURNING id").await?;
        plan.id = row.ok_or(StoreError::NotFound { what: "plan" })?.get(TABLE, "id")?;
        self.plan_nodes_add(plan.id, &new.nodes).await?;
        Ok(plan)
    }

    async fn plan_nodes_add(&mut self, id: PlanId, nodes: &[(String, DocumentId)]) -> Result<(), StoreError> {
        let row = |(uid, document_id): &(String, DocumentId)| {
            Values::new().set("plan_id", &id).key("node_uid", uid).set("document_id", document_id)
        };
        self.connection.insert_many("plan_nodes", nodes.iter().map(row).collect(), "").await?;
        Ok(())
    }

    /// Deletes a plan with its descendants and garbage-collects states that only they referenced. Fails with
    /// [`StoreError::Referenced`] if a run uses one of them. Returns whether the plan existed.
    pub async fn plan_delete(&mut self, id: PlanId) -> Result<bool, StoreError> {
        // Includes descendants, which are deleted by cascade.
        let used = "WITH RECURSIVE subtree (id) AS (SELECT CAST($1 AS BIGINT) UNION SELECT p.id FROM plans p \
                    JOIN subtree g ON p.parent_id = g.id) SELECT 1 FROM run_work WHERE plan_id IN (SELECT id FROM subtree)";
        if self.exists(used.to_owned(), Args::new().int(id.0)).await? {
            return Err(StoreError::Referenced { what: "run" });
        }
        let sql = "DELETE FROM plans WHERE id = $1".to_owned();
        let existed = self.connection.remove(sql, Args::new().int(id.0)).await? == 1;
        self.states_gc().await?;
        Ok(existed)
    }

    /// Deletes plans created before an instant, except those used by runs and their ancestors, with which they would be
    /// deleted by cascade. Returns their number.
    pub async fn plans_expire(&mut self, before: Micros) -> Result<u64, StoreError> {
        let sql = "DELETE FROM plans WHERE created_at < $1 AND id NOT IN (WITH RECURSIVE used (id) AS \
                   (SELECT plan_id FROM run_work WHERE plan_id IS NOT NULL UNION SELECT p.parent_id FROM plans p \
                   JOIN used u ON p.id = u.id WHERE p.parent_id IS NOT NULL) SELECT id FROM used)"
            .to_owned();
        self.connection.remove(sql, Args::new().int(before.0)).await
    }
}
