//! Parameters of `copy_files`, and their preparation on the master.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};

use crate::host::FileToWrite;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::prepare::{COPY_BYTES_MAX, FolderFile, MasterFileError, MasterFiles};
use crate::types::files::{
    DATA_BASE64, DIR_PERMISSIONS, OWN_DIR_PERMISSIONS, OWN_PERMISSIONS, PERMISSIONS, file_of, to_base64,
};
use crate::values::Values;

const FILE: &[Parameter] = &[
    Parameter::required("src", ParameterType::Path, "Path of the file or directory on the master."),
    Parameter::required("dst", ParameterType::Path, "Absolute destination path on the node."),
    OWN_PERMISSIONS,
    OWN_DIR_PERMISSIONS,
    Parameter::optional("data", ParameterType::Data, "Content; set by the master."),
    Parameter::optional(
        DATA_BASE64,
        ParameterType::Data,
        "Content in Base64 if it is not UTF-8; set by the master.",
    ),
];

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("files", ParameterType::MapList(FILE), "Files to copy."),
    PERMISSIONS,
    DIR_PERMISSIONS,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

pub(super) fn files_of(values: &Values) -> Result<Vec<FileToWrite>, Failure> {
    values.maps("files").iter().map(|file| file_of(file, values)).collect()
}

/// Adds the content of each source; a directory is replaced by its files. Content in the user's parameters is
/// overwritten.
pub(super) fn prepare(parameters: &mut JsonMap, master: &dyn MasterFiles) -> Vec<Diagnostic> {
    let mut preparation =
        Preparation { master, bytes_remaining: COPY_BYTES_MAX, files: Vec::new(), problems: Vec::new() };
    let Some(files) = parameters.get_mut("files").and_then(Json::as_array_mut) else { return Vec::new() };
    for (idx, file) in std::mem::take(files).into_iter().enumerate() {
        preparation.add(idx, file);
    }
    *files = preparation.files;
    preparation.problems
}

struct Preparation<'m> {
    master: &'m dyn MasterFiles,
    bytes_remaining: usize,
    files: Vec<Json>,
    problems: Vec<Diagnostic>,
}

impl Preparation<'_> {
    fn add(&mut self, idx: usize, entry: Json) {
        let source = entry.get("src").and_then(Json::as_str).map(str::to_owned);
        let (Some(source), Json::Object(map)) = (source, &entry) else { return self.files.push(entry) };
        match self.master.list(&source) {
            Ok(None) => self.add_file(idx, map.clone(), &source),
            Ok(Some(folder_files)) => self.add_folder(idx, map, &source, folder_files),
            Err(error) => self.report(idx, &source, &error),
        }
    }

    fn add_folder(&mut self, idx: usize, entry: &JsonMap, source: &str, folder_files: Vec<FolderFile>) {
        let target = entry.get("dst").and_then(Json::as_str).unwrap_or_default();
        let join = |folder: &str, path: &str| format!("{}/{path}", folder.trim_end_matches('/'));
        if folder_files.is_empty() {
            let mut map = with_data(entry.clone(), Vec::new());
            map.insert("dst".to_owned(), join(target, KEEP_FILE).into());
            self.files.push(Json::Object(map));
        }
        for file in folder_files {
            let mut map = entry.clone();
            let source = join(source, &file.path);
            map.insert("src".to_owned(), source.as_str().into());
            map.insert("dst".to_owned(), join(target, &file.path).into());
            let permissions = if file.is_executable { "0755" } else { "0644" };
            map.entry("permissions").or_insert_with(|| permissions.into());
            self.add_file(idx, map, &source);
        }
    }

    fn add_file(&mut self, idx: usize, map: JsonMap, source: &str) {
        match self.master.read(source, self.bytes_remaining) {
            Ok(data) => {
                self.bytes_remaining = self.bytes_remaining.saturating_sub(data.len());
                self.files.push(Json::Object(with_data(map, data)));
            }
            Err(error) => self.report(idx, source, &error),
        }
    }

    fn report(&mut self, idx: usize, source: &str, error: &MasterFileError) {
        let message = format!("cannot read `{source}` on the master: {error}");
        self.problems.push(Diagnostic::plain(message).path(format!("files[{idx}].src")));
    }
}

/// File that is created in an empty directory, so that the directory exists on the node.
const KEEP_FILE: &str = ".keep";

