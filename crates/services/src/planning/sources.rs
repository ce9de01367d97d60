//! What tasks use besides their fields: files of the master, scripts of plugins, and the layers that set the fields.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_graph::Source;
use stoker_model::{ErrorChain, Json, Task};
use stoker_planner::FileDigests;
use stoker_state::{EnabledPlugin, SourceDigests};
use stoker_tasks::{COPY_BYTES_MAX, MasterFileError, MasterFiles, SystemFiles};

use crate::graphs::PlannedGraph;

/// Fields that decide what a task does.
const FIELDS: &[&str] = &["type", "parameters", "test_pre", "test_post"];
const RELEASE: &str = "release";

/// Digests of files of the master, each read once per plan.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<Mutex<HashMap<String, String>>>);

impl Files {
    /// Digest of a file or directory. If it cannot be read, the digest of the error: planning does not fail, and the
    /// digest changes when the file becomes readable.
    fn digest(&self, path: &str) -> String {
        if let Some(digest) = self.0.lock().get(path) {
            return digest.clone();
        }
        let digest = match contents(path) {
            Ok(hash) => hash,
            Err(error) => blake3::hash(ErrorChain(&error).to_string().as_bytes()),
        };
        let digest = digest.to_hex().to_string();
        self.0.lock().insert(path.to_owned(), digest.clone());
        digest
    }

    /// For paths that are known only after rendering.
    pub(super) fn lookup(&self) -> FileDigests {
        let files = self.clone();
        FileDigests::new(move |path| Some(files.digest(path)))
    }
}

fn contents(path: &str) -> Result<blake3::Hash, MasterFileError> {
    let (mut hasher, mut n_bytes_left) = (blake3::Hasher::new(), COPY_BYTES_MAX);
    let mut add = |name: &str, is_executable: bool, path: &str| -> Result<(), MasterFileError> {
        let data = SystemFiles.read(path, n_bytes_left)?;
        n_bytes_left -= data.len();
        // Lengths make the concatenation unambiguous.
        for part in [name.as_bytes(), &[u8::from(is_executable)], &data] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Ok(())
    };
    match SystemFiles.list(path)? {
        Some(files) => {
            for file in files {
                add(&file.path, file.is_executable, &format!("{path}/{}", file.path))?;
            }
        }
        None => add("", false, path)?,
    }
    Ok(hasher.finalize())
}

/// Digests and layers of the tasks of a graph. Reads files; call it on a blocking thread.
pub(super) fn sources_of(graph: &PlannedGraph, plugins: &[EnabledPlugin], files: &Files) -> SourceDigests {
    let scripts: HashMap<String, (&str, &str)> = plugins
        .iter()
        .filter_map(|enabled| {
            let body = &enabled.plugin.body;
            let source = Source::Plugin { name: body.name.clone(), version: body.version.clone() };
            Some((source.label(), (body.name.as_str(), enabled.scripts_digest.as_deref()?)))
        })
        .collect();
    let mut sources = SourceDigests::default();
    for task in &graph.tasks {
        let layers: BTreeMap<String, String> = FIELDS
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), graph.layer(&task.name, field)?.to_owned())))
            .filter(|(_, layer)| layer != RELEASE)
            .collect();
        let mut digests: BTreeMap<String, String> =
            literal_files(task).map(|path| (path.to_owned(), files.digest(path))).collect();
        for (name, digest) in layers.values().filter_map(|layer| scripts.get(layer)) {
            digests.insert(format!("scripts of {name}"), (*digest).to_owned());
        }
        if !digests.is_empty() {
            sources.files.insert(task.name.clone(), digests);
        }
        if !layers.is_empty() {
            sources.layers.insert(task.name.clone(), layers);
        }
    }
    sources
}

/// Paths of master files that a task names literally.
fn literal_files(task: &Task) -> impl Iterator<Item = &str> {
    let task_type = task.field("type").and_then(Json::as_str).unwrap_or_default();
    let reads_files = stoker_tasks::needs_master_files(task_type);
    let files =
        task.field("parameters").filter(|_| reads_files).and_then(|parameters| parameters.get("files"));
    files.and_then(Json::as_array).into_iter().flatten().filter_map(|file| file.get("src")?.as_str())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use stoker_testkit::TempFolder;

    use super::*;

    #[test]
    fn digest_follows_contents_names_and_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempFolder::new();
        let digest = |name: &str| Files::default().digest(folder.file(name).to_str().unwrap());
        let missing = digest("a");
        fs::write(folder.file("a"), "1").unwrap();
        let one = digest("a");
        assert_ne!(missing, one);
        assert_eq!(one, digest("a"));
        fs::write(folder.file("a"), "2").unwrap();
        assert_ne!(one, digest("a"));
        fs::create_dir(folder.file("d")).unwrap();
        fs::write(folder.file("d/x"), "1").unwrap();
        let before = digest("d");
        fs::rename(folder.file("d/x"), folder.file("d/y")).unwrap();
        let renamed = digest("d");
        assert_ne!(before, renamed);
        fs::set_permissions(folder.file("d/y"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(renamed, digest("d"));
    }

    #[test]
    fn file_is_read_once_per_plan() {
        let folder = TempFolder::new();
        let path = folder.file("a");
        fs::write(&path, "1").unwrap();
        let files = Files::default();
        let path = path.to_str().unwrap();
        let first = files.digest(path);
        fs::write(path, "2").unwrap();
        assert_eq!((files.lookup().get(path), files.digest(path)), (Some(first.clone()), first));
    }
}
