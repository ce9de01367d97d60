//! Cache of argument results that many nodes share; lives for one planning.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use stoker_yaql::syntax::NodeId;
use stoker_yaql::{Result, Value};

use super::scope::StateFunction;
use crate::differing::Differing;

/// An argument of an expression: the address of its program, which outlives the cache, and the syntax node.
pub(crate) type Position = (usize, NodeId);

/// Cached results, with the static properties of arguments that decide what may be cached.
///
/// Two tasks rarely have the same condition but often share a part of it (`$.network_metadata.vips`), so
/// arguments with equal texts share their results.
#[derive(Debug, Default)]
pub(crate) struct ResultCache {
    /// Arguments that read only common data, mapped to the number of their text.
    texts: HashMap<Position, u32>,
    /// Arguments that read only the two states: no variables and no surrounding `$`.
    closed: HashSet<Position>,
    /// By text number, the top-level keys that it reads.
    reads: Vec<Vec<String>>,
    /// By past, how the old common document differs from the new one; past zero is the absence of an old
    /// state.
    differing: Arc<[Differing]>,
    cells: Mutex<HashMap<(u32, StateFunction, u32), Cell>>,
}

type Cell = Arc<OnceLock<Result<Value>>>;

impl ResultCache {
    pub(crate) fn new(
        texts: HashMap<Position, u32>,
        closed: HashSet<Position>,
        reads: Vec<Vec<String>>,
        differing: Arc<[Differing]>,
    ) -> Self {
        Self { texts, closed, reads, differing, cells: Mutex::default() }
    }

    /// Whether none of the keys that an argument reads changed, so that its old value equals its new one.
    pub(super) fn is_untouched(&self, position: Position, past: u32) -> bool {
        let reads = self.texts.get(&position).and_then(|text| self.reads.get(*text as usize));
        let differing = self.differing.get(past as usize).filter(|_| past > 0);
        let (Some(reads), Some(differing)) = (reads, differing) else { return false };
        !reads.iter().any(|key| differing.touched.contains(key))
    }

    /// Whether the value of an argument does not vary within an evaluation.
    pub(super) fn is_closed(&self, position: Position) -> bool {
        self.closed.contains(&position)
    }

    /// The result of a state function for an argument. The first caller computes it; concurrent callers wait.
    pub(crate) fn cached(
        &self,
        position: Position,
        function: StateFunction,
        past: u32,
        work: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let Some(text) = self.texts.get(&position) else { return work() };
        let cell = {
            let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            cells.entry((*text, function, past)).or_default().clone()
        };
        // Nested calls are about subexpressions of this argument, so threads cannot deadlock waiting for each
        // other.
        cell.get_or_init(work).clone()
    }
}
