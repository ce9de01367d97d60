//! Recognition of constant paths into documents.

use stoker_yaql::syntax::{ArgNode, ArgRange, Node, NodeId, VarName};

use super::{Dollar, Visitor};

/// A constant path, and subexpressions to visit in addition: default values of `get`.
pub(super) struct Path {
    pub(super) root: Root,
    pub(super) keys: Vec<String>,
    pub(super) defaults: Vec<NodeId>,
}

pub(super) enum Root {
    Dollar(Dollar),
    Own,
    Common,
}

impl Visitor<'_> {
    /// The constant path that a syntax node denotes, if any.
    pub(super) fn path(&self, id: NodeId, dollar: Dollar) -> Option<Path> {
        let tree = &self.expression.program().tree;
        let root = |root| Some(Path { root, keys: Vec::new(), defaults: Vec::new() });
        match *tree.node(id) {
            Node::Dollar => root(Root::Dollar(dollar)),
            Node::Var(name) => match tree.name(name) {
                VarName::Named(name) if &**name == "node" => root(Root::Own),
                VarName::Named(name) if &**name == "common" => root(Root::Common),
                _ => None,
            },
            Node::Paren(inner) => self.path(inner, dollar),
            Node::Member { receiver, key, .. } => {
                let mut path = self.path(receiver, dollar)?;
                path.keys.push(tree.text(key).to_owned());
                Some(path)
            }
            Node::Index { receiver, args, .. } => self.step(receiver, args, dollar, 1),
            Node::Method { receiver, name, args, .. } if tree.text(name) == "get" && self.is_plain_get() => {
                self.step(receiver, args, dollar, 2)
            }
            Node::Call { name, args, .. } => {
                let dollar = match tree.text(name) {
                    name if self.is_helper(name, false) => return None,
                    "new" => Dollar::New,
                    "old" => Dollar::Old,
                    _ => return None,
                };
                let [ArgNode::Positional(inner)] = tree.arg_slice(args) else { return None };
                self.path(*inner, dollar)
            }
            _ => None,
        }
    }

    /// Extends a path by a constant key.
    fn step(&self, receiver: NodeId, args: ArgRange, dollar: Dollar, n_args_max: usize) -> Option<Path> {
        let tree = &self.expression.program().tree;
        let args = tree.arg_slice(args);
        let (ArgNode::Positional(key), defaults) = (*args.first()?, &args[1..]) else { return None };
        let (Node::Const(key) | Node::Keyword(key)) = *tree.node(key) else { return None };
        let key = tree.constant(key).as_str()?;
        if args.len() > n_args_max {
            return None;
        }
        let mut path = self.path(receiver, dollar)?;
        for slot in defaults {
            let ArgNode::Positional(node) = *slot else { return None };
            path.defaults.push(node);
        }
        path.keys.push(key.to_owned());
        Some(path)
    }

    /// Whether `get` is only the standard library's method, not overridden by a helper.
    fn is_plain_get(&self) -> bool {
        self.library().get("get").is_some_and(|entry| entry.methods.len() == 1)
    }
}
