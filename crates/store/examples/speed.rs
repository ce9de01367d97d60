//! Benchmark of the store with the largest real graph: `cargo run --release -p stoker-store --example speed`.
//! Pass a `postgres://…` URL of an empty database to measure PostgreSQL instead of a SQLite file.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement reads clocks and prints"
)]

#[path = "../tests/conformance/real_tasks.rs"]
mod real_tasks;

use std::time::{Duration, Instant};

use serde_json::json;
use stoker_model::{
    Actor, AuditChange, GraphMetadata, GraphType, HistoryRecord, HistoryStatus, Json, JsonMap, Micros,
    NewRelease, NewRun, NewTenant, NewToken, NewUser, Owner, ReleaseState, Role, RunEvent, RunId, RunName,
    RunStatus,
};
use stoker_store::{Database, GraphFilter, HistoryFilter, List, Store, WriteTransaction};

const ROUNDS: usize = 40;
const NOW: Micros = Micros(1);
/// Number of rows per statement on the hot path of runs.
const ROWS: i64 = 1000;

#[tokio::main]
async fn main() {
    let tasks = real_tasks::real_tasks().expect("test data is missing: install it next to the repository");
    let folder = stoker_testkit::TempFolder::new();
    let database = match std::env::args().nth(1) {
        Some(url) => Database::Postgres { url },
        None => Database::Sqlite { path: folder.file("speed.db") },
    };
    let store = Store::open(&database).await.unwrap();
    let none = GraphMetadata::default();

    let mut writing = begin_write(&store).await;
    let release = writing.release_create(&release()).await.unwrap();
    let owner = Owner::Release(release.id);
    let tenant = NewTenant { name: "t".to_owned(), description: None, enabled: true };
    let tenant = writing.tenant_create(&tenant).await.unwrap();
    let user = NewUser {
        tenant_id: tenant.id,
        name: "u".to_owned(),
        roles: vec![Role::Admin],
        enabled: true,
        password_hash: String::new(),
    };
    let user = writing.user_create(&user).await.unwrap();
    commit(writing).await;

    let mut times = Times::new(&format!("create a graph of {} tasks", tasks.len()));
    let mut ids = Vec::new();
    for round in 0..ROUNDS {
        let started = Instant::now();
        let mut writing = begin_write(&store).await;
        let kind = GraphType::new(&format!("g{round}")).unwrap();
        ids.push(writing.graph_create(owner, &kind, &none, &tasks).await.unwrap().id);
        commit(writing).await;
        times.add(started);
    }
    times.print();

    // A new store has an empty cache.
    let n_tasks = tasks.len();
    let mut cold = Times::new(&format!("read one graph of {n_tasks} tasks, first time"));
    let mut cold_two = Times::new(&format!("read two graphs, {} tasks, first time", 2 * n_tasks));
    let mut warm = Times::new(&format!("read two graphs, {} tasks, again", 2 * n_tasks));
    let mut find_by_owner = Times::new("find two graphs by owner and type, again");
    for _ in 0..ROUNDS {
        let fresh = Store::open(&database).await.unwrap();
        let mut session = fresh.read().await.unwrap();
        // The connection and its statements are warm, the task cache is cold.
        session.graph_get(ids[0]).await.unwrap().unwrap();
        let started = Instant::now();
        session.graph_get(ids[1]).await.unwrap().unwrap();
        cold.add(started);
        let types = ["g2", "g3"].map(|name| GraphType::new(name).unwrap()).to_vec();
        let filter = GraphFilter { owners: Some(vec![owner]), types: Some(types) };
        let list = List::default();
        for times in [&mut cold_two, &mut warm] {
            let started = Instant::now();
            assert_eq!(session.graph_list(&filter, &list).await.unwrap().items.len(), 2);
            times.add(started);
        }
        let types = filter.types.as_deref().unwrap_or_default();
        for kind in types {
            session.graph_find(owner, kind).await.unwrap().unwrap();
        }
        let started = Instant::now();
        for kind in types {
            session.graph_find(owner, kind).await.unwrap().unwrap();
        }
        find_by_owner.add(started);
        drop(session);
        fresh.close().await;
    }
    for times in [cold, cold_two, warm, find_by_owner] {
        times.print();
    }

    let mut times = Times::new(&format!("change one task of {n_tasks}"));
    let mut edited = tasks.clone();
    for round in 0..ROUNDS {
        edited[100].fields.insert("own".to_owned(), Json::from(round));
        let started = Instant::now();
        let mut writing = begin_write(&store).await;
        writing.graph_update(ids[0], 1 + round as i64, &none, Some(&edited)).await.unwrap();
        commit(writing).await;
        times.add(started);
    }
    times.print();

    let mut issue = Times::new("issue a token");
    let mut find = Times::new("find a token, its user and its tenant");
    for round in 0..ROUNDS {
        let mut digest = [0; 32];
        digest[0] = round as u8;
        let new = NewToken {
            user_id: user.id,
            tenant_id: tenant.id,
            label: None,
            digest,
            issued_at: NOW,
            expires_at: NOW,
        };
        let started = Instant::now();
        store.token_issue(&new).await.unwrap();
        issue.add(started);
        let started = Instant::now();
        assert!(store.read().await.unwrap().token_find(&digest).await.unwrap().is_some());
        find.add(started);
    }
    issue.print();
    find.print();
    measure_run(&store).await;
    store.close().await;
}

