//! Schema: both engines have the same tables, and migrations are applied once.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, SqliteConnection};
use stoker_model::NewTenant;
use stoker_store::{Database, OpenError, Store};

use crate::fixture::{Fixture, commit, tenant};

async fn reopening_is_idempotent(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let red = tenant(&mut writing, "red").await;
    commit(writing).await;
    for _ in 0..2 {
        let again = Store::open(&fixture.database).await.unwrap();
        assert_eq!(again.read().await.unwrap().tenant_get(red.id).await.unwrap().as_ref(), Some(&red));
        again.close().await;
    }
}

async fn concurrent_opens_succeed(fixture: &Fixture) {
    let open = async || {
        let store = Store::open(&fixture.database).await.unwrap();
        store.ping().await.unwrap();
        store.close().await;
    };
    tokio::join!(open(), open(), open());
}

async fn newer_schema_is_rejected_and_unchanged(fixture: &Fixture) {
    execute(
        &fixture.database,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         SELECT 4711, 'of tomorrow', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1",
    )
    .await;
    for _ in 0..2 {
        match Store::open(&fixture.database).await.map(drop) {
            Err(OpenError::SchemaTooNew { database: 4711, supported }) => assert!(supported >= 2),
            other => panic!("{other:?}"),
        }
    }
    // A store that is already open keeps working.
    let mut writing = fixture.change().await;
    let new = NewTenant { name: "red".to_owned(), description: None, enabled: true };
    writing.tenant_create(&new).await.unwrap();
    commit(writing).await;
}

async fn modified_migration_is_rejected(fixture: &Fixture) {
    execute(&fixture.database, "UPDATE _sqlx_migrations SET checksum = description WHERE version = 1").await;
    let opened = Store::open(&fixture.database).await.map(drop);
    assert!(matches!(opened, Err(OpenError::Migration(_) | OpenError::Store(_))), "{opened:?}");
}

/// A database whose migrations were applied before their comments were edited.
async fn former_checksums_are_accepted_and_kept(fixture: &Fixture) {
    let is_sqlite = matches!(fixture.database, Database::Sqlite { .. });
    let dialect = if is_sqlite { "sqlite" } else { "postgres" };
    let lines = include_str!("../../migrations/former-checksums.txt").lines();
    let former: Vec<(&str, String)> = lines
        .filter_map(|line| line.strip_prefix(dialect)?.trim().split_once(' '))
        .map(|(version, hex)| {
            (version, if is_sqlite { format!("x'{hex}'") } else { format!("'\\x{hex}'::bytea") })
        })
        .collect();
    for (version, checksum) in &former {
        let update = format!("UPDATE _sqlx_migrations SET checksum = {checksum} WHERE version = {version}");
        assert_eq!(execute(&fixture.database, &update).await, 1, "{version}");
    }
    Store::open(&fixture.database).await.unwrap().close().await;
    for (version, checksum) in &former {
        let touch = format!(
            "UPDATE _sqlx_migrations SET success = success WHERE version = {version} AND checksum = {checksum}"
        );
        assert_eq!(execute(&fixture.database, &touch).await, 1, "{version}");
    }
}

/// Returns the number of rows that the statement changed.
async fn execute(database: &Database, sql: &str) -> u64 {
    match database {
        Database::Sqlite { path } => {
            let mut connection = SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
            let result = sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            result.rows_affected()
        }
        Database::Postgres { url } => {
            let sql = sql.replace("checksum = description", "checksum = description::bytea");
            let mut connection = PgConnection::connect(url).await.unwrap();
            let result = sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            result.rows_affected()
        }
    }
}

/// Table, column, value type and whether the column is NOT NULL, in column order.
type Column = (String, String, String, bool);

async fn sqlite_columns(database: &Database) -> Vec<Column> {
    let Database::Sqlite { path } = database else { panic!("not SQLite") };
    let mut connection = SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    let sql = "SELECT t.name, c.name, lower(c.type), c.\"notnull\" OR c.pk FROM sqlite_schema t, \
               pragma_table_info(t.name) c WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' \
               AND t.name NOT LIKE '_sqlx_%' ORDER BY t.name, c.cid";
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect()
}

async fn postgres_columns(database: &Database) -> Vec<Column> {
    let Database::Postgres { url } = database else { panic!("not PostgreSQL") };
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = "SELECT table_name::text, column_name::text, CASE data_type WHEN 'text' THEN 'text' \
               WHEN 'bigint' THEN 'integer' WHEN 'boolean' THEN 'integer' WHEN 'bytea' THEN 'blob' ELSE data_type::text END, \
               is_nullable = 'NO' FROM information_schema.columns WHERE table_schema = 'public' \
               AND table_name NOT LIKE '\\_sqlx\\_%' ORDER BY table_name COLLATE \"C\", ordinal_position";
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_have_identical_tables() {
    let sqlite = Fixture::sqlite().await;
    let Some(postgres) = Fixture::postgres().await else { return };
    let is_table = |column: &Column| column.0 != "deployment_graph_owners";
    let mut ours: Vec<Column> = sqlite_columns(&sqlite.database).await;
    let mut theirs = postgres_columns(&postgres.database).await;
    assert_eq!(
        ours.iter().map(|column| (&column.0, &column.1)).collect::<Vec<_>>(),
        theirs.iter().map(|column| (&column.0, &column.1)).collect::<Vec<_>>()
    );
    // SQLite reports no types for the columns of a view.
    ours.retain(is_table);
    theirs.retain(is_table);
    assert_eq!(ours, theirs);
    assert!(ours.len() > 150, "{}", ours.len());
    sqlite.remove().await;
    postgres.remove().await;
}

/// The task columns match the fields of the model in order, because the store reads them by position.
#[tokio::test]
async fn each_task_field_has_a_column() {
    let fixture = Fixture::sqlite().await;
    let columns = sqlite_columns(&fixture.database).await;
    let names: Vec<String> = columns
        .into_iter()
        .filter(|column| column.0 == "deployment_graph_tasks")
        .map(|column| column.1)
        .collect();
    let fields = stoker_model::TASK_FIELDS.iter().map(|spelling| spelling.canonical);
    let expected: Vec<&str> = ["id", "deployment_graph_id", "task_name", "position"]
        .into_iter()
        .chain(fields)
        .chain(["_custom"])
        .collect();
    assert_eq!(names, expected);
    fixture.remove().await;
}

on_both![
    concurrent_opens_succeed,
    former_checksums_are_accepted_and_kept,
    modified_migration_is_rejected,
    newer_schema_is_rejected_and_unchanged,
    reopening_is_idempotent,
];
