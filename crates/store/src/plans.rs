//! Plans: immutable after creation.

use stoker_model::{Cluster, ClusterId, DocumentId, GraphType, Json, Micros, NewPlan, PlanId, PlanRecord};

use crate::sql::{Args, Columns, Many};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TABLE: &str = "plans";
const COLUMNS: &str = "id, cluster_id, graph_type, parent_id, created_at, created_by, request, n_run, n_skip, \
                       graph_id, common_id";
const ORDERS: &[&str] = &["id", "graph_type", "parent_id", "created_at", "created_by", "n_run", "n_skip"];
const NODES: Many<'_> = Many { before: "INSERT INTO plan_nodes (plan_id, node_uid, document_id)", after: "" };

fn read(columns: &mut Columns<'_>) -> Result<PlanRecord, StoreError> {
    Ok(PlanRecord {
        id: PlanId(columns.int()?),
        cluster_id: ClusterId(columns.int()?),
        graph_type: columns.word(|text| GraphType::new(text).ok())?,
        parent_id: columns.opt_int()?.map(PlanId),
        created_at: columns.time()?,
        created_by: columns.text()?,
        request: columns.json()?,
        n_run: columns.int()?,
        n_skip: columns.int()?,
        graph_id: DocumentId(columns.int()?),
        common_id: DocumentId(columns.int()?),
    })
}

impl Session {
    /// Plans of a cluster without their documents.
    pub async fn plan_list(
        &mut self,
        cluster_id: ClusterId,
        list: &List,
    ) -> Result<Page<PlanRecord>, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster_id.0));
        let order = list.order_sql(ORDERS, "id")?;
        let sql = format!("SELECT {COLUMNS} FROM {TABLE}");
        let (rows, total) = self.page(&sql, TABLE, select, &order, list).await?;
        let items = rows.iter().map(|row| read(&mut row.columns(TABLE))).collect::<Result<_, _>>()?;
        Ok(Page { items, total })
    }

    pub async fn plan_get(&mut self, id: PlanId) -> Result<Option<PlanRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLE} WHERE id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.map(|row| read(&mut row.columns(TABLE))).transpose()
    }

    /// The serialized plan.
    pub async fn plan_document(&mut self, id: PlanId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT document FROM plans WHERE id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.map(|row| row.columns(TABLE).bytes()).transpose()
    }

    /// Digests of all inputs of the plan.
    pub async fn plan_inputs(&mut self, id: PlanId) -> Result<Option<Json>, StoreError> {
        let sql = "SELECT inputs FROM plans WHERE id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.map(|row| row.columns(TABLE).json()).transpose()
    }

    /// The node-specific document of each node at planning time, by uid.
    pub async fn plan_nodes(&mut self, id: PlanId) -> Result<Vec<(String, DocumentId)>, StoreError> {
        let sql =
            "SELECT node_uid, document_id FROM plan_nodes WHERE plan_id = $1 ORDER BY node_uid".to_owned();
        let rows = self.connection.fetch_all(sql, Args::new().int(id.0)).await?;
        let read = |row: &crate::sql::Row| {
            let mut columns = row.columns("plan_nodes");
            Ok((columns.text()?, DocumentId(columns.int()?)))
        };
        rows.iter().map(read).collect()
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
        let (created_at, created_by) = (self.now(), self.actor().user_name.clone());
        let args = Args::new()
            .int(new.cluster_id.0)
            .text(new.graph_type.as_str())
            .opt_int(new.parent_id.map(|id| id.0))
            .int(created_at.0)
            .text(&created_by)
            .json(&new.request)
            .int(new.n_run)
            .int(new.n_skip)
            .json(&new.inputs)
            .int(new.graph_id.0)
            .int(new.common_id.0)
            .bytes(&new.document);
        let sql = "INSERT INTO plans (cluster_id, graph_type, parent_id, created_at, created_by, request, n_run, n_skip, \
                   inputs, graph_id, common_id, document) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id";
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?;
        let id = row.map(|row| row.columns(TABLE).int()).transpose()?;
        let id = PlanId(id.ok_or(StoreError::NotFound { what: "plan" })?);
        self.plan_nodes_add(id, &new.nodes).await?;
        Ok(PlanRecord {
            id,
            cluster_id: new.cluster_id,
            graph_type: new.graph_type.clone(),
            parent_id: new.parent_id,
            created_at,
            created_by,
            request: new.request.clone(),
            n_run: new.n_run,
            n_skip: new.n_skip,
            graph_id: new.graph_id,
            common_id: new.common_id,
        })
    }

    async fn plan_nodes_add(&mut self, id: PlanId, nodes: &[(String, DocumentId)]) -> Result<(), StoreError> {
        let rows = nodes.iter().map(|(uid, document_id)| Args::new().int(id.0).key(uid).int(document_id.0));
        self.connection.write_many(NODES, rows.collect()).await?;
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

    /// Deletes plans created before an instant, except those used by runs. Returns their number.
    pub async fn plans_expire(&mut self, before: Micros) -> Result<u64, StoreError> {
        let sql = "DELETE FROM plans WHERE created_at < $1 AND id NOT IN \
                   (SELECT plan_id FROM run_work WHERE plan_id IS NOT NULL)"
            .to_owned();
        self.connection.remove(sql, Args::new().int(before.0)).await
    }
}
