//! Evaluation of expressions for a whole fleet, at a cost that grows with the differences between nodes.
//!
//! An expression is not evaluated once per node. [`dependencies`] finds by static analysis which per-node
//! data its result can depend on: parts of a node's own document, and whether such parts changed. These
//! *aspects* are few over a whole graph and cheap to compute ([`aspects`]). Nodes with equal aspects form an
//! equivalence class ([`classes`]), and the expression is evaluated for one representative of each class
//! ([`evaluator`]).
//!
//! Results that are common to all nodes are cached by expression text ([`crate::yaql_ext::result_cache`]): the same
//! argument of `changedAny` occurs in dozens of conditions.

pub(crate) mod aspects;
pub(crate) mod classes;
pub(crate) mod dependencies;
pub(crate) mod evaluator;
pub(crate) mod expressions;
pub(crate) mod subjects;
