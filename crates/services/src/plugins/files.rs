//! Plugin files on disk, with exclusive access for changes.

use std::io;
use std::sync::Arc;

use stoker_diagnostics::{Diagnostic, list};
use stoker_model::ErrorChain;
use stoker_packages::{ArchiveError, PendingChange, PluginsRoot};
use stoker_settings::{DatabaseLocation, Server};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::error::{ErrorReport, ServiceError, ServiceResult};

#[derive(Clone)]
pub struct Packages {
    root: PluginsRoot,
    changing: Arc<Mutex<()>>,
}

/// Exclusive access to the plugins root.
pub struct Changing {
    pub root: PluginsRoot,
    _lock: OwnedMutexGuard<()>,
}

impl Packages {
    /// Opens the files of plugins. An embedded server recovers changes that a crash interrupted. With a
    /// shared database, another server may be changing the files.
    pub fn new(settings: &Server) -> Self {
        let root = PluginsRoot::new(&settings.plugins_root);
        if matches!(settings.database, DatabaseLocation::Folder(_))
            && let Err(error) = root.recover()
        {
            tracing::warn!(error = %ErrorChain(&error), "cannot recover the plugins directory");
        }
        Self { root, changing: Arc::default() }
    }

    pub fn root(&self) -> &PluginsRoot {
        &self.root
    }

    /// Waits for exclusive access to plugin files and records.
    pub async fn change(&self) -> Changing {
        Changing { root: self.root.clone(), _lock: Arc::clone(&self.changing).lock_owned().await }
    }
}

/// Runs file work on a blocking thread.
pub async fn spawn_blocking_io<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> ServiceResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ServiceError::internal_from("a plugin file task panicked or was cancelled", error))
}

/// Commits a change of files. Deleting the previous files may take a while.
pub async fn keep(change: PendingChange) -> ServiceResult<()> {
    spawn_blocking_io(|| change.commit()).await
}

/// Returns the error of the server's disk.
pub fn io_error(error: io::Error) -> ServiceError {
    let message = "the server cannot read or write plugin files; see its log";
    ServiceError::unavailable(message, error)
}

pub fn invalid_archive_error(error: ArchiveError) -> ServiceError {
    match error {
        ArchiveError::Environment(error) => io_error(error),
        about => ServiceError::invalid(about.to_string()),
    }
}

/// Returns the error with all problems of packages. Each problem has a prefix: its directory with a slash, or
/// an empty text.
pub fn invalid_package_error<'p>(problems: impl Iterator<Item = (&'p str, &'p Diagnostic)>) -> ServiceError {
    let (lines, items): (Vec<String>, Vec<Diagnostic>) = problems
        .map(|(folder, problem)| (format!("{folder}{problem}"), package_item(folder, problem.clone())))
        .unzip();
    ServiceError::Invalid(ErrorReport { message: list(lines.into_iter()), ..ErrorReport::of(items) })
}

/// Prepends directory and file to the path. In an error item without a file, `line` refers to the file of the
/// path.
fn package_item(folder: &str, mut problem: Diagnostic) -> Diagnostic {
    let file = problem.location.file.take().unwrap_or_default();
    problem.location.path = match &*problem.location.path {
        "" => format!("{folder}{file}"),
        inner => format!("{folder}{file}: {inner}"),
    };
    problem
}
