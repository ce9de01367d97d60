//! Evaluating expressions for a whole fleet at the cost of its differences.
//!
//! An expression is not evaluated once a node. [`dependencies`] finds out, without evaluating anything, what its
//! result can depend on that is not the same for all nodes: parts of a node's own document, and whether such parts
//! have changed. These are few in number over a whole graph, and cheap to look at. Nodes for which they are equal
//! form a class ([`classes`]), and the expression is evaluated for one node of each ([`evaluator`]).
//!
//! What is the same for all nodes is remembered by its text ([`crate::yaql_ext::memory`]): the same argument of
//! `changedAny` occurs in dozens of conditions.

pub(crate) mod aspects;
pub(crate) mod classes;
pub(crate) mod dependencies;
pub(crate) mod evaluator;
pub(crate) mod expressions;
pub(crate) mod subjects;
