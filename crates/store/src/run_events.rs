//! What happened in runs, and who may add to it.

use std::collections::HashSet;

use stoker_model::{Actor, Json, Micros, PlanId, RunEvent, RunId, RunWork};

use crate::sql::{Args, Columns, Many, Row};
use crate::{Session, Store, StoreError, Writing};

const WORK: &str = "run_work";
const WORK_COLUMNS: &str = "run_id, plan_id, options, owner, lease_generation, lease_until";
const EVENTS: &str = "run_events";
const APPEND: Many<'_> =
    Many { before: "INSERT INTO run_events (run_id, seq, at, kind, instance, body)", after: "" };

const HOLD: Many<'_> = Many {
    before: "WITH held (run_id, generation, until) AS (",
    after: ") UPDATE run_work SET lease_until = held.until FROM held \
            WHERE run_work.run_id = held.run_id AND run_work.lease_generation = held.generation \
            RETURNING run_work.run_id",
};

fn read_work(row: &Row) -> Result<RunWork, StoreError> {
    let mut columns = row.columns(WORK);
    Ok(RunWork {
        run_id: RunId(columns.int()?),
        plan_id: columns.opt_int()?.map(PlanId),
        options: columns.json()?,
        owner: columns.opt_text()?,
        lease_generation: columns.int()?,
        lease_until: columns.opt_time()?,
    })
}

fn read_event(columns: &mut Columns<'_>) -> Result<RunEvent, StoreError> {
    Ok(RunEvent {
        seq: columns.int()?,
        at: columns.time()?,
        kind: columns.text()?,
        instance: columns.opt_int()?,
        body: columns.json()?,
    })
}

impl Store {
    /// Takes a run over until an instant, if nobody else holds it at `now`: the new generation.
    pub async fn run_take(
        &self,
        run: RunId,
        owner: &str,
        now: Micros,
        until: Micros,
    ) -> Result<Option<i64>, StoreError> {
        let mut writing = self.change(&Actor::server(), now).await?;
        let sql = format!(
            "UPDATE {WORK} SET owner = $1, lease_until = $2, lease_generation = lease_generation + 1 \
             WHERE run_id = $3 AND (lease_until IS NULL OR lease_until <= $4 OR owner = $1) RETURNING lease_generation"
        );
        let args = Args::new().text(owner).int(until.0).int(run.0).int(now.0);
        let row = writing.connection.fetch_optional(sql, args).await?;
        let generation = row.map(|row| row.columns(WORK).int()).transpose()?;
        writing.commit_quietly().await?;
        Ok(generation)
    }

    /// Holds a run until another instant, or lets go of it (`None`). An error if it is in other hands by now.
    pub async fn run_hold(
        &self,
        run: RunId,
        generation: i64,
        now: Micros,
        until: Option<Micros>,
    ) -> Result<(), StoreError> {
        let mut writing = self.change(&Actor::server(), now).await?;
        let sql = format!("UPDATE {WORK} SET lease_until = $1 WHERE run_id = $2 AND lease_generation = $3");
        let args = Args::new().opt_time(until).int(run.0).int(generation);
        if writing.connection.execute(sql, args).await? != 1 {
            return Err(writing.run_work_lost(run).await?);
        }
        writing.commit_quietly().await
    }
}

impl Store {
    /// Holds runs until another instant, each with the generation it was taken with: those of them that are still held. All
    /// are renewed together, or none.
    pub async fn runs_hold(
        &self,
        runs: &[(RunId, i64)],
        now: Micros,
        until: Micros,
    ) -> Result<HashSet<RunId>, StoreError> {
        let mut writing = self.change(&Actor::server(), now).await?;
        let rows = runs.iter().map(|(run, generation)| Args::new().int(run.0).int(*generation).int(until.0));
        let rows = writing.connection.write_many(HOLD, rows.collect()).await?;
        let held = rows.iter().map(|row| Ok(RunId(row.columns(WORK).int()?)));
        let held = held.collect::<Result<_, StoreError>>()?;
        writing.commit_quietly().await?;
        Ok(held)
    }
}

