//! The input of planning: everything a plan depends on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use stoker_model::{OnDefinitionChange, Task};
use stoker_state::{AppliedStates, Document, MASTER, SourceDigests, master_document};
use stoker_yaql::{Library, Value};

/// Input of [`crate::plan()`]. Equal inputs give plans that are equal byte for byte.
#[derive(Clone)]
pub struct PlanningInput<'a> {
    /// The merged graph. The order of tasks does not matter.
    pub tasks: &'a [Task],
    /// A predicate over node records; blank text selects all nodes.
    pub node_filter: Option<&'a str>,
    /// Functions that expressions can call: [`crate::library`], with helpers layered over it.
    pub library: Arc<Library>,
    /// The part of the new state that is common to all nodes.
    pub common: Document,
    /// Online nodes of the cluster. Their order does not matter.
    pub nodes: Vec<NodeInput>,
    /// Uids of offline nodes: they are excluded, and the report lists them.
    pub offline: Vec<String>,
    /// The master's own document.
    pub master: Document,
    /// For each task and node the state of its last success; `None`: a first run.
    pub old: Option<&'a AppliedStates>,
    /// Digests of the files that tasks name literally, and the layers of task fields. Helpers are computed from the
    /// library.
    pub sources: SourceDigests,
    /// Digests of files whose paths are computed.
    pub files: FileDigests,
    pub on_definition_change: OnDefinitionChange,
    pub inputs_key: InputsKey,
    /// The state over which inputs are rendered.
    pub after_run: StateAfterRun<'a>,
    pub request: PlanScope,
    /// Values of placeholders: `{NAME}` in a text is replaced, other braces are left alone.
    pub placeholders: BTreeMap<String, String>,
    pub settings: EvaluationSettings,
}

impl<'a> PlanningInput<'a> {
    /// A first run of the tasks, with default options.
    pub fn new(tasks: &'a [Task], common: Document, nodes: Vec<NodeInput>) -> Self {
        Self {
            tasks,
            node_filter: None,
            library: crate::library(),
            common,
            nodes,
            offline: Vec::new(),
            master: master_document(),
            old: None,
            sources: SourceDigests::default(),
            files: FileDigests::default(),
            on_definition_change: OnDefinitionChange::Rerun,
            inputs_key: InputsKey::default(),
            after_run: StateAfterRun::default(),
            request: PlanScope::default(),
            placeholders: BTreeMap::new(),
            settings: EvaluationSettings::default(),
        }
    }
}

impl PlanningInput<'_> {
    /// The own documents of all nodes, the master included.
    pub(crate) fn documents_by_uid(&self) -> HashMap<&str, &Document> {
        let nodes = self.nodes.iter().map(|node| (node.uid.as_str(), &node.document));
        nodes.chain([(MASTER, &self.master)]).collect()
    }
}

/// Key of the hashes of inputs. Without it, a stored hash of a short secret could be guessed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct InputsKey(pub [u8; 32]);

impl fmt::Debug for InputsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputsKey")
    }
}

/// Looks up the content digest of a file on the master; `None` for a path that no task type reads.
type FileLookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Content digests of files whose paths are known only after rendering. The caller performs the I/O and caches it, so
/// that the digests of one plan agree.
#[derive(Clone, Default)]
pub struct FileDigests(Option<Arc<FileLookup>>);

impl FileDigests {
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(lookup)))
    }

    /// The content digest of the file at an absolute path.
    pub fn get(&self, path: &str) -> Option<String> {
        self.0.as_ref().and_then(|lookup| lookup(path))
    }
}

impl fmt::Debug for FileDigests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileDigests")
    }
}

/// Computes the new state after a run that succeeds on the given nodes; `None` if the run changes nothing.
type Settle<'a> = dyn Fn(&BTreeSet<&str>) -> Option<SettledDocuments> + Send + Sync + 'a;

/// The new state with the statuses after the run; by default the new state itself. A function, because the nodes of a
/// run are known only after tasks are placed.
#[derive(Clone, Default)]
pub struct StateAfterRun<'a>(Option<Arc<Settle<'a>>>);

impl<'a> StateAfterRun<'a> {
    pub fn new(settle: impl Fn(&BTreeSet<&str>) -> Option<SettledDocuments> + Send + Sync + 'a) -> Self {
        Self(Some(Arc::new(settle)))
    }

    /// `nodes` are the uids of the nodes that tasks are placed on.
    pub(crate) fn documents(&self, nodes: &BTreeSet<&str>) -> Option<SettledDocuments> {
        self.0.as_ref().and_then(|settle| settle(nodes))
    }
}

/// The new state after a successful run.
#[derive(Clone, Debug, Default)]
pub struct SettledDocuments {
    pub common: Document,
    /// Own documents by UID; of other nodes the run changes nothing.
    pub own: BTreeMap<String, Document>,
}

#[derive(Clone, Debug, Default)]
pub struct NodeInput {
    pub uid: String,
    /// Tags for placing tasks; the primary node of a tag has `primary-TAG` instead of it.
    pub tags: Vec<String>,
    pub document: Document,
    /// The record that node filters see: `id`, `status`, `roles`, …. A node without a record is `null` to a
    /// filter.
    pub record: Option<Value>,
}

/// Restricts a plan to a part of the graph or of the cluster.
#[derive(Clone, Debug, Default)]
pub struct PlanScope {
    /// Only these nodes; an empty list selects none.
    pub nodes: Option<Vec<String>>,
    /// Only these tasks.
    pub tasks: Option<Vec<String>>,
    /// Only the instances in one of these subgraphs; empty: all instances.
    pub subgraphs: Vec<Subgraph>,
    /// Ignore old states, as if no task had ever succeeded.
    pub force: bool,
}

/// The instances reachable from one of `start` (if not empty) from which one of `end` (if not empty) is
/// reachable. Each entry is `task` or `task/nodes`; `nodes` is a comma-separated list in which `1-3` is a
/// range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subgraph {
    pub start: Vec<String>,
    pub end: Vec<String>,
}

/// Evaluation limits and the environment that expressions see.
#[derive(Clone, Debug)]
pub struct EvaluationSettings {
    /// Maximum length of a collection; by default grows with the fleet.
    pub limit_iterators: Option<i64>,
    /// Maximum size of a value in bytes; by default grows with the fleet.
    pub memory_quota: Option<i64>,
    /// The result of `now()`, in microseconds since the epoch.
    pub now_micros: i64,
    /// The seed of `random()`.
    pub random_bits: u64,
    /// Maximum number of threads; the plan does not depend on it.
    pub n_threads: usize,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self { limit_iterators: None, memory_quota: None, now_micros: 0, random_bits: 0, n_threads: 1 }
    }
}
