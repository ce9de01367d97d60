//! Package root of a server: one subdirectory per installed package.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::ArchiveError;
use crate::limits::ArchiveLimits;
use crate::unpack::{UNPACKING_PREFIX, UnpackedPackage, unpack};

/// Name prefix of directories that hold replaced or removed packages until the change is committed.
const REPLACED_PREFIX: &str = ".replaced-";

/// Directory of installed packages. Names that start with a dot are work in progress and not visible as
/// packages. A crash leaves only such directories behind, which [`PluginsRoot::recover`] cleans up.
#[derive(Clone, Debug)]
pub struct PluginsRoot {
    path: PathBuf,
}

impl PluginsRoot {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn folder(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates an unnamed temporary file for an upload; it is deleted when closed.
    pub fn temporary_file(&self) -> io::Result<File> {
        fs::create_dir_all(&self.path)?;
        tempfile::tempfile_in(&self.path)
    }

    /// Unpacks an archive into a temporary directory on the same file system.
    pub fn unpack(&self, source: impl Read, limits: &ArchiveLimits) -> Result<UnpackedPackage, ArchiveError> {
        fs::create_dir_all(&self.path)?;
        unpack(source, &self.path, limits)
    }

    /// Returns the names of all packages, sorted.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'));
            if entry.file_type()?.is_dir() {
                names.extend(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Cleans up after a crash; no other process may use the root meanwhile. Partially unpacked archives are
    /// removed. A package that was set aside for a replacement is restored, unless the replacement is in
    /// place.
    pub fn recover(&self) -> io::Result<()> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(REPLACED_PREFIX) {
                self.restore(&entry.path())?;
            }
            if name.starts_with(REPLACED_PREFIX) || name.starts_with(UNPACKING_PREFIX) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    fn restore(&self, aside: &Path) -> io::Result<()> {
        for entry in fs::read_dir(aside)? {
            let entry = entry?;
            let target = self.path.join(entry.file_name());
            if target.symlink_metadata().is_err() {
                fs::rename(entry.path(), target)?;
            }
        }
        Ok(())
    }

    /// Installs a package and replaces an existing package of that name.
    pub fn install(&self, package: UnpackedPackage, name: &str) -> io::Result<PendingChange> {
        let target = self.folder(name);
        let mut undo = self.remove(name)?;
        undo.has_new = true;
        // On failure, dropping `undo` restores the old package.
        package.move_to(&target)?;
        Ok(undo)
    }

    /// Removes a package if it exists.
    pub fn remove(&self, name: &str) -> io::Result<PendingChange> {
        let target = self.folder(name);
        let mut undo = PendingChange { target, old: None, has_new: false, is_committed: false };
        if undo.target.symlink_metadata().is_ok() {
            let aside = tempfile::Builder::new().prefix(REPLACED_PREFIX).tempdir_in(&self.path)?;
            fs::rename(&undo.target, aside.path().join(name))?;
            undo.old = Some(aside);
        }
        Ok(undo)
    }
}

/// Change of the root that is rolled back on drop unless it is committed with [`PendingChange::commit`].
#[derive(Debug)]
#[must_use = "dropping this rolls the change back"]
pub struct PendingChange {
    target: PathBuf,
    old: Option<TempDir>,
    has_new: bool,
    is_committed: bool,
}

impl PendingChange {
    pub fn commit(mut self) {
        self.is_committed = true;
    }

    fn roll_back(&self) -> io::Result<()> {
        if self.has_new {
            remove(&self.target)?;
        }
        match &self.old {
            Some(aside) => {
                let name = self.target.file_name().unwrap_or_default();
                fs::rename(aside.path().join(name), &self.target)
            }
            None => Ok(()),
        }
    }
}

impl Drop for PendingChange {
    fn drop(&mut self) {
        if !self.is_committed && self.roll_back().is_err() {
            // Rollback failed: keep the old package in its temporary directory for manual recovery.
            if let Some(aside) = self.old.take() {
                let _ = aside.keep();
            }
        }
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
