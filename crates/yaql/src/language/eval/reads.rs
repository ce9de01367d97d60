//! Static analysis of the input paths that an expression may read.
//!
//! The result is conservative: it may contain too many paths, never too few. A host may reuse a previous
//! result as long as none of the paths has changed.

use std::collections::BTreeSet;
use std::fmt;

use super::Program;
use crate::library::Purity;
use crate::syntax::{ArgNode, ArgRange, Node, NodeId};

/// The variables and paths that an expression may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSet {
    /// Paths that are read; each path includes all paths below it.
    pub paths: BTreeSet<ReadPath>,
    /// Whether the result also depends on the clock or on random numbers.
    pub impure: bool,
}

/// A variable, such as `$` or `$name`, and the keys that follow it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadPath {
    /// The variable, including its `$`.
    pub root: String,
    pub keys: Vec<String>,
}

impl fmt::Display for ReadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for key in &self.keys {
            write!(f, ".{key}")?;
        }
        Ok(())
    }
}

pub(super) fn reads(program: &Program) -> ReadSet {
    let mut analysis = Analysis { program, reads: ReadSet::default() };
    analysis.visit(program.tree.root);
    analysis.reads.paths = without_redundant(std::mem::take(&mut analysis.reads.paths));
    analysis.reads
}

struct Analysis<'a> {
    program: &'a Program,
    reads: ReadSet,
}

impl Analysis<'_> {
    fn visit(&mut self, id: NodeId) {
        if let Some(path) = self.path(id) {
            self.reads.paths.insert(path);
            return;
        }
        let tree = &self.program.tree;
        match tree.node(id) {
            Node::Const(_) | Node::Keyword(_) | Node::Dollar | Node::Var(_) => {}
            Node::Paren(inner) | Node::Unary(_, inner) => self.visit(*inner),
            Node::Binary(_, left, right) | Node::BadDot { receiver: left, right, .. } => {
                self.visit(*left);
                self.visit(*right);
            }
            Node::Member { receiver, key, .. } => {
                self.record_purity(&format!("#property#{}", tree.text(*key)));
                self.visit(*receiver);
            }
            Node::List(args) | Node::Map(args) => self.visit_args(*args),
            Node::Index { receiver, args, .. } | Node::Invoke { callee: receiver, args, .. } => {
                self.visit(*receiver);
                self.visit_args(*args);
            }
            Node::Method { receiver, name, args, .. } => {
                self.record_purity(tree.text(*name));
                self.visit(*receiver);
                self.visit_args(*args);
            }
            Node::Call { name, args, .. } => {
                self.record_purity(tree.text(*name));
                self.visit_args(*args);
            }
        }
    }

    fn visit_args(&mut self, args: ArgRange) {
        for slot in self.program.tree.arg_slice(args) {
            match slot {
                ArgNode::Omitted => {}
                ArgNode::Positional(node) => self.visit(*node),
                ArgNode::Pair(key, value) => {
                    self.visit(*key);
                    self.visit(*value);
                }
            }
        }
    }

    fn record_purity(&mut self, name: &str) {
        let Some(entry) = self.program.library.get(name.trim_end_matches('_')) else { return };
        let mut overloads = entry.functions.iter().chain(&entry.methods).flatten();
        // The target of `call` is computed at run time.
        self.reads.impure |=
            name == "call" || overloads.any(|overload| overload.function.doc().purity == Purity::Impure);
    }

    /// Returns the path that a node denotes, if it is one. `$` inside a lambda is treated as the outer `$`,
    /// which only makes the result larger.
    fn path(&self, id: NodeId) -> Option<ReadPath> {
        let tree = &self.program.tree;
        match tree.node(id) {
            Node::Dollar => Some(ReadPath { root: "$".to_owned(), keys: Vec::new() }),
            Node::Var(name) => Some(ReadPath { root: tree.name(*name).to_string(), keys: Vec::new() }),
            Node::Paren(inner) => self.path(*inner),
            Node::Member { receiver, key, .. } => {
                let mut path = self.path(*receiver)?;
                path.keys.push(tree.text(*key).to_owned());
                Some(path)
            }
            Node::Index { receiver, args, .. } => {
                let [ArgNode::Positional(key)] = tree.arg_slice(*args) else { return None };
                let (Node::Const(key) | Node::Keyword(key)) = tree.node(*key) else { return None };
                let mut path = self.path(*receiver)?;
                path.keys.push(tree.constant(*key).as_str()?.to_owned());
                Some(path)
            }
            _ => None,
        }
    }
}

/// Removes paths that are below another path.
fn without_redundant(paths: BTreeSet<ReadPath>) -> BTreeSet<ReadPath> {
    let mut minimal: Vec<ReadPath> = Vec::new();
    for path in paths {
        let covered =
            minimal.last().is_some_and(|last| last.root == path.root && path.keys.starts_with(&last.keys));
        if !covered {
            minimal.push(path);
        }
    }
    minimal.into_iter().collect()
}
