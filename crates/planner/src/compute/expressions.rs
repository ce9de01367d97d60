//! Interning of expressions: each distinct text is compiled once.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_yaql::{Engine, Expression, Library, Result};

use super::aspects::AspectIdx;

/// Index into [`Expressions::all`].
pub(crate) type ExpressionIdx = u32;

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) source: String,
    /// The compilation error if the text is not an expression.
    pub(crate) expression: Result<Expression>,
    /// The aspects its result depends on; filled in by `Evaluator::new`.
    pub(crate) aspects: Vec<AspectIdx>,
    pub(crate) reads_old: bool,
    /// Whether it may call `inputsChanged()`.
    pub(crate) uses_inputs: bool,
    /// Top-level keys that the expression reads, sorted; `None` for the whole document.
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
        if let Some(expression_idx) = self.by_text.get(text) {
            return *expression_idx;
        }
        let expression_idx = self.all.len() as ExpressionIdx;
        let expression = self.engine.compile(text);
        self.all.push(Compiled {
            source: text.to_owned(),
            expression,
            aspects: Vec::new(),
            reads_old: false,
            uses_inputs: false,
            keys: None,
        });
        self.by_text.insert(text.to_owned(), expression_idx);
        expression_idx
    }
}
