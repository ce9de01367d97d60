//! A condition as a tree.
//!
//! Chains of one operator are one node, so the tree is only as deep as the parentheses of the text, and a long
//! chain costs no stack.

use std::fmt;
use std::ops::Range;

use stoker_model::Json;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    /// Bytes of the condition, parentheses left out.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Constant(Json),
    Path(ModelPath),
    Not(Box<Expr>),
    /// The first operand that is false, or else the last.
    And(Vec<Expr>),
    /// The first operand that is true, or else the last.
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

/// A place in a model, as it is written: `settings:storage.ceph.value`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelPath {
    pub model: String,
    /// At least one.
    pub keys: Vec<String>,
}

impl fmt::Display for ModelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.model, self.keys.join("."))
    }
}

impl Expr {
    /// Every path of the tree, in the order of the text.
    pub(crate) fn paths<'e>(&'e self, found: &mut Vec<&'e ModelPath>) {
        match &self.kind {
            ExprKind::Constant(_) => {}
            ExprKind::Path(path) => found.push(path),
            ExprKind::Not(operand) => operand.paths(found),
            ExprKind::And(operands) | ExprKind::Or(operands) => {
                for operand in operands {
                    operand.paths(found);
                }
            }
            ExprKind::Compare(first, rest) => {
                first.paths(found);
                for (_, operand) in rest {
                    operand.paths(found);
                }
            }
        }
    }
}
