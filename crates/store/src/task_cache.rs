//! Cache of graph tasks. Task rows are immutable and a generation identifies one set of rows, so an entry
//! never becomes wrong. It can only become outdated, and an outdated generation is no longer looked up.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_model::{GraphId, Json, JsonMap, StoredTask};

/// Approximate upper bound of the cache size in bytes.
const BYTES_MAX: usize = 64 << 20;
/// Estimated overhead of a JSON value in addition to its text.
const VALUE_BYTES: usize = 64;

#[derive(Default)]
pub(crate) struct TaskCache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    graphs: HashMap<GraphId, Entry>,
    n_bytes: usize,
}

struct Entry {
    generation: i64,
    tasks: Arc<[StoredTask]>,
    n_bytes: usize,
}

impl TaskCache {
    pub(crate) fn get(&self, id: GraphId, generation: i64) -> Option<Arc<[StoredTask]>> {
        let inner = self.inner.lock();
        let entry = inner.graphs.get(&id)?;
        (entry.generation == generation).then(|| Arc::clone(&entry.tasks))
    }

    /// Caches the tasks of a committed generation. After a rollback the same generation number would denote
    /// other tasks.
    pub(crate) fn put(&self, id: GraphId, generation: i64, tasks: &Arc<[StoredTask]>) {
        let n_bytes = tasks.iter().map(|stored| VALUE_BYTES + map_bytes(&stored.task.fields)).sum();
        let mut inner = self.inner.lock();
        let is_older = inner.graphs.get(&id).is_some_and(|entry| entry.generation >= generation);
        if is_older || n_bytes > BYTES_MAX {
            return;
        }
        // Evict all entries. This is rare, and entries in use are cached again by the next read.
        if inner.n_bytes + n_bytes > BYTES_MAX {
            *inner = Inner::default();
        }
        let old = inner.graphs.insert(id, Entry { generation, tasks: Arc::clone(tasks), n_bytes });
        inner.n_bytes += n_bytes;
        inner.n_bytes -= old.map_or(0, |old| old.n_bytes);
    }
}

fn map_bytes(map: &JsonMap) -> usize {
    map.iter().map(|(key, value)| key.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Json) -> usize {
    VALUE_BYTES
        + match value {
            Json::String(text) => text.len(),
            Json::Array(items) => items.iter().map(value_bytes).sum(),
            Json::Object(map) => map_bytes(map),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use stoker_model::{Task, TaskId};

    use super::*;

    fn tasks(n: usize) -> Arc<[StoredTask]> {
        let task = Task { name: "t".to_owned(), fields: JsonMap::new() };
        (0..n).map(|_| StoredTask { id: TaskId(1), task: task.clone() }).collect()
    }

    #[test]
    fn newest_generation_is_cached() {
        let cache = TaskCache::default();
        cache.put(GraphId(1), 2, &tasks(2));
        cache.put(GraphId(1), 1, &tasks(1));
        assert_eq!(cache.get(GraphId(1), 2).unwrap().len(), 2);
        assert!(cache.get(GraphId(1), 1).is_none());
        cache.put(GraphId(1), 3, &tasks(3));
        assert!(cache.get(GraphId(1), 2).is_none());
        assert_eq!(cache.inner.lock().n_bytes, 3 * VALUE_BYTES);
    }

    #[test]
    fn cache_size_is_bounded() {
        let cache = TaskCache::default();
        for id in 0..10 {
            cache.put(GraphId(id), 1, &tasks(BYTES_MAX / 3 / VALUE_BYTES));
        }
        assert!(cache.inner.lock().n_bytes <= BYTES_MAX);
        assert!(cache.get(GraphId(9), 1).is_some());
        let huge = Task {
            name: "t".to_owned(),
            fields: [("x".to_owned(), "y".repeat(BYTES_MAX).into())].into_iter().collect(),
        };
        cache.put(GraphId(20), 1, &Arc::from([StoredTask { id: TaskId(1), task: huge }]));
        assert!(cache.get(GraphId(20), 1).is_none(), "a graph larger than the cache is not cached");
        assert!(cache.get(GraphId(9), 1).is_some());
    }
}