fn with_data(mut map: JsonMap, data: Vec<u8>) -> JsonMap {
    map.shift_remove("data");
    map.shift_remove(DATA_BASE64);
    match String::from_utf8(data) {
        Ok(text) => map.insert("data".to_owned(), text.into()),
        Err(error) => map.insert(DATA_BASE64.to_owned(), to_base64(error.as_bytes()).into()),
    };
    map
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Master;

    impl MasterFiles for Master {
        fn list(&self, folder: &str) -> Result<Option<Vec<FolderFile>>, MasterFileError> {
            let file = |path: &str, is_executable| FolderFile { path: path.to_owned(), is_executable };
            match folder {
                "/scripts/" => Ok(Some(vec![file("deploy.sh", true), file("lib/common", false)])),
                "/empty" => Ok(Some(Vec::new())),
                "/odd" => Err(MasterFileError::Unsuitable("a pipe".to_owned())),
                _ => Ok(None),
            }
        }

        fn read(&self, path: &str, bytes_max: usize) -> Result<Vec<u8>, MasterFileError> {
            match path {
                "/text" | "/scripts/deploy.sh" | "/scripts/lib/common" => Ok(b"text".to_vec()),
                "/bytes" => Ok(vec![0xff]),
                "/big" => Ok(vec![b'x'; COPY_BYTES_MAX - 2]),
                _ => Err(MasterFileError::Unsuitable(format!("{bytes_max}"))),
            }
        }
    }

    #[test]
    fn sources_are_added_to_the_parameters() {
        let parameters = json!({"files": [{"src": "/text", "dst": "/a", "data": "forged"}, {"src": "/bytes", "dst": "/b"}]});
        let prepared = crate::prepare("copy_files", parameters, &Master).unwrap();
        assert_eq!(
            prepared,
            json!({"files": [{"src": "/text", "dst": "/a", "data": "text"},
                             {"src": "/bytes", "dst": "/b", "data_base64": "/w=="}]})
        );
    }

    #[test]
    fn unreadable_sources_are_reported_and_share_one_limit() {
        let parameters = json!({"files": [{"src": "/none", "dst": "/a"}, {"src": "/big", "dst": "/b"}, {"src": "/none2", "dst": "/c"}]});
        let problems = crate::prepare("copy_files", parameters, &Master).unwrap_err();
        let reported: Vec<(&str, &str)> = problems
            .iter()
            .map(|problem| (problem.location.path.as_str(), problem.message.as_str()))
            .collect();
        assert_eq!(reported[0].0, "files[0].src");
        assert_eq!(reported[1], ("files[2].src", "cannot read `/none2` on the master: 2"));
    }

    #[test]
    fn folder_is_replaced_by_its_files() {
        let parameters = json!({"files": [{"src": "/scripts/", "dst": "/n/"}, {"src": "/empty", "dst": "/e"},
                                     {"src": "/scripts/", "dst": "/p", "permissions": "0600"}]});
        let prepared = crate::prepare("copy_files", parameters, &Master).unwrap();
        let destinations = |file: &Json| format!("{} {}", file["dst"].as_str().unwrap(), file["permissions"]);
        let destinations: Vec<String> =
            prepared["files"].as_array().unwrap().iter().map(destinations).collect();
        let expected = [
            "/n/deploy.sh \"0755\"",
            "/n/lib/common \"0644\"",
            "/e/.keep null",
            "/p/deploy.sh \"0600\"",
            "/p/lib/common \"0600\"",
        ];
        assert_eq!(destinations, expected);
        assert_eq!(
            (&prepared["files"][0]["data"], &prepared["files"][2]["data"]),
            (&json!("text"), &json!(""))
        );
        let parameters = json!({"files": [{"src": "/odd", "dst": "/n"}]});
        let problems = crate::prepare("copy_files", parameters, &Master).unwrap_err();
        assert_eq!(problems[0].message, "cannot read `/odd` on the master: a pipe");
    }

    #[test]
    fn system_files_rejects_symbolic_links() {
        let folder = stoker_testkit::TempFolder::new();
        let list = || crate::SystemFiles.list(folder.path().to_str().unwrap());
        assert_eq!(crate::SystemFiles.list(folder.file("none").to_str().unwrap()).unwrap(), None);
        assert_eq!(list().unwrap(), Some(Vec::new()));
        std::fs::create_dir_all(folder.file("b/c")).unwrap();
        std::fs::write(folder.file("b/c/d"), "").unwrap();
        std::fs::write(folder.file("a"), "").unwrap();
        std::fs::set_permissions(folder.file("a"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        let file = |path: &str, is_executable| FolderFile { path: path.to_owned(), is_executable };
        assert_eq!(list().unwrap(), Some(vec![file("a", true), file("b/c/d", false)]));
        std::os::unix::fs::symlink("/etc/passwd", folder.file("link")).unwrap();
        assert!(list().unwrap_err().to_string().contains("its entry `link` is neither"));
    }

    #[test]
    fn system_files_reads_regular_files_only() {
        let folder = stoker_testkit::TempFolder::new();
        std::fs::write(folder.file("a"), "12345").unwrap();
        let read = |path: &std::path::Path, max| crate::SystemFiles.read(path.to_str().unwrap(), max);
        assert_eq!(read(&folder.file("a"), 5).unwrap(), b"12345");
        assert!(read(&folder.file("a"), 4).unwrap_err().to_string().contains("sync"));
        assert!(read(folder.path(), 4).unwrap_err().to_string().contains("not a file"));
        assert!(read(&folder.file("none"), 4).is_err());
        // A FIFO without a writer must not block.
        assert!(std::process::Command::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
        assert!(read(&folder.file("pipe"), 4).unwrap_err().to_string().contains("not a file"));
    }
}
