use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use stoker_model::{GraphMetadata, Owner};
use stoker_store::{BackupError, Database, List, Store, restore};

use crate::fixture::{Fixture, change, commit, graph_type, map, release, tenant};
use crate::graphs::plain;

async fn add_content(fixture: &Fixture, n_tenants: usize) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    writing.graph_create(owner, &graph_type("t"), &none, &plain(&["a", "b"])).await.unwrap();
    for number in 0..n_tenants {
        tenant(&mut writing, &format!("t{number}")).await;
    }
    writing.setting_put("x", &json!(map(json!({"a": 1})))).await.unwrap();
    commit(writing).await;
}

async fn open(path: &std::path::Path) -> Store {
    Store::open(&Database::Sqlite { path: path.to_owned() }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_is_a_consistent_snapshot_during_writes() {
    let fixture = Fixture::sqlite().await;
    add_content(&fixture, 300).await;
    let backup = fixture.folder.file("backup.db");
    let write = async {
        for number in 0..50 {
            let mut writing = fixture.change().await;
            // Two rows per transaction: an odd number would be a partial transaction.
            tenant(&mut writing, &format!("a{number}")).await;
            tenant(&mut writing, &format!("b{number}")).await;
            writing.commit(change("tenant.create")).await.unwrap();
        }
    };
    let ((), saved) = tokio::join!(write, fixture.store.backup_to(&backup));
    saved.unwrap();
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    let target = fixture.folder.file("restored.db");
    restore(&backup, &target, false).await.unwrap();
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let restored = open(&target).await;
    let mut session = restored.read().await.unwrap();
    let total = session.tenant_list(&List::default()).await.unwrap().total;
    assert!((300..=400).contains(&total) && total % 2 == 0, "{total}");
    let graphs = session.graph_list(&Default::default(), &List::default()).await.unwrap();
    assert_eq!(graphs.items[0].tasks.len(), 2);
    assert_eq!(session.setting_get("x").await.unwrap(), Some(json!({"a": 1})));
    drop(session);
    restored.close().await;
    let exists = fixture.store.backup_to(&backup).await;
    assert!(matches!(exists, Err(BackupError::Exists { .. })), "{exists:?}");
    let dangling = fixture.store.backup_to(&fixture.folder.file("no/folder/x.db")).await;
    assert!(matches!(dangling, Err(BackupError::File { .. })), "{dangling:?}");
    fixture.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_requires_force_and_exclusive_access() {
    let fixture = Fixture::sqlite().await;
    add_content(&fixture, 1).await;
    let backup = fixture.folder.file("backup.db");
    fixture.store.backup_to(&backup).await.unwrap();
    let mut writing = fixture.change().await;
    tenant(&mut writing, "later").await;
    commit(writing).await;
    let Database::Sqlite { path } = &fixture.database else { panic!("not SQLite") };
    let without_force = restore(&backup, path, false).await;
    assert!(matches!(without_force, Err(BackupError::Exists { .. })), "{without_force:?}");
    let in_use = restore(&backup, path, true).await;
    assert!(matches!(in_use, Err(BackupError::InUse { .. })), "{in_use:?}");
    fixture.store.ping().await.unwrap();
    fixture.store.close().await;
    restore(&backup, path, true).await.unwrap();
    let restored = open(path).await;
    assert_eq!(restored.read().await.unwrap().tenant_list(&List::default()).await.unwrap().total, 1);
    restored.close().await;
    fixture.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_rejects_invalid_backups() {
    let fixture = Fixture::sqlite().await;
    add_content(&fixture, 200).await;
    let good = fixture.folder.file("good.db");
    fixture.store.backup_to(&good).await.unwrap();
    let target = fixture.folder.file("target.db");
    let store = open(&target).await;
    store.close().await;
    let before = fs::read(&target).unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = fixture.folder.file(name);
        fs::write(&path, content).unwrap();
        path
    };
    let intact = fs::read(&good).unwrap();
    let mut damaged = intact.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20_000].fill(0x5a);
    let foreign = fixture.folder.file("foreign.db");
    make_foreign(&foreign).await;
    let newer = file("newer.db", &intact);
    make_newer(&newer).await;
    let in_use = file("in-use.db", &intact);
    fs::write(fixture.folder.file("in-use.db-wal"), "log").unwrap();
    for bad in [
        file("text.db", b"no database"),
        file("empty.db", b""),
        file("half.db", &intact[..intact.len() / 2]),
        file("damaged.db", &damaged),
        foreign,
        newer,
        in_use,
        fixture.folder.file("not-there.db"),
    ] {
        let result = restore(&bad, &target, true).await;
        assert!(result.is_err(), "{}", bad.display());
        assert_eq!(fs::read(&target).unwrap(), before, "{}", bad.display());
    }
    restore(&good, &target, true).await.unwrap();
    fixture.remove().await;
}

async fn make_foreign(path: &std::path::Path) {
    use sqlx::ConnectOptions as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::query("CREATE TABLE songs (name TEXT)").execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
}

async fn make_newer(path: &std::path::Path) {
    use sqlx::ConnectOptions as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    let sql = "UPDATE _sqlx_migrations SET version = 4711 WHERE version = 2";
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_backup_suggests_pg_dump() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let result = fixture.store.backup_to(&fixture.folder.file("x.db")).await.unwrap_err();
    assert!(result.to_string().contains("pg_dump"), "{result}");
    fixture.remove().await;
}
