//! `stoker backup` and `stoker restore`: the embedded database as one file.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use stoker_settings::DatabaseLocation;
use stoker_store::{BackupError, Database, Store};

use super::serve::Location;
use crate::diagnostic::Diagnostic;
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use crate::runtime::block_on;

/// Save the embedded database to a file, also while a server uses it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is a consistent copy of one moment. It holds the whole database, hashes of passwords included: keep it safe.
Not in it, and to be saved apart: the files of plugins (`plugins` in the data folder, or --plugins-root of the
server) and the keys that contents of modules are sealed with (--modules-key-file of the server).
A PostgreSQL database is saved with its own tools (pg_dump).

Examples:
  stoker backup /var/backups/stoker-monday.db
  stoker backup --data-dir /var/lib/stoker stoker.backup")]
pub(crate) struct BackupArgs {
    /// Where to; a file that is there is not overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    location: Location,
}

/// Put a saved database in place of the embedded one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Stop the server first. The file is looked at before anything is replaced: it must be a whole Stoker database of
a version that this program knows.

Examples:
  stoker restore /var/backups/stoker-monday.db
  stoker restore --force --data-dir /var/lib/stoker stoker.backup")]
pub(crate) struct RestoreArgs {
    /// What `stoker backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    location: Location,

    /// Replace a database that is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn backup(args: BackupArgs, printer: &mut Printer) -> Outcome {
    let path = embedded(args.location)?;
    if !path.is_file() {
        let message = format!("there is no database at {}", path.display());
        return Err(Failure::new(Exit::Unavailable, Diagnostic::error(message)));
    }
    block_on(save(path, &args.file))??;
    printer.note(&format!("saved to {}", args.file.display()));
    Ok(())
}

async fn save(path: PathBuf, file: &Path) -> Outcome {
    let store =
        Store::open(&Database::Sqlite { path }).await.map_err(|error| Failure::unavailable(&error))?;
    let saved =
        store.backup_to(file).await.map_err(|error| told(&error, "save to a file that is not there yet"));
    store.close().await;
    saved
}

pub(crate) fn restore(args: RestoreArgs, printer: &mut Printer) -> Outcome {
    let path = embedded(args.location)?;
    make_folder(&path)?;
    let restored = block_on(stoker_store::restore(&args.file, &path, args.force))?;
    restored.map_err(|error| told(&error, "`--force` replaces it; what is in it now is gone then"))?;
    printer.note(&format!("{} is now what {} was", path.display(), args.file.display()));
    Ok(())
}

/// `help` is what to do about a file that is there already.
fn told(error: &BackupError, help: &str) -> Failure {
    let mut failure = Failure::unavailable(error);
    if matches!(error, BackupError::Exists { .. }) {
        failure.diagnostics =
            failure.diagnostics.into_iter().map(|one| one.help(Some(help.to_owned()))).collect();
    }
    failure
}

/// A machine to be set up anew has no folder yet. Others on it have no business in it.
fn make_folder(path: &Path) -> Outcome {
    let Some(folder) = path.parent() else { return Ok(()) };
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Failure::input(format!("cannot make the folder {}: {error}", folder.display())))
}

fn embedded(location: Location) -> Outcome<PathBuf> {
    match location.resolve()? {
        DatabaseLocation::Folder(folder) => Ok(folder.join(DatabaseLocation::FILE)),
        DatabaseLocation::Url(_) => Err(Failure::input(
            "this is about the embedded database; save a PostgreSQL database with `pg_dump`",
        )),
    }
}
