//! Bare words that mean a constant in other languages.

use super::{Hint, HintKind};
use crate::syntax::{ArgNode, Node, NodeId, Tree};

/// Words and what is probably meant by them.
const WORDS: &[(&str, &str)] = &[
    // sorted
    ("FALSE", "false"),
    ("False", "false"),
    ("NULL", "null"),
    ("None", "null"),
    ("Null", "null"),
    ("TRUE", "true"),
    ("True", "true"),
    ("nil", "null"),
    ("undef", "null"),
    ("undefined", "null"),
    // end sorted
];

/// Such words wherever a value is expected: not where they name something.
pub(super) fn bare_words(tree: &Tree) -> Vec<Hint> {
    let is_name = names(tree);
    let hint = |id: NodeId| {
        let Node::Keyword(constant) = *tree.node(id) else { return None };
        let word = tree.constant(constant).as_str()?;
        let (_, meant) = WORDS.iter().find(|(known, _)| *known == word)?;
        let message = format!("`{word}` is the text \"{word}\" here");
        let help = format!("write `{meant}`, or put it in quotes if the text is meant");
        Some(Hint { kind: HintKind::BareWord, span: tree.span(id), message, help: Some(help) })
    };
    (0..tree.nodes.len() as NodeId).filter(|id| !is_name[*id as usize]).filter_map(hint).collect()
}

/// Beside each node whether it names something: a key, or an argument.
fn names(tree: &Tree) -> Vec<bool> {
    let mut is_name = vec![false; tree.nodes.len()];
    let first = |is_name: &mut Vec<bool>, slots: &[ArgNode]| {
        if let Some(ArgNode::Positional(id)) = slots.first() {
            is_name[*id as usize] = true;
        }
    };
    for id in 0..tree.nodes.len() as NodeId {
        let args = match *tree.node(id) {
            Node::Call { args, .. } | Node::Invoke { args, .. } | Node::List(args) | Node::Map(args) => args,
            Node::Method { name, args, .. } => {
                if tree.text(name) == "get" {
                    first(&mut is_name, tree.arg_slice(args));
                }
                args
            }
            Node::Index { args, .. } => {
                first(&mut is_name, tree.arg_slice(args));
                args
            }
            _ => continue,
        };
        for slot in tree.arg_slice(args) {
            if let ArgNode::Pair(key, _) = slot {
                is_name[*key as usize] = true;
            }
        }
    }
    is_name
}
