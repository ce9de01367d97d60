//! What the master adds to the parameters of an attempt before it leaves: files that only the master has.

use std::io::Read as _;

use stoker_model::{Json, JsonMap};

use crate::check::Remark;
use crate::find;

/// Files of one task that travel with it, together.
pub const COPY_BYTES_MAX: usize = 8 << 20;

/// Files of the master.
pub trait MasterFiles {
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
    fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
        // Looked at before it is opened: whoever opens a pipe waits for somebody to write into it.
        let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("it is not a file; `sync` copies folders".to_owned());
        }
        let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        let mut data = Vec::new();
        // Read rather than believed: a file may grow.
        let n_read =
            file.take(bytes_max as u64 + 1).read_to_end(&mut data).map_err(|error| error.to_string())?;
        if n_read > bytes_max {
            return Err(format!(
                "it is larger than the {bytes_max} bytes that may travel with a task; use `sync`"
            ));
        }
        Ok(data)
    }
}
