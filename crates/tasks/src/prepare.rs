//! Preparation of attempts on the master: adds the contents of files that only the master has.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};

use crate::find;

/// Maximum total size of the files of one task, which are sent in one message. Must stay well below the limit
/// of a message to an agent.
pub const COPY_BYTES_MAX: usize = 8 << 20;
/// Maximum number of files in a directory, including subdirectories.
const FOLDER_FILES_MAX: usize = 2000;
const FOLDER_DEPTH_MAX: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderFile {
    pub path: String,
    pub is_executable: bool,
}

/// Reason why files of the master cannot be sent to a node.
#[derive(Debug, thiserror::Error)]
pub enum MasterFileError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("`{}`: {source}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("{0}")]
    Unsuitable(String),
}

/// Access to files of the master.
pub trait MasterFiles {
    /// Lists all files below a directory, sorted. `None` if the path is not a directory.
    fn list(&self, folder: &str) -> Result<Option<Vec<FolderFile>>, MasterFileError>;

    /// Reads a file of at most `bytes_max` bytes.
    fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, MasterFileError>;
}

pub(crate) type Prepare = fn(&mut JsonMap, &dyn MasterFiles) -> Vec<Diagnostic>;

/// Returns the parameters with file contents added, or all problems.
pub fn prepare(task_type: &str, parameters: Json, files: &dyn MasterFiles) -> Result<Json, Vec<Diagnostic>> {
    let Some(prepare) = find(task_type).and_then(|task_type| task_type.prepare) else {
        return Ok(parameters);
    };
    let Json::Object(mut map) = parameters else { return Ok(parameters) };
    let problems = prepare(&mut map, files);
    if problems.is_empty() { Ok(Json::Object(map)) } else { Err(problems) }
}

/// Files of the local machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemFiles;

impl MasterFiles for SystemFiles {
    fn list(&self, folder: &str) -> Result<Option<Vec<FolderFile>>, MasterFileError> {
        let folder = Path::new(folder);
        if !folder.is_dir() {
            return Ok(None);
        }
        let mut files = Vec::new();
        list_into(&mut files, folder, "", FOLDER_DEPTH_MAX)?;
        files.sort();
        Ok(Some(files))
    }

    fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, MasterFileError> {
        // Check the type before opening: opening a FIFO blocks until it has a writer.
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(MasterFileError::Unsuitable("it is not a file".to_owned()));
        }
        let file = File::open(path)?;
        let mut data = Vec::new();
        // Limit the read instead of trusting the metadata: the file may grow.
        let n_read = file.take(bytes_max as u64 + 1).read_to_end(&mut data)?;
        if n_read > bytes_max {
            return Err(MasterFileError::Unsuitable(format!(
                "it is larger than the remaining {bytes_max} of {COPY_BYTES_MAX} bytes that a task can carry; use a \
                 `sync` task"
            )));
        }
        Ok(data)
    }
}

/// Lists files recursively. Symbolic links are rejected: a user who can create a link in the directory could
/// read every file that the master can read.
fn list_into(
    files: &mut Vec<FolderFile>,
    folder: &Path,
    prefix: &str,
    depth_remaining: usize,
) -> Result<(), MasterFileError> {
    let list_error = |source: io::Error| MasterFileError::Folder { folder: folder.to_owned(), source };
    let unsuitable = |reason: String| Err(MasterFileError::Unsuitable(reason));
    for entry in fs::read_dir(folder).map_err(list_error)? {
        let entry = entry.map_err(list_error)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return unsuitable(format!("the name of `{prefix}{}` is not valid UTF-8", name.display()));
        };
        let path = format!("{prefix}{name}");
        let metadata = entry.metadata().map_err(list_error)?;
        if metadata.is_dir() {
            if depth_remaining == 0 {
                return unsuitable(format!(
                    "its directories are nested more than {FOLDER_DEPTH_MAX} levels deep"
                ));
            }
            list_into(files, &entry.path(), &format!("{path}/"), depth_remaining - 1)?;
        } else if metadata.is_file() {
            if files.len() == FOLDER_FILES_MAX {
                return unsuitable(format!(
                    "it has more than {FOLDER_FILES_MAX} files, the limit for a task"
                ));
            }
            files.push(FolderFile { path, is_executable: metadata.permissions().mode() & 0o100 != 0 });
        } else {
            return unsuitable(format!("its entry `{path}` is neither a regular file nor a directory"));
        }
    }
    Ok(())
}
