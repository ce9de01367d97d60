//! Event log of runs, and the leases that decide which server may append to it.
//!
//! Each acquisition of a run lease increments its `lease_generation`, which serves as a fencing token: writes
//! with an older generation fail with [`StoreError::Stale`].

use std::collections::HashSet;

use stoker_model::{Actor, Json, Micros, PlanId, RunEvent, RunExecution, RunId};

use crate::sql::{Args, Bulk, Record as _, Values, read_column, record};
use crate::{Session, Store, StoreError, WriteTransaction};

const WORK: &str = "run_work";
const EVENTS: &str = "run_events";

const HOLD: &str = "UPDATE run_work SET lease_until = updates.lease_until FROM updates \
     WHERE run_work.run_id = updates.run_id AND run_work.lease_generation = updates.lease_generation \
     RETURNING run_work.run_id AS run_id";

record! {
    RunExecution in "run_work", "work of the run" { run_id, plan_id, options, owner, lease_generation, lease_until }
}

// The column `run_id` is not part of the record: queries bind it separately.
record! {
    RunEvent in "run_events", "event of the run" { seq, at, kind, instance, body }
}

impl Store {
    /// Acquires the lease of a run until `until`, unless another owner holds it at `now`. Returns the new
    /// lease generation, or `None`.
    pub async fn run_lease_acquire(
        &self,
        run: RunId,
        owner: &str,
        now: Micros,
        until: Micros,
    ) -> Result<Option<i64>, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let sql = format!(
            "UPDATE {WORK} SET owner = $1, lease_until = $2, lease_generation = lease_generation + 1 \
             WHERE run_id = $3 AND (lease_until IS NULL OR lease_until <= $4 OR owner = $1) RETURNING lease_generation"
        );
        let args = Args::new().text(owner).int(until.0).int(run.0).int(now.0);
        let row = writing.connection.fetch_optional(sql, args).await?;
        let generation = row.map(|row| row.get(WORK, "lease_generation")).transpose()?;
        writing.commit_unaudited().await?;
        Ok(generation)
    }

    /// Renews the lease of a run, or releases it (`None`). Fails with [`StoreError::Stale`] if the lease was
    /// lost.
    pub async fn run_lease_renew(
        &self,
        run: RunId,
        generation: i64,
        now: Micros,
        until: Option<Micros>,
    ) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let sql = format!("UPDATE {WORK} SET lease_until = $1 WHERE run_id = $2 AND lease_generation = $3");
        let args = Args::new().opt_int(until.map(|until| until.0)).int(run.0).int(generation);
        if writing.connection.execute(sql, args).await? != 1 {
            return Err(writing.lease_lost_error(run).await?);
        }
        writing.commit_unaudited().await
    }
}

impl Store {
    /// Renews several run leases atomically, each with the generation it was acquired with. Returns the runs
    /// whose lease is still held; the others were lost.
    pub async fn run_leases_renew(
        &self,
        runs: &[(RunId, i64)],
        now: Micros,
        until: Micros,
    ) -> Result<HashSet<RunId>, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let row = |(run, generation): &(RunId, i64)| {
            Values::new().set("run_id", run).set("lease_generation", generation).set("lease_until", &until)
        };
        let rows = writing.connection.update_many(runs.iter().map(row).collect(), HOLD).await?;
        let ids = read_column(&rows, WORK, "run_id")?;
        writing.commit_unaudited().await?;
        Ok(ids)
    }
}

impl Session {
    pub async fn run_work(&mut self, run: RunId) -> Result<Option<RunExecution>, StoreError> {
        self.get_where("run_id = $1", Args::new().int(run.0)).await
    }

    /// Returns the unfinished runs whose lease is free, expired or held by `owner` at `now`, oldest first.
    pub async fn run_work_unowned(
        &mut self,
        owner: &str,
        now: Micros,
    ) -> Result<Vec<RunExecution>, StoreError> {
        let sql = format!(
            "SELECT {} FROM {WORK} w JOIN runs r ON r.id = w.run_id \
             WHERE r.status IN ('pending', 'running') AND (w.lease_until IS NULL OR w.lease_until <= $1 OR w.owner = $2) ORDER BY w.run_id",
            RunExecution::table().select_list_of("w", "")
        );
        self.read_all(sql, Args::new().int(now.0).text(owner)).await
    }

