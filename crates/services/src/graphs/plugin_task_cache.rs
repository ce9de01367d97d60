//! Tasks of plugins as they take part in a merge, made once for each version of graph and plugin.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stoker_graph::plugin_tasks;
use stoker_model::{Graph, GraphId, Plugin, Task};

/// Graphs remembered before all are forgotten; there are few plugins, and their graphs seldom change.
const GRAPHS_MAX: usize = 512;

/// Neither a generation of a graph nor one of a plugin ever changes, nor does where scripts are on nodes while the server
/// runs, so what was made of them is good for ever.
#[derive(Default)]
pub struct PluginTaskCache {
    graphs: Mutex<HashMap<GraphId, Made>>,
}

struct Made {
    /// Generations of the graph and of the plugin.
    of: (i64, i64),
    tasks: Arc<[Task]>,
}

impl PluginTaskCache {
    pub fn get(&self, plugin: &Plugin, scripts_root: &str, graph: &Graph) -> Arc<[Task]> {
        let generations = (graph.generation, plugin.generation);
        let mut known = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = known.get(&graph.id).filter(|made| made.of == generations) {
            return Arc::clone(&made.tasks);
        }
        let stored = graph.tasks.iter().map(|stored| &stored.task);
        let tasks: Arc<[Task]> = plugin_tasks(plugin, scripts_root, stored).into();
        if known.len() >= GRAPHS_MAX {
            known.clear();
        }
        known.insert(graph.id, Made { of: generations, tasks: Arc::clone(&tasks) });
        tasks
    }
}
