//! What the master adds to the parameters of an attempt before it leaves: files that only the master has.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use stoker_model::{Json, JsonMap};

use crate::check::Remark;
use crate::find;

/// Files of one task that travel with it, together.
pub const COPY_BYTES_MAX: usize = 8 << 20;
/// Files of one folder, at any depth.
const FOLDER_FILES_MAX: usize = 2000;
const FOLDER_DEPTH_MAX: usize = 32;

/// A file in a folder of the master.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderFile {
    /// Relative to the folder.
    pub path: String,
    pub is_executable: bool,
}

/// Files of the master.
pub trait MasterFiles {
    /// All files below a folder, in order; nothing if it is no folder; otherwise why they cannot be listed.
    fn list(&self, folder: &str) -> Result<Option<Vec<FolderFile>>, String>;

    /// The whole file, unless it is larger than that; otherwise why not.
    fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, String>;
}

pub(crate) type Prepare = fn(&mut JsonMap, &dyn MasterFiles) -> Vec<Remark>;

/// Parameters with everything in them that the agent needs, or every reason why not.
pub fn prepare(task_type: &str, parameters: Json, files: &dyn MasterFiles) -> Result<Json, Vec<Remark>> {
    let Some(prepare) = find(task_type).and_then(|task_type| task_type.prepare) else {
        return Ok(parameters);
    };
    let Json::Object(mut map) = parameters else { return Ok(parameters) };
    let problems = prepare(&mut map, files);
    if problems.is_empty() { Ok(Json::Object(map)) } else { Err(problems) }
}

/// The files of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemFiles;

impl MasterFiles for SystemFiles {
    fn list(&self, folder: &str) -> Result<Option<Vec<FolderFile>>, String> {
        let folder = Path::new(folder);
        if !folder.is_dir() {
            return Ok(None);
        }
        let mut files = Vec::new();
        list_into(&mut files, folder, "", FOLDER_DEPTH_MAX)?;
        files.sort();
        Ok(Some(files))
    }

    fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
        // Looked at before it is opened: whoever opens a pipe waits for somebody to write into it.
        let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("it is not a file".to_owned());
        }
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mut data = Vec::new();
        // Read rather than believed: a file may grow.
        let n_read =
            file.take(bytes_max as u64 + 1).read_to_end(&mut data).map_err(|error| error.to_string())?;
        if n_read > bytes_max {
            return Err(format!(
                "{COPY_BYTES_MAX} bytes may travel with a task, and it is larger than the {bytes_max} that are left; \
                 use `sync`"
            ));
        }
        Ok(data)
    }
}

/// Links are refused: whoever can put one into the folder could read everything the master can.
fn list_into(
    files: &mut Vec<FolderFile>,
    folder: &Path,
    prefix: &str,
    depth_left: usize,
) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("`{}`: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(format!("the name of `{prefix}{}` is no text", name.display()));
        };
        let path = format!("{prefix}{name}");
        let metadata = entry.metadata().map_err(wrong)?;
        if metadata.is_dir() {
            if depth_left == 0 {
                return Err(format!("its folders are nested deeper than {FOLDER_DEPTH_MAX}"));
            }
            list_into(files, &entry.path(), &format!("{path}/"), depth_left - 1)?;
        } else if metadata.is_file() {
            if files.len() == FOLDER_FILES_MAX {
                return Err(format!(
                    "it has more than the {FOLDER_FILES_MAX} files that may travel with a task"
                ));
            }
            files.push(FolderFile { path, is_executable: metadata.permissions().mode() & 0o100 != 0 });
        } else {
            return Err(format!("`{path}` in it is neither a file nor a folder"));
        }
    }
    Ok(())
}
