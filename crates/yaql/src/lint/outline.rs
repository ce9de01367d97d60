//! Collects the calls and variable reads of an expression.

use std::collections::BTreeSet;

use crate::error::Span;
use crate::pytext::camel_case;
use crate::syntax::{ArgNode, ArgRange, Node, NodeId, Tree, VarName};

/// A call in an expression.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    /// Location of the name in the source.
    pub span: Span,
    pub is_method: bool,
}

/// The statically visible calls and variables of an expression.
#[derive(Debug, Default)]
pub struct Outline {
    pub calls: Vec<Call>,
    /// Names of functions defined by `def` anywhere in the expression.
    pub defined_functions: BTreeSet<String>,
    /// Whether a name is computed at run time, so that calls and reads may be missing here.
    pub has_computed_names: bool,
    /// Named variables that are read, with their locations.
    pub reads: Vec<(String, Span)>,
    /// Names that the expression may bind: keys of `k => v` arguments, and arguments of `unpack`.
    pub bound_names: BTreeSet<String>,
    /// Whether `$` is read.
    pub reads_dollar: bool,
}

pub fn outline(tree: &Tree) -> Outline {
    let mut outline = Outline::default();
    for id in 0..tree.nodes.len() as NodeId {
        match tree.node(id) {
            Node::Call { name, args, .. } => outline.call(tree, *name, *args, false),
            Node::Method { name, args, .. } => outline.call(tree, *name, *args, true),
            Node::Dollar => outline.reads_dollar = true,
            Node::Var(name) => {
                if let VarName::Named(name) = tree.name(*name) {
                    outline.reads.push((name.to_string(), tree.span(id)));
                }
            }
            _ => {}
        }
    }
    outline
}

impl Outline {
    fn call(&mut self, tree: &Tree, name: Span, args: ArgRange, is_method: bool) {
        let text = tree.text(name).trim_end_matches('_').to_owned();
        let slots = tree.arg_slice(args);
        match text.as_str() {
            "def" if !is_method => self.definition(tree, slots),
            "call" | "getContextData" => self.has_computed_names = true,
            _ => {}
        }
        for slot in slots {
            let word = match slot {
                ArgNode::Pair(key, _) => word(tree, *key),
                ArgNode::Positional(node) if text == "unpack" => word(tree, *node),
                _ => None,
            };
            self.bound_names.extend(word);
        }
        self.calls.push(Call { name: text, span: name, is_method });
    }

    fn definition(&mut self, tree: &Tree, slots: &[ArgNode]) {
        let name = slots.iter().find_map(|slot| match slot {
            ArgNode::Pair(key, value) if word(tree, *key).as_deref() == Some("name") => Some(*value),
            _ => None,
        });
        let first = match slots.first() {
            Some(ArgNode::Positional(node)) => Some(*node),
            _ => None,
        };
        match name.or(first).and_then(|node| word(tree, node)) {
            Some(name) => {
                _ = self.defined_functions.insert(camel_case(name.trim_end_matches('_')).into_owned());
            }
            None => self.has_computed_names = true,
        }
    }
}

/// Returns the text of a bare word or string literal.
fn word(tree: &Tree, node: NodeId) -> Option<String> {
    match tree.node(node) {
        Node::Const(constant) | Node::Keyword(constant) => {
            tree.constant(*constant).as_str().map(str::to_owned)
        }
        _ => None,
    }
}
