//! Copies of a database in one file, and the way back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::open::{SQLITE, known};
use crate::store::Db;
use crate::{Store, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    /// PostgreSQL has a better tool of its own.
    #[error("a PostgreSQL database is saved with `pg_dump --format=custom` and restored with `pg_restore`")]
    NotSqlite,
    /// The file is damaged, no database, or one of another program.
    #[error("`{}` is no backup of Stoker: {detail}", path.display())]
    NotABackup { path: PathBuf, detail: String },
    #[error("the backup is of version {found}, this program knows {known}; use a newer program")]
    Newer { found: i64, known: i64 },
    #[error("a program has `{}` open; stop it first", path.display())]
    InUse { path: PathBuf },
    #[error("cannot use `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot make the copy")]
    Store(#[from] StoreError),
}

impl Store {
    /// Writes a copy of one moment into a new file while others go on working.
    pub async fn backup_to(&self, path: &Path) -> Result<(), BackupError> {
        let Db::Sqlite { writer, .. } = &self.db else { return Err(BackupError::NotSqlite) };
        let Some(text) = path.to_str() else {
            return Err(file(path, io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8")));
        };
        // Made by us first: nobody else can read it for a moment, and an old copy is not overwritten.
        match create_private(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(BackupError::Exists { path: path.to_owned() });
            }
            Err(error) => return Err(file(path, error)),
        }
        // A connection of its own, for as long as it takes: no limit of a statement applies to a copy of everything.
        let options = writer.connect_options();
        let copied = async {
            let mut connection = options.as_ref().clone().connect().await?;
            sqlx::query("VACUUM INTO $1").bind(text).execute(&mut connection).await?;
            connection.close().await
        };
        if let Err(error) = copied.await {
            drop(fs::remove_file(path));
            return Err(StoreError::from(error).into());
        }
        sync(path)
    }
}

/// Puts a backup in the place of a database that no program has open. With `force` it may replace one.
///
/// The backup is checked before anything is touched, copied beside its target and moved there in one step: whatever
/// happens, the target is the old or the new database, never half of one.
pub async fn restore(backup: &Path, target: &Path, force: bool) -> Result<(), BackupError> {
    check(backup).await?;
    let exists = fs::symlink_metadata(target).is_ok();
    if exists && !force {
        return Err(BackupError::Exists { path: target.to_owned() });
    }
    if exists && is_in_use(target).await {
        return Err(BackupError::InUse { path: target.to_owned() });
    }
    let fresh = beside(target, ".restoring");
    drop(fs::remove_file(&fresh));
    let placed = place(backup, &fresh, target);
    if placed.is_err() {
        drop(fs::remove_file(&fresh));
    }
    placed
}

fn place(backup: &Path, fresh: &Path, target: &Path) -> Result<(), BackupError> {
    create_private(fresh).map_err(|error| file(fresh, error))?;
    fs::copy(backup, fresh).map_err(|error| file(backup, error))?;
    set_private(fresh).map_err(|error| file(fresh, error))?;
    sync(fresh)?;
    // What the old database had not yet moved out of its log would be played into the new one.
    for suffix in ["-wal", "-shm", "-journal"] {
        match fs::remove_file(beside(target, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file(target, error)),
            _ => {}
        }
    }
    fs::rename(fresh, target).map_err(|error| file(target, error))
}

/// Whether a file is a whole database of ours, and of a version that we can read.
async fn check(path: &Path) -> Result<(), BackupError> {
    fs::metadata(path).map_err(|error| file(path, error))?;
    let not = |detail: String| BackupError::NotABackup { path: path.to_owned(), detail };
    if fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(not(
            "it has a log beside it, so it is a database in use or a copy of a part of one".to_owned()
        ));
    }
    let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
    let mut connection = options.connect().await.map_err(|error| not(error.to_string()))?;
    let verdict = examine(&mut connection).await.map_err(|error| not(error.to_string()));
    drop(connection.close().await);
    let (integrity, found) = verdict?;
    if integrity != "ok" {
        return Err(not(integrity));
    }
    let known = known(&SQLITE);
    match found {
        None => Err(not("it has no version".to_owned())),
        Some(found) if found > known => Err(BackupError::Newer { found, known }),
        Some(_) => Ok(()),
    }
}

/// Leaving the journal mode of ours needs the file for oneself, which no other program may have open then. A file
/// that cannot be opened at all is nobody's.
async fn is_in_use(path: &Path) -> bool {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
    let Ok(mut connection) = options.connect().await else { return false };
    let alone = sqlx::query("PRAGMA journal_mode = DELETE").execute(&mut connection).await;
    drop(connection.close().await);
    alone.is_err_and(|error| matches!(StoreError::from(error), StoreError::Unavailable(_)))
}

async fn examine(connection: &mut SqliteConnection) -> Result<(String, Option<i64>), sqlx::Error> {
    let integrity = sqlx::query("PRAGMA integrity_check(1)").fetch_one(&mut *connection).await?;
    // Every version of ours has this table, and hardly anybody else's database has both.
    let ours = "SELECT max(version) FROM _sqlx_migrations \
                WHERE EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'deployment_graphs')";
    let version = sqlx::query(ours).fetch_one(connection).await?;
    Ok((integrity.try_get(0)?, version.try_get(0)?))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Hashes of passwords are inside: the file is its owner's alone. SQLite gives its side files the same mode.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

fn set_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// A copy that is lost with the power was none: the file and its name are on the disk.
fn sync(path: &Path) -> Result<(), BackupError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for place in [path, parent] {
        fs::File::open(place).and_then(|opened| opened.sync_all()).map_err(|error| file(place, error))?;
    }
    Ok(())
}

fn file(path: &Path, source: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), source }
}
