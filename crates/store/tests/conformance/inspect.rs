use stoker_store::{Database, Store};

use crate::fixture::Fixture;

async fn inspection_reports_engine_and_version(fixture: &Fixture) {
    let inspection = Store::inspect(&fixture.database).await.unwrap().unwrap();
    assert_eq!(inspection.schema_version, inspection.supported_version);
    let is_postgres = matches!(fixture.database, Database::Postgres { .. });
    assert!(
        inspection.engine.starts_with(if is_postgres { "PostgreSQL " } else { "SQLite " }),
        "{inspection:?}"
    );
    assert_eq!(inspection.clock.is_some(), is_postgres);
}

#[tokio::test]
async fn inspection_creates_nothing_and_rejects_invalid_databases() {
    let folder = stoker_testkit::TempFolder::new();
    let path = folder.file("stoker.db");
    assert_eq!(Store::inspect(&Database::Sqlite { path: path.clone() }).await.unwrap(), None);
    assert!(!path.exists());
    std::fs::write(&path, "this is no database, however long it may be".repeat(100)).unwrap();
    assert!(Store::inspect(&Database::Sqlite { path }).await.is_err());
    for url in ["mysql://x/y", "postgres://127.0.0.1:1/none"] {
        assert!(Store::inspect(&Database::Postgres { url: url.to_owned() }).await.is_err(), "{url}");
    }
}

on_both![inspection_reports_engine_and_version,];
