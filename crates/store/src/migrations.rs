//! Schema migrations, compiled into the program.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::migrate::{MigrateError, Migrator};

use crate::store::Db;

pub(crate) static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
pub(crate) static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// Checksums of migrations before their comments were edited: dialect, version and SHA-384, one per line.
const FORMER_CHECKSUMS: &str = include_str!("../migrations/former-checksums.txt");

const RECORDED: &str = "SELECT version, checksum FROM _sqlx_migrations";

/// Checksum of each applied migration, as recorded in the database.
type RecordedChecksums = BTreeMap<i64, Vec<u8>>;

/// Returns the newest schema version that this program supports.
pub(crate) fn newest_version(migrator: &Migrator) -> i64 {
    migrator.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Applies pending migrations. Fails if the recorded checksum of a migration is neither its present nor a former one.
///
/// Former checksums stay in the database, so that an earlier program of the same schema can still open it.
pub(crate) async fn apply(db: &Db) -> Result<(), MigrateError> {
    let recorded = recorded_checksums(db).await?;
    match db {
        Db::Sqlite { writer, .. } => accepting_former(&SQLITE, "sqlite", &recorded).run(writer).await,
        Db::Pg { pool, .. } => accepting_former(&POSTGRES, "postgres", &recorded).run(pool).await,
    }
}

async fn recorded_checksums(db: &Db) -> Result<RecordedChecksums, sqlx::Error> {
    match db {
        Db::Sqlite { writer, .. } => {
            let table = sqlx::query("SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations'");
            if table.fetch_optional(writer).await?.is_none() {
                return Ok(BTreeMap::new());
            }
            let rows = sqlx::query(RECORDED).fetch_all(writer).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
        }
        Db::Pg { pool, .. } => {
            let table = sqlx::query("SELECT to_regclass('_sqlx_migrations') IS NOT NULL");
            if !table.fetch_one(pool).await?.try_get::<bool, _>(0)? {
                return Ok(BTreeMap::new());
            }
            let rows = sqlx::query(RECORDED).fetch_all(pool).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
        }
    }
}

/// Returns the migrator with the recorded checksum of each migration for which it is a former one.
fn accepting_former(migrator: &Migrator, dialect: &str, recorded: &RecordedChecksums) -> Migrator {
    let mut migrations = migrator.migrations.to_vec();
    for migration in &mut migrations {
        if let Some(checksum) = recorded.get(&migration.version)
            && is_former(dialect, migration.version, checksum)
        {
            migration.checksum = checksum.clone().into();
        }
    }
    Migrator { migrations: migrations.into(), ..Migrator::DEFAULT }
}

fn is_former(dialect: &str, version: i64, checksum: &[u8]) -> bool {
    let line = format!("{dialect} {version} {}", hex::encode(checksum));
    FORMER_CHECKSUMS.lines().any(|former| former == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version and checksum of each former migration of a dialect.
    fn former(dialect: &str) -> Vec<(i64, Vec<u8>)> {
        let lines = FORMER_CHECKSUMS.lines().filter_map(|line| line.strip_prefix(dialect)?.strip_prefix(' '));
        let entry = |line: &str| {
            let (version, checksum) = line.split_once(' ').unwrap();
            (version.parse().unwrap(), hex::decode(checksum).unwrap())
        };
        lines.map(entry).collect()
    }

    #[test]
    fn former_checksums_belong_to_migrations() {
        for (migrator, dialect) in [(&SQLITE, "sqlite"), (&POSTGRES, "postgres")] {
            let former = former(dialect);
            assert!(!former.is_empty(), "{dialect}");
            for (version, checksum) in former {
                let migration = migrator.iter().find(|migration| migration.version == version).unwrap();
                assert_eq!(checksum.len(), migration.checksum.len(), "{dialect} {version}");
                assert_ne!(checksum, *migration.checksum, "{dialect} {version} is the present checksum");
            }
        }
    }

    #[test]
    fn only_former_checksums_are_accepted() {
        let recorded = BTreeMap::from([former("sqlite").remove(0), (2, vec![7; 48])]);
        let accepted = accepting_former(&SQLITE, "sqlite", &recorded);
        let changed = |version: i64| {
            let checksum = |migrator: &Migrator| {
                let migration = migrator.iter().find(|migration| migration.version == version).unwrap();
                migration.checksum.to_vec()
            };
            checksum(&accepted) != checksum(&SQLITE)
        };
        assert!(changed(1));
        assert!(!changed(2) && !changed(3));
        assert_eq!(accepted.iter().count(), SQLITE.iter().count());
    }
}
