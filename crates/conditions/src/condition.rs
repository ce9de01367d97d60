//! A parsed condition.

use stoker_diagnostics::{Diagnostic, Span};
use stoker_model::Json;

use crate::dialect::Dialect;
use crate::error::{ConditionError, codes};
use crate::evaluate::{ConditionResult, Models, evaluate};
use crate::parser::parse;
use crate::tree::{Expr, ModelPath};
use crate::truth::is_true;

/// A condition, ready to be evaluated any number of times.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    root: Expr,
    dialect: Dialect,
    /// Spans of `not` and the comparison after it.
    narrow_nots: Vec<Span>,
}

impl Condition {
    /// Parses the condition of a task.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        Self::parse_as(text, Dialect::Task)
    }

    pub fn parse_as(text: &str, dialect: Dialect) -> Result<Self, ConditionError> {
        let parsed = parse(text, dialect)?;
        let narrow_nots = parsed.narrow_nots.into_iter().map(|range| Span::in_text(text, range)).collect();
        Ok(Self { root: parsed.root, dialect, narrow_nots })
    }

    /// Evaluates the condition: `and` and `or` return the deciding operand, a lone value itself, all other
    /// operators a boolean.
    pub fn evaluate(&self, models: &Models<'_, '_>) -> Result<Json, ConditionError> {
        Ok(evaluate(&self.root, models, self.dialect)?.value.into_owned())
    }

    /// Evaluates the condition and reports whether its value is true.
    pub fn is_true(&self, models: &Models<'_, '_>) -> Result<bool, ConditionError> {
        Ok(is_true(&evaluate(&self.root, models, self.dialect)?.value))
    }

    /// Evaluates the condition and returns its value with the part of the text that decided it.
    pub fn decide(&self, models: &Models<'_, '_>) -> Result<ConditionResult, ConditionError> {
        let outcome = evaluate(&self.root, models, self.dialect)?;
        Ok(ConditionResult { value: outcome.value.into_owned(), span: outcome.span })
    }

    /// Returns the paths that the condition reads, in text order, with duplicates. Because of
    /// short-circuiting, an evaluation may read only some of them.
    pub fn paths(&self) -> Vec<&ModelPath> {
        let mut paths = Vec::new();
        self.root.collect_paths(&mut paths);
        paths
    }

    /// Warnings for the author: valid syntax that probably does not mean what the author intended. Their spans are those
    /// of the text of the condition.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let message = "`not` applies only to the value right after it, not to the comparison";
        let warning = |span: &Span| Diagnostic::warning(codes::SYNTAX, message).at(*span);
        let help = "write `not (a == b)`, or `a != b`";
        self.narrow_nots.iter().map(|span| warning(span).help(help)).collect()
    }
}
