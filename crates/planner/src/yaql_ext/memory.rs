//! Results that are the same for many nodes, kept for one planning.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use stoker_yaql::syntax::NodeId;
use stoker_yaql::{Result, Value};

use super::scope::Question;
use crate::compute::subjects::Differing;

/// An argument of an expression: the address of its program, which lives as long as the planning, and the node.
pub(crate) type Place = (usize, NodeId);

/// What is remembered, and of which arguments.
///
/// Two tasks rarely have the same condition but often the same part of one (`$.network_metadata.vips`), so places
/// with the same text share their results.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Arguments that read nothing of a node's own, by the number of their text.
    texts: HashMap<Place, u32>,
    /// Arguments that read nothing but states: neither variables nor what `$` is around them.
    closed: HashSet<Place>,
    /// By text the top-level keys that it reads.
    reads: Vec<Vec<String>>,
    /// By past how the old state of the cluster differs from the new one; the first is none at all.
    differing: Arc<[Differing]>,
    cells: Mutex<HashMap<(u32, Question, u32), Cell>>,
}

type Cell = Arc<OnceLock<Result<Value>>>;

impl Memory {
    pub(crate) fn new(
        texts: HashMap<Place, u32>,
        closed: HashSet<Place>,
        reads: Vec<Vec<String>>,
        differing: Arc<[Differing]>,
    ) -> Self {
        Self { texts, closed, reads, differing, cells: Mutex::default() }
    }

    /// Whether an argument is known to read nothing that is not what it was, so that it has the value that it had.
    pub(super) fn is_untouched(&self, place: Place, past: u32) -> bool {
        let reads = self.texts.get(&place).and_then(|text| self.reads.get(*text as usize));
        let differing = self.differing.get(past as usize).filter(|_| past > 0);
        let (Some(reads), Some(differing)) = (reads, differing) else { return false };
        !reads.iter().any(|key| differing.touched.contains(key))
    }

    /// Whether an argument has one value in the whole of an evaluation.
    pub(super) fn is_closed(&self, place: Place) -> bool {
        self.closed.contains(&place)
    }

    /// The answer to a question about an argument, worked out by whoever asks first; others wait for it.
    pub(crate) fn recalled(
        &self,
        place: Place,
        question: Question,
        past: u32,
        work: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let Some(text) = self.texts.get(&place) else { return work() };
        let cell = {
            let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            cells.entry((*text, question, past)).or_default().clone()
        };
        // Nested questions are about parts of this one, so nobody waits in a circle.
        cell.get_or_init(work).clone()
    }
}
