//! Arguments of state functions whose value does not vary within an evaluation.

use stoker_yaql::syntax::{ArgNode, ArgRange, Node, NodeId, Tree, VarName};

use super::{Visitor, state_function};

impl Visitor<'_> {
    /// Arguments that read only the two states: inside them `$` is a whole document, independent of the
    /// surrounding `$`.
    pub(super) fn closed(&self) -> Vec<NodeId> {
        let tree = &self.expression.program().tree;
        let mut closed = Vec::new();
        for id in 0..tree.nodes.len() as NodeId {
            let Node::Call { name, args, .. } = *tree.node(id) else { continue };
            if state_function(tree.text(name)).is_none() {
                continue;
            }
            for slot in tree.arg_slice(args) {
                match *slot {
                    ArgNode::Positional(node) if !has_variables(tree, node) => closed.push(node),
                    _ => {}
                }
            }
        }
        closed
    }
}

/// Whether a subexpression reads variables that may have different values between two evaluations of it.
fn has_variables(tree: &Tree, id: NodeId) -> bool {
    let of_args = |args: ArgRange| {
        tree.arg_slice(args).iter().any(|slot| match *slot {
            ArgNode::Omitted => false,
            ArgNode::Positional(node) => has_variables(tree, node),
            ArgNode::Pair(key, value) => has_variables(tree, key) || has_variables(tree, value),
        })
    };
    match *tree.node(id) {
        Node::Const(_) | Node::Keyword(_) | Node::Dollar => false,
        Node::Var(name) => {
            !matches!(tree.name(name), VarName::Named(name) if matches!(&**name, "node" | "common"))
        }
        Node::Paren(inner) | Node::Unary(_, inner) | Node::Member { receiver: inner, .. } => {
            has_variables(tree, inner)
        }
        Node::Binary(_, left, right) => has_variables(tree, left) || has_variables(tree, right),
        Node::List(args) | Node::Map(args) | Node::Call { args, .. } => of_args(args),
        Node::Index { receiver, args, .. } | Node::Method { receiver, args, .. } => {
            has_variables(tree, receiver) || of_args(args)
        }
        Node::Invoke { .. } | Node::BadDot { .. } => true,
    }
}
