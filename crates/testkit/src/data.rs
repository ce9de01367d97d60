//! Graphs and nodes of real deployments, in `../shared/data` next to the repository.

use std::path::PathBuf;

/// Returns the path of a file in `../shared/data`. If the file is missing, records the current test as
/// skipped.
pub fn real_data(name: &str) -> Option<PathBuf> {
    stoker_testenv::shared_data(name)
}

/// Returns the real graphs: a name and the file of each. Those of plugins follow the others.
pub fn real_graphs() -> Vec<(String, PathBuf)> {
    let names = ["default-graph", "provision__tasks", "deletion__tasks", "net-verification__tasks"];
    let own = names.map(|name| (name.replace("__", "-"), real_data(&format!("fuel-library/{name}.yaml"))));
    let mut graphs: Vec<(String, PathBuf)> =
        own.into_iter().filter_map(|(name, path)| Some((name, path?))).collect();
    graphs.extend(real_plugin_graphs());
    graphs
}

/// A plugin whose task file gives the key `requires` of a task twice, which every upload refuses.
const WITH_DUPLICATE_KEYS: &str = "opendaylight-1.0.0";

/// Returns the graphs of real plugins that have a valid one.
pub fn real_plugin_graphs() -> Vec<(String, PathBuf)> {
    let Some(readme) = real_data("plugins/README.md") else { return Vec::new() };
    let folders = |path: PathBuf| {
        let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        paths.sort();
        paths
    };
    let groups = folders(readme.with_file_name(""));
    let plugins = groups.into_iter().flat_map(folders);
    let graphs = plugins.filter_map(|plugin| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric();
        let folder = plugin.file_name()?.to_string_lossy();
        if folder == WITH_DUPLICATE_KEYS {
            return None;
        }
        let name = folder.replace(|letter| !is_letter(letter), "-");
        Some((format!("plugin-{name}"), plugin.join("deployment_tasks.yaml")))
    });
    graphs.filter(|(_, path)| path.is_file()).collect()
}
