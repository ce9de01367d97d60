//! Mutations: invalid variants of valid expressions, and random token sequences.

use crate::generate::Generator;
use crate::rng::Rng;
use crate::tree::{Form, Node};
use crate::types::Ty;

/// Mutates some nodes: other types, other names, more or fewer arguments.
pub(crate) fn tree(mut node: Node, generator: &mut Generator<'_>) -> Node {
    for _ in 0..=generator.rng.below(2) {
        let mut number = generator.rng.below(node.size());
        if let Some(target) = node.nth(&mut number) {
            change(target, generator);
        }
    }
    node
}

fn change(node: &mut Node, generator: &mut Generator<'_>) {
    let args_from = node.args_from();
    match (generator.rng.below(6), &mut node.form, args_from) {
        (0, Form::Call(name) | Form::Method(name, _), _) => {
            let entries = &generator.table.entries;
            *name = match generator.rng.below(6) {
                0 => "nosuch".to_owned(),
                1 => format!("{name}_"),
                _ => generator.rng.choose(entries).name.clone(),
            };
        }
        (1, _, Some(from)) if node.kids.len() > from => {
            let at = from + generator.rng.below(node.kids.len() - from);
            node.kids.remove(at);
        }
        (2, _, Some(from)) => {
            let extra = match generator.rng.below(4) {
                0 => Node::new(Form::Omitted, Vec::new()),
                1 => Node::pair(Node::atom("nosuch"), generator.leaf(&Ty::Any, 1)),
                _ => generator.leaf(&Ty::Any, 1),
            };
            let at = from + generator.rng.below(node.kids.len() - from + 1);
            node.kids.insert(at, extra);
        }
        (3, Form::Call(name), _) if !node.kids.is_empty() => {
            if !matches!(node.kids[0].form, Form::Pair | Form::Omitted) {
                node.form = Form::Method(name.clone(), false);
            }
        }
        (3, Form::Method(name, _), _) => node.form = Form::Call(name.clone()),
        _ => {
            let ty = Ty::random(&mut generator.rng, 2);
            *node = generator.leaf(&ty, 1);
        }
    }
}

const TOKENS: [&str; 52] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ",",
    ".",
    "?.",
    "->",
    "=>",
    "=",
    "!=",
    "<",
    ">=",
    "=~",
    "!~",
    "+",
    "-",
    "*",
    "/",
    "mod",
    "and",
    "or",
    "not",
    "in",
    "true",
    "false",
    "null",
    "$",
    "$1",
    "$x",
    "0",
    "1",
    "2.5",
    "'s'",
    "a",
    "len(",
    "select(",
    "where(",
    "not(",
    "__x",
    "#",
    "'",
    "\"",
    "`",
    "\\",
    "'\\x4'",
    "'\\ud800'",
    "1e5",
    "\u{a0}",
];

/// Mutates the text of an expression token by token.
pub(crate) fn tokens(text: &str, rng: &mut Rng) -> String {
    let mut parts = split(text);
    for _ in 0..=rng.below(3) {
        let at = rng.below(parts.len().max(1));
        match rng.below(5) {
            0 if !parts.is_empty() => {
                parts.remove(at);
            }
            1 if !parts.is_empty() => {
                let copy = parts[at].clone();
                parts.insert(at, copy);
            }
            2 if parts.len() > 1 => {
                let other = rng.below(parts.len());
                parts.swap(at, other);
            }
            3 if !parts.is_empty() => rng.pick(&TOKENS).clone_into(&mut parts[at]),
            _ => parts.insert(at, rng.pick(&TOKENS).to_owned()),
        }
    }
    parts.concat()
}

pub(crate) fn garbage(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.below(12) {
        text.push_str(rng.pick(&TOKENS));
        if rng.chance(40) {
            text.push(' ');
        }
    }
    text
}

/// Splits a text into approximate tokens: words, strings, blanks, single characters.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        let mut part = String::from(first);
        if first.is_alphanumeric() || first == '_' || first == '$' {
            while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || *next == '_') {
                part.push(next);
            }
        } else if matches!(first, '\'' | '"' | '`') {
            while let Some(next) = rest.next() {
                part.push(next);
                if next == '\\' {
                    part.extend(rest.next());
                } else if next == first {
                    break;
                }
            }
        }
        parts.push(part);
    }
    parts
}
