//! Every distinct expression of a graph, compiled once.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_yaql::{Engine, Expression, Library, Result};

use super::aspects::AspectIdx;

/// Place of an expression in the list of all expressions.
pub(crate) type ExpressionIdx = u32;

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) source: String,
    /// Or why it is none.
    pub(crate) expression: Result<Expression>,
    /// What its result depends on, set once the states are known.
    pub(crate) aspects: Vec<AspectIdx>,
    pub(crate) reads_old: bool,
    /// The top-level keys that it reads, in order; none: the whole document.
    pub(crate) keys: Option<Vec<String>>,
}

#[derive(Debug)]
pub(crate) struct Expressions {
    engine: Engine,
    by_text: HashMap<String, ExpressionIdx>,
    pub(crate) all: Vec<Compiled>,
}

impl Expressions {
    pub(crate) fn new(library: Arc<Library>) -> Self {
        Self { engine: Engine::new(library), by_text: HashMap::new(), all: Vec::new() }
    }

    pub(crate) fn add(&mut self, text: &str) -> ExpressionIdx {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let expression_idx = self.all.len() as ExpressionIdx;
        let expression = self.engine.compile(text);
        self.all.push(Compiled {
            source: text.to_owned(),
            expression,
            aspects: Vec::new(),
            reads_old: false,
            keys: None,
        });
        self.by_text.insert(text.to_owned(), expression_idx);
        expression_idx
    }
}
