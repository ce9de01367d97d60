//! For each task and node, the state with which the task last succeeded.

use std::collections::BTreeMap;

use stoker_model::{Cluster, ClusterId, DocumentId, SuccessGroup, TaskSuccess};

use crate::sql::{Args, Dialect, Many};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "successes";
const PUT: Many<'_> = Many {
    before: "INSERT INTO successes (cluster_id, node_uid, task_name, common_id, document_id, run_id)",
    after: "ON CONFLICT (cluster_id, node_uid, task_name) DO UPDATE SET common_id = excluded.common_id, \
           document_id = excluded.document_id, run_id = excluded.run_id",
};

impl Session {
    /// States with which tasks last succeeded on nodes, grouped by equal state: there are many tasks and
    /// nodes, but few distinct states.
    pub async fn last_successful_states(
        &mut self,
        cluster_id: ClusterId,
        tasks: &[&str],
        nodes: &[&str],
    ) -> Result<Vec<SuccessGroup>, StoreError> {
        let names = match self.connection.dialect() {
            Dialect::Sqlite => "json_group_array(task_name)",
            Dialect::Postgres => "json_agg(task_name)::text",
        };
        let select = self.select().and_int("cluster_id = ?", Some(cluster_id.0));
        let select = select.and_texts("task_name", tasks.iter().copied());
        let (condition, args) = select.and_texts("node_uid", nodes.iter().copied()).finish();
        let sql = format!(
            "SELECT node_uid, common_id, document_id, {names} FROM {TABLE}{condition} \
             GROUP BY node_uid, common_id, document_id ORDER BY node_uid, common_id, document_id"
        );
        let rows = self.connection.fetch_all(sql, args).await?;
        let read = |row: &crate::sql::Row| {
            let mut columns = row.columns(TABLE);
            let mut past = SuccessGroup {
                node_uid: columns.text()?,
                common_id: DocumentId(columns.int()?),
                document_id: DocumentId(columns.int()?),
                tasks: columns.strings()?,
            };
            past.tasks.sort_unstable();
            Ok(past)
        };
        rows.iter().map(read).collect()
    }

    /// Tasks of a cluster that configure plugin repositories (by the suffix of their name), each with the
    /// common document of its last successes. A partial index covers this query.
    pub async fn successes_of_repositories(
        &mut self,
        cluster_id: ClusterId,
    ) -> Result<Vec<(String, DocumentId)>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT task_name, common_id FROM {TABLE} \
             WHERE cluster_id = $1 AND task_name LIKE '%-repository' ORDER BY task_name, common_id"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(cluster_id.0)).await?;
        let read = |row: &crate::sql::Row| {
            let mut columns = row.columns(TABLE);
            Ok((columns.text()?, DocumentId(columns.int()?)))
        };
        rows.iter().map(read).collect()
    }
}

impl WriteTransaction {
    /// Records successes, replacing earlier ones of the same task and node. Within one call the last one
    /// wins.
    pub async fn success_put(
        &mut self,
        cluster_id: ClusterId,
        successes: &[TaskSuccess],
    ) -> Result<(), StoreError> {
        self.require::<Cluster>(cluster_id.0).await?;
        // PostgreSQL rejects an upsert that writes one row twice.
        let last: BTreeMap<(&str, &str), &TaskSuccess> = successes
            .iter()
            .map(|success| ((success.node_uid.as_str(), success.task_name.as_str()), success))
            .collect();
        let rows = last.into_values().map(|success| {
            Args::new()
                .int(cluster_id.0)
                .key(&success.node_uid)
                .key(&success.task_name)
                .int(success.common_id.0)
                .int(success.document_id.0)
                .opt_int(success.run_id.map(|id| id.0))
        });
        self.connection.write_many(PUT, rows.collect()).await?;
        Ok(())
    }

    /// Deletes the successes on some nodes. Returns their number.
    pub async fn successes_delete(
        &mut self,
        cluster_id: ClusterId,
        nodes: &[&str],
    ) -> Result<u64, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster_id.0));
        let (condition, args) = select.and_texts("node_uid", nodes.iter().copied()).finish();
        self.connection.execute(format!("DELETE FROM {TABLE}{condition}"), args).await
    }
}
