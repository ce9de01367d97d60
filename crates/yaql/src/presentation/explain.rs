//! The tree of an expression as shown by `explain`: constants and successful plain paths are omitted.

use crate::Span;
use crate::syntax::{ArgNode, ArgRange, Node, NodeId, Tree};

use super::text::truncate_line;
use super::trace::{NodeTrace, Trace};

const TEXT_CHARS_MAX: usize = 60;

/// A node of an explanation: source text, observed results and child nodes.
#[derive(Debug)]
pub struct ExplainNode {
    pub text: String,
    pub trace: NodeTrace,
    pub children: Vec<ExplainNode>,
}

impl ExplainNode {
    /// Reports whether this node or a descendant failed.
    pub fn contains_failure(&self) -> bool {
        self.trace.error.is_some() || self.children.iter().any(Self::contains_failure)
    }
}

/// Builds the explanation of an expression from a trace of its evaluation.
pub fn explain_tree(tree: &Tree, trace: &Trace) -> ExplainNode {
    Shape { tree, trace }.part(tree.root, None)
}

struct Shape<'a> {
    tree: &'a Tree,
    trace: &'a Trace,
}

impl Shape<'_> {
    fn part(&self, id: NodeId, label: Option<NodeId>) -> ExplainNode {
        let trace = self.trace.node(&self.tree.source, id);
        // The steps of a path that was resolved need no explanation.
        let parts = if trace.error.is_none() && self.is_path(id) { Vec::new() } else { self.children(id) };
        let label =
            label.map(|label| format!("{} => ", self.tree.text(self.tree.span(label)))).unwrap_or_default();
        ExplainNode { text: label + &self.text(id), trace, children: parts }
    }

    /// Returns the source of a node. A receiver that is listed as a child is abbreviated to `…`.
    fn text(&self, id: NodeId) -> String {
        let span = self.tree.span(id);
        let (Node::Member { receiver, .. } | Node::Method { receiver, .. } | Node::Index { receiver, .. }) =
            self.tree.node(id)
        else {
            return truncate_line(self.tree.text(span), TEXT_CHARS_MAX);
        };
        if self.is_path(*receiver) || self.is_constant(*receiver) {
            return truncate_line(self.tree.text(span), TEXT_CHARS_MAX);
        }
        let rest = Span { start: self.tree.span(*receiver).end, end: span.end };
        format!("…{}", truncate_line(self.tree.text(rest), TEXT_CHARS_MAX))
    }

    fn is_path(&self, id: NodeId) -> bool {
        match self.tree.node(id) {
            Node::Dollar | Node::Var(_) => true,
            Node::Member { receiver, .. } => self.is_path(*receiver),
            _ => false,
        }
    }

    fn is_constant(&self, id: NodeId) -> bool {
        matches!(self.tree.node(id), Node::Const(_) | Node::Keyword(_))
    }

    fn children(&self, id: NodeId) -> Vec<ExplainNode> {
        let mut parts = Vec::new();
        let mut push = |id: NodeId| {
            if !self.is_constant(id) {
                parts.push(self.part(id, None));
            }
        };
        match self.tree.node(id) {
            Node::Const(_) | Node::Keyword(_) | Node::Dollar | Node::Var(_) => {}
            Node::Paren(inner) | Node::Unary(_, inner) => push(*inner),
            Node::Binary(_, left, right) | Node::BadDot { receiver: left, right, .. } => {
                push(*left);
                push(*right);
            }
            Node::Member { receiver, .. } => push(*receiver),
            Node::List(args) | Node::Map(args) | Node::Call { args, .. } => self.args(*args, &mut parts),
            Node::Index { receiver, args, .. }
            | Node::Method { receiver, args, .. }
            | Node::Invoke { callee: receiver, args, .. } => {
                push(*receiver);
                self.args(*args, &mut parts);
            }
        }
        parts
    }

    fn args(&self, args: ArgRange, parts: &mut Vec<ExplainNode>) {
        for slot in self.tree.arg_slice(args) {
            match slot {
                ArgNode::Omitted => {}
                ArgNode::Positional(node) if self.is_constant(*node) => {}
                ArgNode::Positional(node) => parts.push(self.part(*node, None)),
                ArgNode::Pair(key, value) if self.is_constant(*key) => {
                    if !self.is_constant(*value) {
                        parts.push(self.part(*value, Some(*key)));
                    }
                }
                ArgNode::Pair(key, value) => {
                    parts.push(self.part(*key, None));
                    parts.push(self.part(*value, None));
                }
            }
        }
    }
}
