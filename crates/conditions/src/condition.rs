//! A condition that was read.

use std::ops::Range;

use stoker_model::Json;

use crate::dialect::Dialect;
use crate::error::ConditionError;
use crate::evaluate::{Decision, Models, evaluate};
use crate::parser::parse;
use crate::tree::{Expr, ModelPath};
use crate::truth::is_true;

/// A condition, ready to be evaluated any number of times.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    root: Expr,
    dialect: Dialect,
    narrow_nots: Vec<Range<usize>>,
}

/// Something that is right and probably not what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Bytes of the condition.
    pub span: Range<usize>,
    pub message: &'static str,
    pub help: &'static str,
}

impl Condition {
    /// Reads the condition of a task.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        Self::parse_as(text, Dialect::Task)
    }

    pub fn parse_as(text: &str, dialect: Dialect) -> Result<Self, ConditionError> {
        let parsed = parse(text, dialect)?;
        Ok(Self { root: parsed.root, dialect, narrow_nots: parsed.narrow_nots })
    }

    /// Its value: `and` and `or` give the operand that decided, everything else but a lone value a boolean.
    pub fn evaluate(&self, models: &Models<'_, '_>) -> Result<Json, ConditionError> {
        Ok(evaluate(&self.root, models, self.dialect)?.value.into_owned())
    }

    /// Whether its value is true.
    pub fn holds(&self, models: &Models<'_, '_>) -> Result<bool, ConditionError> {
        Ok(is_true(&evaluate(&self.root, models, self.dialect)?.value))
    }

    /// Its value, and which part of the text decided.
    pub fn decide(&self, models: &Models<'_, '_>) -> Result<Decision, ConditionError> {
        let found = evaluate(&self.root, models, self.dialect)?;
        Ok(Decision { value: found.value.into_owned(), span: found.span })
    }

    /// The places it reads, in the order of the text, each as often as it is written. With `and` and `or` not all
    /// of them are read every time.
    pub fn paths(&self) -> Vec<&ModelPath> {
        let mut found = Vec::new();
        self.root.paths(&mut found);
        found
    }

    /// What its author should look at again.
    pub fn remarks(&self) -> Vec<Remark> {
        let remark = |span: &Range<usize>| Remark {
            span: span.clone(),
            message: "`not` takes only the value right after it, not the comparison",
            help: "write `not (a == b)`, or `a != b`",
        };
        self.narrow_nots.iter().map(remark).collect()
    }
}
