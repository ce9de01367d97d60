//! Upgrade of a database created and filled by an earlier version.

use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use stoker_model::{AgentUid, Micros, RunId, ServerRecord};
use stoker_store::{Database, Store};
use stoker_testkit::{PrivatePostgres, TempFolder};

use crate::fixture::NOW;

/// Last migration before multi-server support.
const BEFORE_GROUPS: i64 = 9;

/// Rows as that schema version wrote them: a run in progress with one event, and an agent. `{yes}` and `{no}` are
/// the boolean literals of the database engine.
const ROWS: &str = "
INSERT INTO tenants (id, generation, name, description, enabled, created_at) VALUES (1, 3, 'red', NULL, {yes}, 7);
INSERT INTO users (id, generation, tenant_id, name, roles, enabled, created_at, password_hash)
    VALUES (1, 1, 1, 'ann', '[\"admin\"]', {yes}, 7, 'x');
INSERT INTO runs (id, generation, uuid, parent_id, cluster_id, name, status, progress, message, result, graph_type,
    dry_run, started_at, ended_at, is_hidden)
    VALUES (5, 2, 'u', NULL, NULL, 'deployment', 'running', 40, NULL, '{}', 'default', {no}, 7, NULL, {no});
INSERT INTO run_work (run_id, plan_id, options, owner, lease_generation, lease_until)
    VALUES (5, NULL, '{\"version\": 1}', 'of old', 3, 1);
INSERT INTO run_events (run_id, seq, at, kind, instance, body) VALUES (5, 1, 7, 'began', NULL, '{}');
INSERT INTO agents (id, uid, node_id, digest, version, joined_at, last_seen_at)
    VALUES (1, 'master', NULL, 'd', '0.1.0', 7, NULL);
";

/// Returns the migrations of that version.
async fn earlier_migrator(folder: &Path, version: i64) -> Migrator {
    let all = Migrator::new(folder).await.unwrap();
    let migrations: Vec<_> = all.iter().filter(|step| step.version <= version).cloned().collect();
    assert!(migrations.len() < all.iter().count(), "there are later migrations");
    Migrator { migrations: migrations.into(), ..Migrator::DEFAULT }
}

fn migrations(engine: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(engine)
}

/// A SQLite database of an earlier version with rows.
pub(crate) async fn sqlite_of(folder: &TempFolder, version: i64, rows: &str) -> Database {
    let path = folder.file("stoker.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    earlier_migrator(&migrations("sqlite"), version).await.run(&mut connection).await.unwrap();
    let rows = rows.replace("{yes}", "1").replace("{no}", "0");
    sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    Database::Sqlite { path }
}

/// A PostgreSQL database of an earlier version with rows.
pub(crate) async fn postgres_of(postgres: &PrivatePostgres, version: i64, rows: &str) -> Database {
    let database = postgres.database();
    let Database::Postgres { url } = &database else { panic!("not PostgreSQL") };
    let mut connection = PgConnection::connect(url).await.unwrap();
    earlier_migrator(&migrations("postgres"), version).await.run(&mut connection).await.unwrap();
    let rows = rows.replace("{yes}", "TRUE").replace("{no}", "FALSE");
    sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    database
}

async fn assert_upgraded(database: &Database) {
    let (store, other) = if matches!(database, Database::Sqlite { .. }) {
        // A SQLite file has a single server.
        (Store::open(database).await.unwrap(), Store::open(database).await.unwrap())
    } else {
        // Two servers start concurrently.
        let (one, two) = tokio::join!(Store::open(database), Store::open(database));
        (one.unwrap(), two.unwrap())
    };
    let mut session = store.read().await.unwrap();
    assert_eq!(session.user_by_name("ann").await.unwrap().unwrap().tenant_id.0, 1);
    assert_eq!(session.agent_by_uid(&AgentUid::master()).await.unwrap().unwrap().version, "0.1.0");
    assert_eq!(session.run_events(RunId(5), 0, 10).await.unwrap().len(), 1);
    assert_eq!(session.run_work_unowned("new", NOW).await.unwrap().len(), 1);
    assert_eq!(session.servers().await.unwrap(), []);
    assert_eq!(session.agent_hosts_since(0).await.unwrap(), []);
    drop(session);
    // The run continues on another server.
    assert_eq!(other.run_lease_acquire(RunId(5), "new", NOW, NOW.plus_seconds(9)).await.unwrap(), Some(4));
    let member = ServerRecord {
        id: "new".to_owned(),
        name: "here".to_owned(),
        address: "127.0.0.1:1".to_owned(),
        version: "0.2.0".to_owned(),
        receives_bus: false,
        started_at: Micros(8),
        heartbeat_at: NOW,
    };
    other.server_heartbeat(&member).await.unwrap();
    assert_eq!(store.read().await.unwrap().servers().await.unwrap(), [member]);
    store.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn earlier_version_is_upgraded_on_sqlite() {
    let folder = TempFolder::new();
    let database = sqlite_of(&folder, BEFORE_GROUPS, ROWS).await;
    Box::pin(assert_upgraded(&database)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn earlier_version_is_upgraded_on_postgres() {
    let Some(postgres) = PrivatePostgres::start() else { return };
    let database = postgres_of(&postgres, BEFORE_GROUPS, ROWS).await;
    Box::pin(assert_upgraded(&database)).await;
}