    /// Returns the sequence number of the last event of the run, and whether the run is paused according to
    /// its events.
    pub async fn run_events_now(&mut self, run: RunId) -> Result<(i64, bool), StoreError> {
        let last = self.run_event_last(run).await?;
        let sql = format!(
            "SELECT kind FROM {EVENTS} WHERE run_id = $1 AND kind IN ('paused', 'resumed') ORDER BY seq DESC LIMIT 1"
        );
        let row = self.connection.fetch_optional(sql, Args::new().int(run.0)).await?;
        let is_paused =
            row.map_or(Ok(false), |row| row.get(EVENTS, "kind").map(|kind: String| kind == "paused"))?;
        Ok((last, is_paused))
    }

    /// Returns up to `limit` events with a sequence number greater than `after`, in order.
    pub async fn run_events(
        &mut self,
        run: RunId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<RunEvent>, StoreError> {
        let sql = format!(
            "{} WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT {limit}",
            RunEvent::table().select_sql()
        );
        self.read_all(sql, Args::new().int(run.0).int(after)).await
    }

    /// Returns the events of one task instance, in order.
    pub async fn run_events_of(&mut self, run: RunId, instance: i64) -> Result<Vec<RunEvent>, StoreError> {
        let sql =
            format!("{} WHERE run_id = $1 AND instance = $2 ORDER BY seq", RunEvent::table().select_sql());
        self.read_all(sql, Args::new().int(run.0).int(instance)).await
    }

    /// Returns the sequence number of the run's last event; 0 if it has none.
    pub async fn run_event_last(&mut self, run: RunId) -> Result<i64, StoreError> {
        let sql = format!("SELECT coalesce(max(seq), 0) AS n FROM {EVENTS} WHERE run_id = $1");
        self.number(sql, Args::new().int(run.0)).await
    }
}

impl WriteTransaction {
    /// Fails with [`StoreError::Stale`] unless the run lease still has this generation. Call before other
    /// writes of the transaction.
    pub async fn run_lease_require(&mut self, run: RunId, generation: i64) -> Result<(), StoreError> {
        let sql = format!("SELECT 1 FROM {WORK} WHERE run_id = $1 AND lease_generation = $2");
        if self.exists(sql, Args::new().int(run.0).int(generation)).await? {
            return Ok(());
        }
        Err(self.lease_lost_error(run).await?)
    }

    /// Creates the work record of a run, without a lease owner.
    pub async fn run_work_create(&mut self, run: RunId, options: &Json) -> Result<(), StoreError> {
        let values =
            Values::new().set("run_id", &run).set("options", options).set("lease_generation", &0_i64);
        match self.connection.insert(WORK, values, "ON CONFLICT (run_id) DO NOTHING").await? {
            1 => Ok(()),
            _ => Err(StoreError::AlreadyExists { what: "work of the run" }),
        }
    }

    /// Sets the plan that the run executes. The plan can be set only once.
    pub async fn run_work_plan(
        &mut self,
        run: RunId,
        generation: i64,
        plan: PlanId,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE {WORK} SET plan_id = $1 WHERE run_id = $2 AND lease_generation = $3 AND plan_id IS NULL"
        );
        let args = Args::new().int(plan.0).int(run.0).int(generation);
        match self.connection.execute(sql, args).await? {
            1 => Ok(()),
            _ => Err(self.lease_lost_error(run).await?),
        }
    }

    /// Revokes the lease of a run by incrementing its generation, so that the owner can no longer append
    /// events. Returns whether the run has a work record.
    pub async fn run_lease_revoke(&mut self, run: RunId) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE {WORK} SET owner = NULL, lease_until = NULL, lease_generation = lease_generation + 1 \
             WHERE run_id = $1"
        );
        Ok(self.connection.execute(sql, Args::new().int(run.0)).await? == 1)
    }

    /// Appends events. Fails with [`StoreError::Stale`] if the run lease was lost.
    pub(crate) async fn run_events_append(
        &mut self,
        run: RunId,
        generation: i64,
        events: &[RunEvent],
    ) -> Result<(), StoreError> {
        self.run_lease_require(run, generation).await?;
        let bulk = Bulk::of(&Values::new().set("run_id", &run), events);
        self.connection.insert_many(EVENTS, bulk, "").await?;
        Ok(())
    }

    async fn lease_lost_error(&mut self, run: RunId) -> Result<StoreError, StoreError> {
        Ok(match self.run_work(run).await? {
            Some(work) => StoreError::Stale { current: work.lease_generation },
            None => StoreError::NotFound { what: "work of the run" },
        })
    }
}
