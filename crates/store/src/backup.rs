//! Backup of a SQLite database into one file, and restore.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::error::BoxedError;
use crate::migrations::{SQLITE, newest_version};
use crate::store::Db;
use crate::{Store, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("`{}` already exists", path.display())]
    Exists { path: PathBuf },
    /// The database is not SQLite; PostgreSQL has separate backup tools.
    #[error("cannot back up a PostgreSQL database; use `pg_dump --format=custom` and `pg_restore`")]
    NotSqlite,
    /// The file is corrupt, not a database, or a database of another program.
    #[error("`{}` is not a Stoker backup", path.display())]
    InvalidBackup {
        path: PathBuf,
        #[source]
        source: BoxedError,
    },
    #[error(
        "the backup has schema version {database}, but this program supports up to {supported}; use a newer `stoker`"
    )]
    SchemaTooNew { database: i64, supported: i64 },
    #[error("`{}` is open in another process; stop that process first", path.display())]
    InUse { path: PathBuf },
    #[error("cannot access `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot create the backup")]
    Store(#[from] StoreError),
}

impl Store {
    /// Writes a consistent snapshot into a new file while other sessions continue.
    pub async fn backup_to(&self, path: &Path) -> Result<(), BackupError> {
        let Db::Sqlite { writer, .. } = &self.db else { return Err(BackupError::NotSqlite) };
        let Some(text) = path.to_str() else {
            return Err(file(
                path,
                io::Error::new(io::ErrorKind::InvalidInput, "the file name is not UTF-8"),
            ));
        };
        // Created before SQLite opens it, so that it is never readable by other users and no existing backup
        // is overwritten.
        match create_private(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(BackupError::Exists { path: path.to_owned() });
            }
            Err(error) => return Err(file(path, error)),
        }
        // A separate connection without statement timeout: copying the whole database may take long.
        let options = writer.connect_options();
        let copy = async {
            let mut connection = options.as_ref().clone().connect().await?;
            sqlx::query("VACUUM INTO $1").bind(text).execute(&mut connection).await?;
            connection.close().await
        };
        if let Err(error) = copy.await {
            drop(fs::remove_file(path));
            return Err(StoreError::from(error).into());
        }
        sync(path)
    }
}

/// Replaces a database that no process has open by a backup. An existing database is replaced only with
/// `force`.
///
/// Atomic: the backup is validated first, copied next to the target and renamed over it. After a crash the
/// target is either the old or the new database.
pub async fn restore(backup: &Path, target: &Path, force: bool) -> Result<(), BackupError> {
    check(backup).await?;
    let exists = fs::symlink_metadata(target).is_ok();
    if exists && !force {
        return Err(BackupError::Exists { path: target.to_owned() });
    }
    if exists && is_in_use(target).await {
        return Err(BackupError::InUse { path: target.to_owned() });
    }
    let fresh = with_suffix(target, ".restoring");
    drop(fs::remove_file(&fresh));
    let result = install(backup, &fresh, target);
    if result.is_err() {
        drop(fs::remove_file(&fresh));
    }
    result
}

fn install(backup: &Path, fresh: &Path, target: &Path) -> Result<(), BackupError> {
    create_private(fresh).map_err(|error| file(fresh, error))?;
    fs::copy(backup, fresh).map_err(|error| file(backup, error))?;
    set_private(fresh).map_err(|error| file(fresh, error))?;
    sync(fresh)?;
    // A leftover write-ahead log of the old database would be replayed into the new one.
    for suffix in ["-wal", "-shm", "-journal"] {
        match fs::remove_file(with_suffix(target, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file(target, error)),
            _ => {}
        }
    }
    fs::rename(fresh, target).map_err(|error| file(target, error))
}

/// Checks that the file is an intact Stoker database with a supported schema version.
async fn check(path: &Path) -> Result<(), BackupError> {
    fs::metadata(path).map_err(|error| file(path, error))?;
    let not_a_backup = |source: BoxedError| BackupError::InvalidBackup { path: path.to_owned(), source };
    if fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(not_a_backup(
            "a write-ahead log exists next to it: it is a live database or an incomplete copy".into(),
        ));
    }
    let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
    let mut connection = options.connect().await.map_err(|error| not_a_backup(error.into()))?;
    let result = examine(&mut connection).await.map_err(|error| not_a_backup(error.into()));
    drop(connection.close().await);
    let (integrity, version) = result?;
    if integrity != "ok" {
        return Err(not_a_backup(integrity.into()));
    }
    let supported = newest_version(&SQLITE);
    match version {
        None => Err(not_a_backup("it has no schema version".into())),
        Some(version) if version > supported => {
            Err(BackupError::SchemaTooNew { database: version, supported })
        }
        Some(_) => Ok(()),
    }
}

/// Reports whether another process has the database open. Leaving WAL mode requires exclusive access and
/// fails in that case. A file that cannot be opened as a database counts as not in use.
async fn is_in_use(path: &Path) -> bool {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
    let Ok(mut connection) = options.connect().await else { return false };
    let exclusive = sqlx::query("PRAGMA journal_mode = DELETE").execute(&mut connection).await;
    drop(connection.close().await);
    exclusive.is_err_and(|error| matches!(StoreError::from(error), StoreError::Unavailable(_)))
}

async fn examine(connection: &mut SqliteConnection) -> Result<(String, Option<i64>), sqlx::Error> {
    let integrity = sqlx::query("PRAGMA integrity_check(1)").fetch_one(&mut *connection).await?;
    // Every schema version has this table; a sqlx database of another program is unlikely to have it.
    let version_sql = "SELECT max(version) FROM _sqlx_migrations \
                WHERE EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'deployment_graphs')";
    let version = sqlx::query(version_sql).fetch_one(connection).await?;
    Ok((integrity.try_get(0)?, version.try_get(0)?))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates a file with mode 0600, because it contains password hashes. SQLite gives its side files the same
/// mode.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

fn set_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// Flushes the file and its directory entry to disk, so that the backup survives power loss.
fn sync(path: &Path) -> Result<(), BackupError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for path in [path, parent] {
        fs::File::open(path).and_then(|opened| opened.sync_all()).map_err(|error| file(path, error))?;
    }
    Ok(())
}

fn file(path: &Path, source: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), source }
}
