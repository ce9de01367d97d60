//! Schema migrations, compiled into the program.

use sqlx::migrate::Migrator;

pub(crate) static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
pub(crate) static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// Returns the newest schema version that this program supports.
pub(crate) fn newest_version(migrator: &Migrator) -> i64 {
    migrator.iter().map(|migration| migration.version).max().unwrap_or_default()
}
