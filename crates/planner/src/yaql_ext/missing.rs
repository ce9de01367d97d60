//! Paths that a document does not have.

use stoker_yaql::syntax::{ArgNode, Node, NodeId, Tree};
use stoker_yaql::{Error, ErrorClass, Value};

/// Whether an evaluation failed because the path that the expression starts with does not exist: `$.a.b` in
/// `$.a.b.where($.c)`. A key that is missing elsewhere, such as in one element of a list, is an error: the
/// rest of the value may have changed.
pub(crate) fn is_missing_path(error: &Error, tree: &Tree, node: NodeId, document: &Value) -> bool {
    error.class == ErrorClass::Key && lacks_path(tree, node, document)
}

/// Whether the path that the expression starts with leads through maps to a key that does not exist.
pub(crate) fn lacks_path(tree: &Tree, node: NodeId, document: &Value) -> bool {
    let Some(keys) = leading_path(tree, node) else { return false };
    let mut value = document;
    for key in keys {
        let Some(map) = value.as_map() else { return false };
        match map.get_str(key) {
            Some(inner) => value = inner,
            None => return true,
        }
    }
    false
}

/// The keys of the path from `$` that the expression starts with.
pub(crate) fn leading_path(tree: &Tree, mut node: NodeId) -> Option<Vec<&str>> {
    let mut keys = Vec::new();
    loop {
        node = match *tree.node(node) {
            Node::Dollar => break,
            Node::Paren(inner) => inner,
            Node::Member { receiver, key, .. } => {
                keys.push(tree.text(key));
                receiver
            }
            Node::Index { receiver, args, .. } => {
                match tree.arg_slice(args) {
                    [ArgNode::Positional(index)] => match *tree.node(*index) {
                        Node::Const(key) | Node::Keyword(key) if tree.constant(key).as_str().is_some() => {
                            keys.extend(tree.constant(key).as_str());
                        }
                        _ => keys.clear(),
                    },
                    _ => keys.clear(),
                }
                receiver
            }
            Node::Method { receiver, .. } => {
                keys.clear();
                receiver
            }
            _ => return None,
        };
    }
    keys.reverse();
    Some(keys)
}
