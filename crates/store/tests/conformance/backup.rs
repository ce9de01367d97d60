use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use stoker_model::{GraphMetadata, Owner};
use stoker_store::{BackupError, Database, List, Store, restore};

use crate::graphs::plain;
use crate::ground::{Ground, change, commit, graph_type, map, release, tenant};

async fn with_content(ground: &Ground, n_tenants: usize) {
    let mut writing = ground.change().await;
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
async fn a_backup_is_of_one_moment_while_others_write() {
    let ground = Ground::sqlite().await;
    with_content(&ground, 300).await;
    let backup = ground.folder.file("backup.db");
    let write = async {
        for number in 0..50 {
            let mut writing = ground.change().await;
            // Two at a time: an odd number would be half of a transaction.
            tenant(&mut writing, &format!("a{number}")).await;
            tenant(&mut writing, &format!("b{number}")).await;
            writing.commit(change("tenant.create")).await.unwrap();
        }
    };
    let ((), saved) = tokio::join!(write, ground.store.backup_to(&backup));
    saved.unwrap();
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    let target = ground.folder.file("restored.db");
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
    let exists = ground.store.backup_to(&backup).await;
    assert!(matches!(exists, Err(BackupError::Exists { .. })), "{exists:?}");
    let nowhere = ground.store.backup_to(&ground.folder.file("no/folder/x.db")).await;
    assert!(matches!(nowhere, Err(BackupError::File { .. })), "{nowhere:?}");
    ground.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restoring_replaces_only_on_demand_and_only_what_nobody_uses() {
    let ground = Ground::sqlite().await;
    with_content(&ground, 1).await;
    let backup = ground.folder.file("backup.db");
    ground.store.backup_to(&backup).await.unwrap();
    let mut writing = ground.change().await;
    tenant(&mut writing, "later").await;
    commit(writing).await;
    let Database::Sqlite { path } = &ground.database else { panic!("not SQLite") };
    let polite = restore(&backup, path, false).await;
    assert!(matches!(polite, Err(BackupError::Exists { .. })), "{polite:?}");
    let in_use = restore(&backup, path, true).await;
    assert!(matches!(in_use, Err(BackupError::InUse { .. })), "{in_use:?}");
    ground.store.ping().await.unwrap();
    ground.store.close().await;
    restore(&backup, path, true).await.unwrap();
    let restored = open(path).await;
    assert_eq!(restored.read().await.unwrap().tenant_list(&List::default()).await.unwrap().total, 1);
    restored.close().await;
    ground.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_replaces_nothing() {
    let ground = Ground::sqlite().await;
    with_content(&ground, 200).await;
    let good = ground.folder.file("good.db");
    ground.store.backup_to(&good).await.unwrap();
    let target = ground.folder.file("target.db");
    let store = open(&target).await;
    store.close().await;
    let before = fs::read(&target).unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = ground.folder.file(name);
        fs::write(&path, content).unwrap();
        path
    };
    let whole = fs::read(&good).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20_000].fill(0x5a);
    let foreign = ground.folder.file("foreign.db");
    make_foreign(&foreign).await;
    let newer = file("newer.db", &whole);
    make_newer(&newer).await;
    let in_use = file("in-use.db", &whole);
    fs::write(ground.folder.file("in-use.db-wal"), "log").unwrap();
    for bad in [
        file("text.db", b"no database"),
        file("empty.db", b""),
        file("half.db", &whole[..whole.len() / 2]),
        file("damaged.db", &damaged),
        foreign,
        newer,
        in_use,
        ground.folder.file("not-there.db"),
    ] {
        let refused = restore(&bad, &target, true).await;
        assert!(refused.is_err(), "{}", bad.display());
        assert_eq!(fs::read(&target).unwrap(), before, "{}", bad.display());
    }
    restore(&good, &target, true).await.unwrap();
    ground.remove().await;
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
async fn postgresql_has_its_own_tool() {
    let Some(ground) = Ground::postgres().await else { return };
    let refused = ground.store.backup_to(&ground.folder.file("x.db")).await.unwrap_err();
    assert!(refused.to_string().contains("pg_dump"), "{refused}");
    ground.remove().await;
}
