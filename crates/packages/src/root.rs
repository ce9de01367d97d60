//! Where a server keeps the packages that are installed: one folder, and in it one for each.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::ArchiveError;
use crate::limits::Limits;
use crate::unpack::{UNPACKING, Unpacked, unpack};

/// How folders of packages begin that are about to go.
const ASIDE: &str = ".replaced-";

/// Names that begin with a dot are work in progress: nobody else looks at them, and whoever dies leaves nothing else behind,
/// which [`PluginsRoot::recover`] puts in order.
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

    /// A file for what is on its way; it goes away by itself.
    pub fn incoming(&self) -> io::Result<File> {
        fs::create_dir_all(&self.path)?;
        tempfile::tempfile_in(&self.path)
    }

    /// Unpacks an archive beside what is installed.
    pub fn receive(&self, source: impl Read, limits: &Limits) -> Result<Unpacked, ArchiveError> {
        fs::create_dir_all(&self.path)?;
        unpack(source, &self.path, limits)
    }

    /// Names of all packages, in order.
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

    /// Puts in order what somebody left who died; nobody else may be at work. What was unpacked halfway goes. A package that
    /// was put aside comes back, unless another one has taken its place.
    pub fn recover(&self) -> io::Result<()> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(ASIDE) {
                self.bring_back(&entry.path())?;
            }
            if name.starts_with(ASIDE) || name.starts_with(UNPACKING) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    fn bring_back(&self, aside: &Path) -> io::Result<()> {
        for entry in fs::read_dir(aside)? {
            let entry = entry?;
            let target = self.path.join(entry.file_name());
            if target.symlink_metadata().is_err() {
                fs::rename(entry.path(), target)?;
            }
        }
        Ok(())
    }

    /// Puts a package into its place, instead of one that may be there.
    pub fn put(&self, package: Unpacked, name: &str) -> io::Result<Undo> {
        let target = self.folder(name);
        let mut undo = self.take(name)?;
        undo.has_new = true;
        // If this fails, the drop of `undo` brings the old one back.
        package.move_to(&target)?;
        Ok(undo)
    }

    /// Takes a package away, if it is there.
    pub fn take(&self, name: &str) -> io::Result<Undo> {
        let target = self.folder(name);
        let mut undo = Undo { target, old: None, has_new: false, is_kept: false };
        if undo.target.symlink_metadata().is_ok() {
            let aside = tempfile::Builder::new().prefix(ASIDE).tempdir_in(&self.path)?;
            fs::rename(&undo.target, aside.path().join(name))?;
            undo.old = Some(aside);
        }
        Ok(undo)
    }
}

/// A change of the root that is taken back unless it is kept.
#[derive(Debug)]
#[must_use = "a change that is not kept is taken back"]
pub struct Undo {
    target: PathBuf,
    old: Option<TempDir>,
    has_new: bool,
    is_kept: bool,
}

impl Undo {
    pub fn keep(mut self) {
        self.is_kept = true;
    }

    fn take_back(&self) -> io::Result<()> {
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

impl Drop for Undo {
    fn drop(&mut self) {
        if !self.is_kept && self.take_back().is_err() {
            // The old one stays aside, where a person can find it.
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
