//! Parameters of `copy_files`, and what the master adds to them.

use stoker_model::{Json, JsonMap};

use crate::check::{Remark, Weight};
use crate::host::FileToWrite;
use crate::outcome::Failure;
use crate::parameter::{Kind, Parameter};
use crate::prepare::{COPY_BYTES_MAX, MasterFiles};
use crate::types::files::{
    DATA_BASE64, DIR_PERMISSIONS, OWN_DIR_PERMISSIONS, OWN_PERMISSIONS, PERMISSIONS, file_of, to_base64,
};
use crate::values::Values;

const FILE: &[Parameter] = &[
    Parameter::required("src", Kind::Text, "The file on the master."),
    Parameter::required("dst", Kind::Text, "The file on the node, from the root."),
    OWN_PERMISSIONS,
    OWN_DIR_PERMISSIONS,
    Parameter::optional("data", Kind::Data, "What is in it; the master fills this in."),
    Parameter::optional(DATA_BASE64, Kind::Data, "The same, where it is no text."),
];

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("files", Kind::Maps(FILE), "The files."),
    PERMISSIONS,
    DIR_PERMISSIONS,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

pub(super) fn files_of(values: &Values) -> Result<Vec<FileToWrite>, Failure> {
    values.maps("files").iter().map(|file| file_of(file, values)).collect()
}

/// Puts the content of each source beside it. Whatever the user wrote there is replaced.
pub(super) fn prepare(parameters: &mut JsonMap, master: &dyn MasterFiles) -> Vec<Remark> {
    let mut problems = Vec::new();
    let mut bytes_left = COPY_BYTES_MAX;
    let files = parameters.get_mut("files").and_then(Json::as_array_mut).into_iter().flatten();
    for (idx, file) in files.enumerate() {
        let Some(map) = file.as_object_mut() else { continue };
        let Some(source) = map.get("src").and_then(Json::as_str) else { continue };
        let data = match master.read(source, bytes_left) {
            Ok(data) => data,
            Err(why) => {
                let message = format!("cannot read `{source}` on the master: {why}");
                problems.push(Remark { place: format!("files[{idx}].src"), weight: Weight::Error, message });
                continue;
            }
        };
        bytes_left = bytes_left.saturating_sub(data.len());
        map.shift_remove("data");
        map.shift_remove(DATA_BASE64);
        match String::from_utf8(data) {
            Ok(text) => map.insert("data".to_owned(), text.into()),
            Err(error) => map.insert(DATA_BASE64.to_owned(), to_base64(error.as_bytes()).into()),
        };
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Master;

    impl MasterFiles for Master {
        fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
            match path {
                "/text" => Ok(b"text".to_vec()),
                "/bytes" => Ok(vec![0xff]),
                "/big" => Ok(vec![b'x'; COPY_BYTES_MAX - 2]),
                _ => Err(format!("{bytes_max}")),
            }
        }
    }

    #[test]
    fn sources_travel_with_the_attempt() {
        let given = json!({"files": [{"src": "/text", "dst": "/a", "data": "forged"}, {"src": "/bytes", "dst": "/b"}]});
        let prepared = crate::prepare("copy_files", given, &Master).unwrap();
        assert_eq!(
            prepared,
            json!({"files": [{"src": "/text", "dst": "/a", "data": "text"},
                             {"src": "/bytes", "dst": "/b", "data_base64": "/w=="}]})
        );
    }

    #[test]
    fn every_source_that_cannot_be_read_is_named_and_all_share_one_limit() {
        let given = json!({"files": [{"src": "/none", "dst": "/a"}, {"src": "/big", "dst": "/b"}, {"src": "/none2", "dst": "/c"}]});
        let problems = crate::prepare("copy_files", given, &Master).unwrap_err();
        let told: Vec<(&str, &str)> =
            problems.iter().map(|problem| (problem.place.as_str(), problem.message.as_str())).collect();
        assert_eq!(told[0].0, "files[0].src");
        assert_eq!(told[1], ("files[2].src", "cannot read `/none2` on the master: 2"));
    }

    #[test]
    fn the_real_master_reads_files_and_only_those() {
        let folder = stoker_testkit::Folder::new();
        std::fs::write(folder.file("a"), "12345").unwrap();
        let read = |path: &std::path::Path, max| crate::SystemFiles.read(path.to_str().unwrap(), max);
        assert_eq!(read(&folder.file("a"), 5).unwrap(), b"12345");
        assert!(read(&folder.file("a"), 4).unwrap_err().contains("sync"));
        assert!(read(folder.path(), 4).unwrap_err().contains("not a file"));
        assert!(read(&folder.file("none"), 4).is_err());
        // Nobody writes into it, and nobody waits for that.
        assert!(std::process::Command::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
        assert!(read(&folder.file("pipe"), 4).unwrap_err().contains("not a file"));
    }
}
