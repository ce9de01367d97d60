//! Paths into documents, as far as they are written out.

use stoker_yaql::syntax::{ArgNode, ArgRange, Node, NodeId, VarName};

use super::{Dollar, Visitor};

/// A path and what has to be visited beside it: defaults of `get`.
pub(super) struct Path {
    pub(super) root: Root,
    pub(super) keys: Vec<String>,
    pub(super) beside: Vec<NodeId>,
}

pub(super) enum Root {
    Dollar(Dollar),
    Own,
    Common,
}

impl Visitor<'_> {
    /// The path that a node is, if it is one.
    pub(super) fn path(&self, id: NodeId, dollar: Dollar) -> Option<Path> {
        let tree = &self.expression.program().tree;
        let root = |root| Some(Path { root, keys: Vec::new(), beside: Vec::new() });
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

    /// A step to a key that is written out.
    fn step(&self, receiver: NodeId, args: ArgRange, dollar: Dollar, n_args_max: usize) -> Option<Path> {
        let tree = &self.expression.program().tree;
        let args = tree.arg_slice(args);
        let (ArgNode::Positional(key), beside) = (*args.first()?, &args[1..]) else { return None };
        let (Node::Const(key) | Node::Keyword(key)) = *tree.node(key) else { return None };
        let key = tree.constant(key).as_str()?;
        if args.len() > n_args_max {
            return None;
        }
        let mut path = self.path(receiver, dollar)?;
        for slot in beside {
            let ArgNode::Positional(node) = *slot else { return None };
            path.beside.push(node);
        }
        path.keys.push(key.to_owned());
        Some(path)
    }

    /// Whether `get` is that of the standard library.
    fn is_plain_get(&self) -> bool {
        self.library().get("get").is_some_and(|entry| entry.methods.len() == 1)
    }
}
