//! An observer that records a sample of the results of every node.

use std::collections::HashMap;
use std::sync::Arc;

use crate::eval::{Observer, Program};
use crate::syntax::NodeId;
use crate::{Result, Value};

use super::error_message::describe_error;
use super::summary::summarize;

/// Maximum number of values recorded per node. A condition in a loop yields thousands; the first few suffice
/// for an explanation.
const VALUES_MAX: usize = 4;
const FIRST_CHARS_MAX: usize = 72;
const OTHER_CHARS_MAX: usize = 24;

/// The recorded results of a node.
#[derive(Clone, Debug, Default)]
pub struct NodeTrace {
    /// Number of evaluations.
    pub count: usize,
    /// Summaries of the first values.
    pub values: Vec<String>,
    /// Description of the last error.
    pub error: Option<String>,
}

/// Recorded results, by source text of the expression or helper and by node.
#[derive(Default)]
pub struct Trace {
    programs: Vec<(Arc<str>, HashMap<NodeId, NodeTrace>)>,
}

impl Trace {
    pub fn node(&self, source: &str, node: NodeId) -> NodeTrace {
        let program = self.programs.iter().find(|(text, _)| &**text == source);
        program.and_then(|(_, nodes)| nodes.get(&node)).cloned().unwrap_or_default()
    }

    /// Returns the source texts of all evaluated programs.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().map(|(source, _)| &**source)
    }

    fn nodes(&mut self, source: &Arc<str>) -> &mut HashMap<NodeId, NodeTrace> {
        let position = self.programs.iter().position(|(text, _)| Arc::ptr_eq(text, source) || text == source);
        let program_idx = position.unwrap_or_else(|| {
            self.programs.push((source.clone(), HashMap::new()));
            self.programs.len() - 1
        });
        &mut self.programs[program_idx].1
    }
}

impl Observer for Trace {
    fn evaluated(&mut self, program: &Program, node: NodeId, result: &Result<Value>) {
        let results = self.nodes(&program.tree.source).entry(node).or_default();
        results.count += 1;
        match result {
            Ok(value) if results.values.len() < VALUES_MAX => {
                let chars_max = if results.values.is_empty() { FIRST_CHARS_MAX } else { OTHER_CHARS_MAX };
                results.values.push(summarize(value, chars_max));
            }
            Ok(_) => {}
            Err(error) => results.error = Some(describe_error(error.class, &error.message)),
        }
    }
}
