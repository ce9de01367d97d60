//! Watches an evaluation and keeps a little of everything.

use std::collections::HashMap;
use std::sync::Arc;

use crate::eval::{Observer, Program};
use crate::syntax::NodeId;
use crate::{Result, Value};

use super::short::short;
use super::words::in_words;

/// How many values of one part are kept; a condition in a loop has thousands.
const VALUES_MAX: usize = 4;
const FIRST_CHARS_MAX: usize = 72;
const OTHER_CHARS_MAX: usize = 24;

/// What one part of an expression was.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// How often it was evaluated.
    pub count: usize,
    /// The first few values, in short.
    pub values: Vec<String>,
    /// The last error, in words.
    pub error: Option<String>,
}

/// What was seen, by the text of the expression or helper and the node in its tree.
#[derive(Default)]
pub struct Trace {
    programs: Vec<(Arc<str>, HashMap<NodeId, Seen>)>,
}

impl Trace {
    pub fn seen(&self, source: &str, node: NodeId) -> Seen {
        let program = self.programs.iter().find(|(known, _)| &**known == source);
        program.and_then(|(_, nodes)| nodes.get(&node)).cloned().unwrap_or_default()
    }

    /// The texts that were evaluated.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().map(|(source, _)| &**source)
    }

    fn nodes(&mut self, source: &Arc<str>) -> &mut HashMap<NodeId, Seen> {
        let found = self.programs.iter().position(|(known, _)| Arc::ptr_eq(known, source) || known == source);
        let program_idx = found.unwrap_or_else(|| {
            self.programs.push((source.clone(), HashMap::new()));
            self.programs.len() - 1
        });
        &mut self.programs[program_idx].1
    }
}

impl Observer for Trace {
    fn evaluated(&mut self, program: &Program, node: NodeId, result: &Result<Value>) {
        let seen = self.nodes(&program.tree.source).entry(node).or_default();
        seen.count += 1;
        match result {
            Ok(value) if seen.values.len() < VALUES_MAX => {
                let chars_max = if seen.values.is_empty() { FIRST_CHARS_MAX } else { OTHER_CHARS_MAX };
                seen.values.push(short(value, chars_max));
            }
            Ok(_) => {}
            Err(error) => seen.error = Some(in_words(error.class, &error.message)),
        }
    }
}
