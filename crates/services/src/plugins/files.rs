//! Files of plugins: where they are, and that one changes them at a time.

use std::io;
use std::sync::Arc;

use stoker_packages::{ArchiveError, PluginsRoot, Undo};
use stoker_registry::package::PackageProblem;
use stoker_settings::{DatabaseLocation, Server};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::error::{ErrorDetail, ErrorReport, ServiceError, ServiceResult};

#[derive(Clone)]
pub struct Packages {
    root: PluginsRoot,
    changing: Arc<Mutex<()>>,
}

/// The right to change what is below the root.
pub struct Changing {
    pub root: PluginsRoot,
    _alone: OwnedMutexGuard<()>,
}

impl Packages {
    /// A server that is alone puts in order what it left when it died.
    pub fn new(settings: &Server) -> Self {
        let root = PluginsRoot::new(&settings.plugins_root);
        if matches!(settings.database, DatabaseLocation::Folder(_))
            && let Err(error) = root.recover()
        {
            tracing::warn!(error = %error, "the folder of plugins cannot be put in order");
        }
        Self { root, changing: Arc::default() }
    }

    pub fn root(&self) -> &PluginsRoot {
        &self.root
    }

    /// Waits until nobody else changes files and records of plugins.
    pub async fn change(&self) -> Changing {
        Changing { root: self.root.clone(), _alone: Arc::clone(&self.changing).lock_owned().await }
    }
}

/// Does what takes long with files where it holds up nobody else.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ServiceResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ServiceError::internal_from("work with files of plugins broke off", error))
}

/// Keeps a change of the files; removing what was there before may take its time.
pub async fn keep(change: Undo) -> ServiceResult<()> {
    aside(|| change.keep()).await
}

/// The disk, not the client, is at fault.
pub fn disk_failed(error: io::Error) -> ServiceError {
    let message = "the server cannot read or write files of plugins; its log says why";
    ServiceError::unavailable(message, error)
}

pub fn archive_refused(error: ArchiveError) -> ServiceError {
    match error {
        ArchiveError::Environment(error) => disk_failed(error),
        about => ServiceError::invalid(about.to_string()),
    }
}

/// Everything that is wrong with packages; each problem with the name of its folder and a slash, or with nothing.
pub fn package_refused<'p>(problems: impl Iterator<Item = (&'p str, &'p PackageProblem)>) -> ServiceError {
    const TOLD_MAX: usize = 20;
    let (mut told, mut items) = (Vec::new(), Vec::new());
    for (folder, problem) in problems {
        told.push(format!("{folder}{problem}"));
        items.push(problem_item(folder, problem));
    }
    let message = match &told[..] {
        [only] => only.clone(),
        _ => format!("{} problems\n- {}", told.len(), told[..told.len().min(TOLD_MAX)].join("\n- ")),
    };
    ServiceError::Invalid(ErrorReport { message, ..ErrorReport::of(items) })
}

/// The file is a part of the path.
fn problem_item(folder: &str, problem: &PackageProblem) -> ErrorDetail {
    let path = match &*problem.path {
        "" => format!("{folder}{}", problem.file),
        inner => format!("{folder}{}: {inner}", problem.file),
    };
    let place = problem.span.map(|span| span.start);
    ErrorDetail {
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        code: Some(problem.code),
        help: problem.help.clone(),
        ..ErrorDetail::new(path, &*problem.message)
    }
}
