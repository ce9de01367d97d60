use stoker_store::{Database, Store};

use crate::ground::Ground;

async fn what_is_there_is_told(ground: &Ground) {
    let seen = Store::inspect(&ground.database).await.unwrap().unwrap();
    assert_eq!(seen.found, seen.known);
    let is_postgres = matches!(ground.database, Database::Postgres { .. });
    assert!(seen.engine.starts_with(if is_postgres { "PostgreSQL " } else { "SQLite " }), "{seen:?}");
    assert_eq!(seen.clock.is_some(), is_postgres);
}

#[tokio::test]
async fn nothing_is_made_and_nonsense_is_refused() {
    let folder = stoker_testkit::Folder::new();
    let path = folder.file("stoker.db");
    assert_eq!(Store::inspect(&Database::Sqlite { path: path.clone() }).await.unwrap(), None);
    assert!(!path.exists());
    std::fs::write(&path, "this is no database, however long it may be".repeat(100)).unwrap();
    assert!(Store::inspect(&Database::Sqlite { path }).await.is_err());
    for url in ["mysql://x/y", "postgres://127.0.0.1:1/none"] {
        assert!(Store::inspect(&Database::Postgres { url: url.to_owned() }).await.is_err(), "{url}");
    }
}

on_both![what_is_there_is_told];