impl Session {
    pub async fn run_work(&mut self, run: RunId) -> Result<Option<RunWork>, StoreError> {
        let sql = format!("SELECT {WORK_COLUMNS} FROM {WORK} WHERE run_id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(run.0)).await?;
        row.as_ref().map(read_work).transpose()
    }

    /// Work of runs that have not ended and that nobody but `owner` holds at `now`, oldest first.
    pub async fn run_work_free(&mut self, owner: &str, now: Micros) -> Result<Vec<RunWork>, StoreError> {
        let columns: Vec<String> = WORK_COLUMNS.split(", ").map(|column| format!("w.{column}")).collect();
        let sql = format!(
            "SELECT {} FROM {WORK} w JOIN runs r ON r.id = w.run_id \
             WHERE r.status IN ('pending', 'running') AND (w.lease_until IS NULL OR w.lease_until <= $1 OR w.owner = $2) ORDER BY w.run_id",
            columns.join(", ")
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(now.0).text(owner)).await?;
        rows.iter().map(read_work).collect()
    }

    /// The number of the last event of a run, and whether the run is paused as far as these tell.
    pub async fn run_events_now(&mut self, run: RunId) -> Result<(i64, bool), StoreError> {
        let sql = format!("SELECT COALESCE(MAX(seq), 0) FROM {EVENTS} WHERE run_id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(run.0)).await?;
        let last = row.map_or(Ok(0), |row| row.columns(EVENTS).int())?;
        let sql = format!(
            "SELECT kind FROM {EVENTS} WHERE run_id = $1 AND kind IN ('paused', 'resumed') ORDER BY seq DESC LIMIT 1"
        );
        let row = self.connection.fetch_optional(sql, Args::new().int(run.0)).await?;
        let is_paused =
            row.map_or(Ok(false), |row| row.columns(EVENTS).text().map(|kind| kind == "paused"))?;
        Ok((last, is_paused))
    }

    /// What happened after number `after`, in order, not more than `limit`.
    pub async fn run_events(
        &mut self,
        run: RunId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<RunEvent>, StoreError> {
        let sql = format!(
            "SELECT seq, at, kind, instance, body FROM {EVENTS} WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT {limit}"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(run.0).int(after)).await?;
        rows.iter().map(|row| read_event(&mut row.columns(EVENTS))).collect()
    }

    /// The number of the last thing that happened; 0 if nothing did.
    pub async fn run_event_last(&mut self, run: RunId) -> Result<i64, StoreError> {
        let sql = format!("SELECT coalesce(max(seq), 0) FROM {EVENTS} WHERE run_id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(run.0)).await?;
        row.map_or(Ok(0), |row| row.columns(EVENTS).int())
    }
}

impl Writing {
    /// Nothing that follows is written unless the run is still in the hands of whoever has this generation.
    pub async fn run_require(&mut self, run: RunId, generation: i64) -> Result<(), StoreError> {
        let sql = format!("SELECT 1 FROM {WORK} WHERE run_id = $1 AND lease_generation = $2");
        if self.exists(sql, Args::new().int(run.0).int(generation)).await? {
            return Ok(());
        }
        Err(self.run_work_lost(run).await?)
    }

    /// Gives a run something to carry out; nobody holds it yet.
    pub async fn run_work_create(&mut self, run: RunId, options: &Json) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO {WORK} (run_id, plan_id, options, owner, lease_generation, lease_until) \
             VALUES ($1, NULL, $2, NULL, 0, NULL) ON CONFLICT (run_id) DO NOTHING"
        );
        let args = Args::new().int(run.0).json(options);
        match self.connection.execute(sql, args).await? {
            1 => Ok(()),
            _ => Err(StoreError::Taken { what: "work of the run" }),
        }
    }

    /// Says which plan the run carries out, once.
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
            _ => Err(self.run_work_lost(run).await?),
        }
    }

    /// Takes a run out of whoever's hands it is in: nothing more is added to it. Whether there was something to carry out.
    pub async fn run_work_revoke(&mut self, run: RunId) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE {WORK} SET owner = NULL, lease_until = NULL, lease_generation = lease_generation + 1 \
             WHERE run_id = $1"
        );
        Ok(self.connection.execute(sql, Args::new().int(run.0)).await? == 1)
    }

    /// Adds to what happened. Whoever lost the run to another adds nothing.
    pub(crate) async fn run_events_append(
        &mut self,
        run: RunId,
        generation: i64,
        events: &[RunEvent],
    ) -> Result<(), StoreError> {
        self.run_require(run, generation).await?;
        let rows = events.iter().map(|event| {
            Args::new()
                .int(run.0)
                .int(event.seq)
                .int(event.at.0)
                .text(&event.kind)
                .opt_int(event.instance)
                .json(&event.body)
        });
        self.connection.write_many(APPEND, rows.collect()).await?;
        Ok(())
    }

    async fn run_work_lost(&mut self, run: RunId) -> Result<StoreError, StoreError> {
        Ok(match self.run_work(run).await? {
            Some(work) => StoreError::Stale { current: work.lease_generation },
            None => StoreError::Missing { what: "work of the run" },
        })
    }
}
