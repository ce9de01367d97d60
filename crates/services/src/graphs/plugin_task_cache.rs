//! Cache of plugin tasks in the form in which they are merged.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_graph::plugin_tasks;
use stoker_model::{Graph, GraphId, Plugin, Task};

/// Number of graphs cached before the cache is cleared. A server has few plugins, and their graphs rarely change.
const GRAPHS_MAX: usize = 512;

/// Entries are keyed by the generations of graph and plugin, which are immutable, and by the directory of scripts, so they
/// need no invalidation.
#[derive(Default)]
pub struct PluginTaskCache {
    graphs: Mutex<HashMap<GraphId, CachedTasks>>,
}

struct CachedTasks {
    /// Generations of the graph and of the plugin.
    of: (i64, i64),
    /// Directory of the plugin's scripts on nodes.
    folder: Option<String>,
    tasks: Arc<[Task]>,
}

impl PluginTaskCache {
    pub fn get(&self, plugin: &Plugin, folder: Option<&str>, graph: &Graph) -> Arc<[Task]> {
        let generations = (graph.generation, plugin.generation);
        let mut graphs = self.graphs.lock();
        if let Some(entry) =
            graphs.get(&graph.id).filter(|entry| entry.of == generations && entry.folder.as_deref() == folder)
        {
            return Arc::clone(&entry.tasks);
        }
        let stored = graph.tasks.iter().map(|stored| &stored.task);
        let tasks: Arc<[Task]> = plugin_tasks(plugin, folder, stored).into();
        if graphs.len() >= GRAPHS_MAX {
            graphs.clear();
        }
        graphs.insert(
            graph.id,
            CachedTasks { of: generations, folder: folder.map(str::to_owned), tasks: Arc::clone(&tasks) },
        );
        tasks
    }
}
