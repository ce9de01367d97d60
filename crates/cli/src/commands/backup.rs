//! `stoker backup` and `stoker restore` for the embedded database.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use stoker_diagnostics::Diagnostic;
use stoker_settings::DatabaseLocation;
use stoker_store::{BackupError, Database, Store};

use super::serve::ServerData;
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use crate::runtime::block_on;

/// Back up the embedded database to a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The backup is a consistent snapshot and can be taken while a server is running. It contains the whole database, including
password hashes: store it securely. It does not contain plugin files (`plugins` in the data directory, or
`--plugins-root` of the server) or the encryption keys of module payloads (`--modules-key-file` of the server); back them
up separately. PostgreSQL databases are rejected; use `pg_dump` for them.

Examples:
  stoker backup /var/backups/stoker-monday.db
  stoker backup --data-dir /var/lib/stoker stoker.backup
  stoker backup --config /etc/stoker/serve.toml stoker.backup")]
pub(crate) struct BackupArgs {
    /// Backup file to create; fails if it exists
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    data: ServerData,
}

/// Restore the embedded database from a backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Stop the server first. The backup is verified before anything is replaced: it must be a complete Stoker database of a
supported version. PostgreSQL databases are rejected; use `pg_restore` for them.

Examples:
  stoker restore /var/backups/stoker-monday.db
  stoker restore --force --data-dir /var/lib/stoker stoker.backup
  stoker restore --force --config /etc/stoker/serve.toml stoker.backup")]
pub(crate) struct RestoreArgs {
    /// Backup file, as created by `stoker backup`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    data: ServerData,

    /// Replace an existing database; its current data is lost
    #[arg(long)]
    force: bool,
}

pub(crate) fn backup(args: BackupArgs, printer: &mut Printer) -> Outcome {
    let path = embedded_path(args.data)?;
    if !path.is_file() {
        let message = format!("no database at {}", path.display());
        return Err(Failure::new(Exit::Unavailable, Diagnostic::plain(message)));
    }
    block_on(save(path, &args.file))??;
    printer.note(&format!("wrote backup to {}", args.file.display()));
    Ok(())
}

async fn save(path: PathBuf, file: &Path) -> Outcome {
    let store =
        Store::open(&Database::Sqlite { path }).await.map_err(|error| Failure::unavailable(&error))?;
    let result = store
        .backup_to(file)
        .await
        .map_err(|error| backup_failure(&error, "choose a file that does not exist"));
    store.close().await;
    result
}

pub(crate) fn restore(args: RestoreArgs, printer: &mut Printer) -> Outcome {
    let path = embedded_path(args.data)?;
    create_folder(&path)?;
    let result = block_on(stoker_store::restore(&args.file, &path, args.force))?;
    result
        .map_err(|error| backup_failure(&error, "pass `--force` to replace it; its current data is lost"))?;
    printer.note(&format!("restored {} from {}", path.display(), args.file.display()));
    Ok(())
}

/// Converts a backup error. `help` is the hint if the file already exists.
fn backup_failure(error: &BackupError, help: &str) -> Failure {
    let mut failure = Failure::unavailable(error);
    if matches!(error, BackupError::Exists { .. }) {
        failure.diagnostics =
            failure.diagnostics.into_iter().map(|diagnostic| diagnostic.help(help)).collect();
    }
    failure
}

/// Creates the directory of the database, accessible by its owner only.
fn create_folder(path: &Path) -> Outcome {
    let Some(folder) = path.parent() else { return Ok(()) };
    let result = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    result.map_err(|error| Failure::input(format!("cannot create directory {}: {error}", folder.display())))
}

fn embedded_path(data: ServerData) -> Outcome<PathBuf> {
    match data.resolve()? {
        DatabaseLocation::Folder(folder) => Ok(folder.join(DatabaseLocation::FILE)),
        DatabaseLocation::Url(_) => Err(Failure::input(
            "this command supports only the embedded database; use `pg_dump` and `pg_restore` for PostgreSQL",
        )),
    }
}
