//! Runs: request, status and progress.

use stoker_model::{Cluster, ClusterId, Micros, NewRun, Run, RunId, RunName, RunStatus, TenantId};

use crate::sql::{Args, Values, read_column, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

/// Filter for runs; a field that is `None` matches all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// `Some(None)` selects runs without a cluster.
    pub cluster_id: Option<Option<ClusterId>>,
    /// Runs on clusters of this tenant.
    pub tenant_id: Option<TenantId>,
    pub statuses: Option<Vec<RunStatus>>,
    pub names: Option<Vec<RunName>>,
    /// Parent run; `Some(None)` selects top-level runs.
    pub parent_id: Option<Option<RunId>>,
    pub hidden: Option<bool>,
}

record! {
    Run in "runs", "run" {
        id [auto sort],
        generation [auto],
        uuid [key sort],
        parent_id [sort],
        cluster_id [sort],
        name [sort],
        status [sort],
        progress [sort],
        message,
        result,
        graph_type [sort],
        dry_run [sort],
        started_at [sort],
        ended_at [sort],
        is_hidden,
    }
}

impl Session {
    pub async fn run_list(&mut self, filter: &RunFilter, list: &List) -> Result<Page<Run>, StoreError> {
        let mut select = self
            .select()
            .and_optional("cluster_id", filter.cluster_id.map(|cluster| cluster.map(|id| id.0)))
            .and_optional("parent_id", filter.parent_id.map(|parent| parent.map(|id| id.0)));
        if let Some(tenant_id) = filter.tenant_id {
            let condition = "cluster_id IN (SELECT id FROM clusters WHERE tenant_id = ?)";
            select = select.and(condition, |args| args.int(tenant_id.0));
        }
        if let Some(statuses) = &filter.statuses {
            select = select.and_texts("status", statuses.iter().map(|status| status.as_str()));
        }
        if let Some(names) = &filter.names {
            select = select.and_texts("name", names.iter().map(|name| name.as_str()));
        }
        if let Some(hidden) = filter.hidden {
            select = select.and("is_hidden = ?", |args| args.bool(hidden));
        }
        self.list(select, list).await
    }

    pub async fn run_get(&mut self, id: RunId) -> Result<Option<Run>, StoreError> {
        self.get(id.0).await
    }

    /// Returns the last run with this name on each of these clusters.
    pub async fn runs_last(&mut self, name: RunName, clusters: &[ClusterId]) -> Result<Vec<Run>, StoreError> {
        let of_clusters = self.select().and_ids("cluster_id", clusters.iter().map(|id| id.0));
        let (condition, args) = of_clusters.and("name = ?", |args| args.text(name.as_str())).finish();
        let sql = format!("SELECT max(id) AS id FROM runs{condition} GROUP BY cluster_id");
        let rows = self.connection.fetch_all(sql, args).await?;
        let ids: Vec<i64> = read_column(&rows, "runs", "id")?;
        let select = self.select().and_ids("id", ids);
        Ok(self.list(select, &List::default()).await?.items)
    }

    /// Returns the child runs of a run, in creation order.
    pub async fn run_children(&mut self, id: RunId) -> Result<Vec<Run>, StoreError> {
        let filter = RunFilter { parent_id: Some(Some(id)), ..RunFilter::default() };
        Ok(self.run_list(&filter, &List::default()).await?.items)
    }
}

impl WriteTransaction {
    pub async fn run_create(&mut self, new: &NewRun) -> Result<Run, StoreError> {
        self.run_require_parents(new.parent_id, new.cluster_id).await?;
        let mut run = Run {
            id: RunId(0),
            generation: 1,
            uuid: new.uuid.clone(),
            parent_id: new.parent_id,
            cluster_id: new.cluster_id,
            name: new.name,
            status: new.status,
            progress: new.progress,
            message: new.message.clone(),
            result: new.result.clone(),
            graph_type: new.graph_type.clone(),
            dry_run: new.dry_run,
            started_at: new.started_at,
            ended_at: new.ended_at,
            is_hidden: false,
        };
        let conflict = StoreError::AlreadyExists { what: "run uuid" };
        run.id = RunId(self.insert::<Run>("(uuid)", Values::of(&run)).await?.ok_or(conflict)?);
        Ok(run)
    }

    pub async fn run_update(&mut self, run: &Run) -> Result<Run, StoreError> {
        let others = "SELECT 1 FROM runs WHERE uuid = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&run.uuid).int(run.id.0)).await? {
            return Err(StoreError::AlreadyExists { what: "run uuid" });
        }
        self.run_require_parents(run.parent_id, run.cluster_id).await?;
        let generation = self.replace(run.id.0, run.generation, run).await?;
        Ok(Run { generation, ..run.clone() })
    }

    /// Deletes a run with its child runs and history. Returns whether the run existed.
    pub async fn run_delete(&mut self, id: RunId) -> Result<bool, StoreError> {
        self.delete::<Run>(id.0).await
    }

    /// Deletes runs that ended before an instant, with their child runs and history. Returns the number of
    /// top-level runs.
    pub async fn runs_expire(&mut self, before: Micros) -> Result<u64, StoreError> {
        let sql = "DELETE FROM runs WHERE parent_id IS NULL AND ended_at < $1".to_owned();
        self.connection.execute(sql, Args::new().int(before.0)).await
    }

    async fn run_require_parents(
        &mut self,
        parent_id: Option<RunId>,
        cluster_id: Option<ClusterId>,
    ) -> Result<(), StoreError> {
        if let Some(id) = parent_id {
            self.require::<Run>(id.0).await?;
        }
        match cluster_id {
            Some(id) => self.require::<Cluster>(id.0).await,
            None => Ok(()),
        }
    }
}
