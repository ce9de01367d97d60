//! Syntax tree of a condition.
//!
//! A chain of one operator is a single node, so the depth of the tree is bounded by the nesting of
//! parentheses, and a long chain does not deepen the recursion.

use std::fmt;
use std::ops::Range;

use stoker_model::Json;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    /// Byte range in the condition, without parentheses.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Constant(Json),
    Path(ModelPath),
    Not(Box<Expr>),
    /// Evaluates to the first false operand, else the last.
    And(Vec<Expr>),
    /// Evaluates to the first true operand, else the last.
    Or(Vec<Expr>),
    /// `a == b != c` is `(a == b) != c`.
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    In,
}

/// A path in a model, such as `settings:storage.ceph.value`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelPath {
    pub model: String,
    /// Keys of the path; never empty.
    pub keys: Vec<String>,
}

impl fmt::Display for ModelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.model, self.keys.join("."))
    }
}

impl Expr {
    /// Collects all paths in text order.
    pub(crate) fn collect_paths<'e>(&'e self, paths: &mut Vec<&'e ModelPath>) {
        match &self.kind {
            ExprKind::Constant(_) => {}
            ExprKind::Path(path) => paths.push(path),
            ExprKind::Not(operand) => operand.collect_paths(paths),
            ExprKind::And(operands) | ExprKind::Or(operands) => {
                for operand in operands {
                    operand.collect_paths(paths);
                }
            }
            ExprKind::Compare(first, rest) => {
                first.collect_paths(paths);
                for (_, operand) in rest {
                    operand.collect_paths(paths);
                }
            }
        }
    }
}