/// Measures the hot path of a run: events and history.
async fn measure_run(store: &Store) {
    let mut writing = begin_write(store).await;
    let run = writing.run_create(&new_run()).await.unwrap().id;
    writing.run_work_create(run, &json!({})).await.unwrap();
    commit(writing).await;
    let generation = store.run_lease_acquire(run, "speed", NOW, Micros(i64::MAX)).await.unwrap().unwrap();
    let mut append = Times::new(&format!("append {ROWS} events"));
    let mut read = Times::new(&format!("read {ROWS} events"));
    let mut put = Times::new(&format!("write {ROWS} history records"));
    let mut list = Times::new(&format!("read {ROWS} history records"));
    for round in 0..ROUNDS as i64 {
        let first = round * ROWS;
        let events: Vec<RunEvent> = (1..=ROWS).map(|number| event(first + number)).collect();
        let started = Instant::now();
        begin_write(store).await.commit_run(run, generation, &events).await.unwrap();
        append.add(started);
        let mut session = store.read().await.unwrap();
        let started = Instant::now();
        assert_eq!(session.run_events(run, first, ROWS as u32).await.unwrap().len(), events.len());
        read.add(started);
        let records: Vec<HistoryRecord> = (1..=ROWS).map(|number| record(run, number)).collect();
        let mut writing = begin_write(store).await;
        let started = Instant::now();
        writing.history_put(&records).await.unwrap();
        put.add(started);
        commit(writing).await;
        let started = Instant::now();
        assert_eq!(
            session.history_list(&[run], &HistoryFilter::default()).await.unwrap().len(),
            records.len()
        );
        list.add(started);
    }
    for times in [append, read, put, list] {
        times.print();
    }
}

fn new_run() -> NewRun {
    NewRun {
        uuid: "u".to_owned(),
        parent_id: None,
        cluster_id: None,
        name: RunName::Deployment,
        status: RunStatus::Running,
        progress: 0,
        message: None,
        result: json!({}),
        graph_type: None,
        dry_run: false,
        started_at: Some(NOW),
        ended_at: None,
    }
}

fn event(seq: i64) -> RunEvent {
    let body = json!({"node": "node-1", "attempt": 1});
    RunEvent { seq, at: NOW, kind: "attempt.ended".to_owned(), instance: Some(seq), body }
}

fn record(run_id: RunId, number: i64) -> HistoryRecord {
    HistoryRecord {
        run_id,
        task_name: format!("task-{number}"),
        node_id: "1".to_owned(),
        status: HistoryStatus::Ready,
        started_at: Some(NOW),
        ended_at: Some(NOW),
        task: JsonMap::new(),
        custom: JsonMap::new(),
        report: stoker_model::TaskReport::default(),
    }
}

async fn begin_write(store: &Store) -> WriteTransaction {
    store.begin_write(&Actor::server(), NOW).await.unwrap()
}

async fn commit(writing: WriteTransaction) {
    let change = AuditChange { action: "speed.measure", target: "speed".to_owned(), detail: json!({}) };
    writing.commit(change).await.unwrap();
}

fn release() -> NewRelease {
    let none = JsonMap::new;
    NewRelease {
        name: "r".to_owned(),
        version: "1".to_owned(),
        description: None,
        operating_system: "ubuntu".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: none(),
        roles_metadata: none(),
        tags_metadata: none(),
        volumes_roles_mapping: none(),
        attributes_metadata: none(),
        networks_metadata: none(),
        volumes_metadata: none(),
        wizard_metadata: none(),
        components_metadata: vec![],
        required_component_types: vec![],
        extensions: vec![],
        extra: none(),
    }
}

struct Times {
    label: String,
    times: Vec<Duration>,
}

impl Times {
    fn new(label: &str) -> Self {
        Self { label: label.to_owned(), times: Vec::new() }
    }

    fn add(&mut self, started: Instant) {
        self.times.push(started.elapsed());
    }

    fn print(mut self) {
        self.times.sort_unstable();
        let at = |part: usize| self.times[self.times.len() * part / 10].as_secs_f64() * 1e3;
        println!("{:<46} median {:>8.3} ms, ninth decile {:>8.3} ms", self.label, at(5), at(9));
    }
}
