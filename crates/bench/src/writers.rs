//! Cost of the writer lock of PostgreSQL. Writers of one database, which the lock serializes, are compared
//! with as many writers of one database each. Advisory locks are per database, so the latter share the
//! server, its disk and its log, but not the lock. Their throughput is the upper bound for finer-grained
//! locks.

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_model::{Actor, AuditChange, Micros, NewTenant, TenantId};
use stoker_store::{Store, StoreError};
use stoker_testkit::PrivatePostgres;
use tokio::task::JoinSet;

use crate::row::{Limit, Row};

const WRITERS: usize = 50;
/// Number of readers: sufficient to notice that readers wait for writers, and too few to take the processor
/// from them.
const READERS: usize = 4;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(3);
/// Pause of a reader between two reads.
const READ_EVERY: Duration = Duration::from_millis(5);

/// Results of one round.
struct Round {
    commits_per_second: f64,
    writer_p99_ms: f64,
    reader_p99_ms: f64,
}

pub(crate) async fn measure() -> Result<Vec<Row>, Box<dyn Error>> {
    let postgres = PrivatePostgres::start_durable();
    let shared = Store::open(&postgres.database()).await?;
    fill(&shared).await?;
    shared.close().await;
    let mut own = Vec::new();
    for number in 0..WRITERS {
        own.push(Store::open(&postgres.copy_database(&format!("writer{number}"))).await?);
    }
    let shared = Store::open(&postgres.database()).await?;
    let (mut locked, mut alone, mut unlocked) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(round(&shared, vec![shared.clone()]).await?);
        locked.push(round(&shared, vec![shared.clone(); WRITERS]).await?);
        unlocked.push(round(&shared, own.clone()).await?);
    }
    let median = |rounds: &[Round], value: fn(&Round) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let commits = |rounds: &[Round]| median(rounds, |round| round.commits_per_second);
    let reads = |rounds: &[Round]| median(rounds, |round| round.reader_p99_ms);
    Ok(vec![
        Row::new("one writer", commits(&alone), "commits/s", Limit::AtLeast(0.0)),
        Row::new(
            format!("{WRITERS} writers of one database"),
            commits(&locked),
            "commits/s",
            Limit::AtLeast(0.0),
        ),
        Row::new(
            format!("{WRITERS} writers of one database each"),
            commits(&unlocked),
            "commits/s",
            Limit::AtLeast(0.0),
        ),
        Row::new(
            format!("{WRITERS} writers of one database, of one writer"),
            commits(&locked) / commits(&alone),
            "times",
            // Queued writers must not slow down the active one.
            Limit::AtLeast(0.8),
        ),
        Row::new(
            format!("{WRITERS} writers of one database each, of one database"),
            commits(&unlocked) / commits(&locked),
            "times",
            // Upper bound for the cost of the lock; docs/decisions/0006-one-writer-at-a-time.md explains why
            // it is kept.
            Limit::AtMost(40.0),
        ),
        Row::new(
            format!("99th percentile of a change, {WRITERS} writers of one database"),
            median(&locked, |round| round.writer_p99_ms),
            "ms",
            Limit::AtMost(1000.0),
        ),
        Row::new(
            format!("99th percentile of a read beside {WRITERS} writers, of beside one writer"),
            reads(&locked) / reads(&alone),
            "times",
            // Queued writers hold no connections that readers need.
            Limit::AtMost(5.0),
        ),
    ])
}

/// Creates one record per writer, so that writers do not compete for rows.
async fn fill(store: &Store) -> Result<(), StoreError> {
    let mut writing = store.begin_write(&Actor::server(), Micros(1)).await?;
    for number in 1..=WRITERS {
        let new = NewTenant { name: format!("tenant {number}"), description: None, enabled: true };
        writing.tenant_create(&new).await?;
    }
    writing.commit(change()).await
}

/// Lets all writers update their records for the length of a round while readers read from `shared`.
async fn round(shared: &Store, writers: Vec<Store>) -> Result<Round, Box<dyn Error>> {
    let deadline = Instant::now() + ROUND;
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        readers.spawn(read(shared.clone(), deadline));
    }
    let mut changes = JoinSet::new();
    for (store, id) in writers.into_iter().zip(1..) {
        changes.spawn(write(store, TenantId(id), deadline));
    }
    let changes = collect(changes).await?;
    Ok(Round {
        commits_per_second: changes.len() as f64 / ROUND.as_secs_f64(),
        writer_p99_ms: p99_ms(changes),
        reader_p99_ms: p99_ms(collect(readers).await?),
    })
}

async fn collect(
    mut tasks: JoinSet<Result<Vec<Duration>, StoreError>>,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut times = Vec::new();
    while let Some(result) = tasks.join_next().await {
        times.extend(result??);
    }
    Ok(times)
}

/// Performs the steps of a small request: read, check, update, audit, commit.
async fn write(store: Store, id: TenantId, deadline: Instant) -> Result<Vec<Duration>, StoreError> {
    let mut times = Vec::new();
    while Instant::now() < deadline {
        let started = Instant::now();
        let mut writing = store.begin_write(&Actor::server(), Micros(2)).await?;
        let mut tenant = writing.tenant_get(id).await?.ok_or(StoreError::NotFound { what: "tenant" })?;
        tenant.description = Some(format!("change {}", times.len()));
        writing.tenant_update(&tenant).await?;
        writing.commit(change()).await?;
        times.push(started.elapsed());
    }
    Ok(times)
}

async fn read(store: Store, deadline: Instant) -> Result<Vec<Duration>, StoreError> {
    let mut times = Vec::new();
    while Instant::now() < deadline {
        let started = Instant::now();
        store.read().await?.tenant_get(TenantId(1)).await?;
        times.push(started.elapsed());
        tokio::time::sleep(READ_EVERY).await;
    }
    Ok(times)
}

fn change() -> AuditChange {
    AuditChange { action: "bench.change", target: "tenant".to_owned(), detail: json!({}) }
}

fn p99_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) * 99 / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}
