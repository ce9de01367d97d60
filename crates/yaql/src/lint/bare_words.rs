//! Detects bare words that are constants in other languages.

use super::{Hint, HintKind};
use crate::syntax::{ArgNode, Node, NodeId, Tree};

/// Words and the YAQL constant that was probably intended.
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

/// Returns a finding for each such word in a value position, that is, not used as a key or argument name.
pub(super) fn bare_words(tree: &Tree) -> Vec<Hint> {
    let is_name = name_positions(tree);
    let hint = |id: NodeId| {
        let Node::Keyword(constant) = *tree.node(id) else { return None };
        let word = tree.constant(constant).as_str()?;
        let (_, constant) = WORDS.iter().find(|(listed, _)| *listed == word)?;
        let message = format!("`{word}` is the text \"{word}\" here");
        let help = format!("write `{constant}`, or put it in quotes if the text is meant");
        Some(Hint { kind: HintKind::BareWord, span: tree.span(id), message, help: Some(help) })
    };
    (0..tree.nodes.len() as NodeId).filter(|id| !is_name[*id as usize]).filter_map(hint).collect()
}

/// Returns for each node whether it is a key or the name of an argument.
fn name_positions(tree: &Tree) -> Vec<bool> {
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
