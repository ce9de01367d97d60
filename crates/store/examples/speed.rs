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
    Actor, AuditChange, GraphMetadata, GraphType, Json, JsonMap, Micros, NewRelease, NewTenant, NewToken,
    NewUser, Owner, ReleaseState, Role,
};
use stoker_store::{Database, GraphFilter, List, Store, WriteTransaction};

const ROUNDS: usize = 40;
const NOW: Micros = Micros(1);

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

    let mut writing = change(&store).await;
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
        let mut writing = change(&store).await;
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
        let mut writing = change(&store).await;
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
    store.close().await;
}

async fn change(store: &Store) -> WriteTransaction {
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
