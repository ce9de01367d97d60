//! Shrinks a failing case while it keeps failing in the same way.

use serde_json::{Map, Value as Json, json};

use crate::case::{Case, Source};
use crate::mutate::split;
use crate::tree::{Form, Node};

/// Maximum number of candidates to try.
const TRIES_MAX: usize = 500;

pub(crate) fn shrink(mut case: Case, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut tries = 0;
    'smaller: loop {
        for candidate in case_candidates(&case) {
            tries += 1;
            if tries > TRIES_MAX {
                return case;
            }
            if fails(&candidate) {
                case = candidate;
                continue 'smaller;
            }
        }
        return case;
    }
}

fn case_candidates(case: &Case) -> Vec<Case> {
    let mut candidates = Vec::new();
    for name in case.options.keys() {
        let mut options = case.options.clone();
        options.remove(name);
        candidates.push(Case { options, ..case.clone() });
    }
    match &case.expr {
        Source::Tree(node) => {
            candidates.extend(
                smaller(node).into_iter().map(|node| Case { expr: Source::Tree(node), ..case.clone() }),
            );
        }
        Source::Text(text) => {
            candidates.extend(
                shorter(text).into_iter().map(|text| Case { expr: Source::Text(text), ..case.clone() }),
            );
        }
    }
    for (name, value) in &case.vars {
        let mut vars = case.vars.clone();
        vars.remove(name);
        candidates.push(Case { vars, ..case.clone() });
        for value in simpler(value) {
            let mut vars = case.vars.clone();
            vars.insert(name.clone(), value);
            candidates.push(Case { vars, ..case.clone() });
        }
    }
    candidates.extend(simpler(&case.data).into_iter().map(|data| Case { data, ..case.clone() }));
    candidates
}

/// Returns trees with one reduction each, largest reductions first.
fn smaller(node: &Node) -> Vec<Node> {
    let mut candidates = Vec::new();
    for kid in &node.kids {
        match kid.form {
            Form::Omitted => {}
            Form::Pair if node.form != Form::Paren => candidates.extend(kid.kids.iter().cloned()),
            _ => candidates.push(kid.clone()),
        }
    }
    if let Some(from) = node.args_from() {
        for at in from..node.kids.len() {
            let mut less = node.clone();
            less.kids.remove(at);
            candidates.push(less);
        }
    }
    if node.form == Form::Pair || node.form == Form::Omitted {
        candidates.clear();
    }
    let atoms = ["null", "1", "a", "$", "true", "[]"];
    match &node.form {
        Form::Atom(text) => {
            let plainness = |text: &str| atoms.iter().position(|atom| *atom == text);
            let own = plainness(text).unwrap_or(atoms.len());
            candidates.extend(atoms.iter().take(own).map(|atom| Node::atom(*atom)));
            if own == atoms.len() && text.chars().count() > 3 && text.starts_with(['\'', '`', '"']) {
                let letters: Vec<char> = text.chars().collect();
                for at in 1..letters.len() - 1 {
                    let mut less = letters.clone();
                    less.remove(at);
                    candidates.push(Node::atom(less.into_iter().collect::<String>()));
                }
            }
        }
        Form::Pair | Form::Omitted => {}
        _ => candidates.extend(atoms.iter().map(|atom| Node::atom(*atom))),
    }
    for (at, kid) in node.kids.iter().enumerate() {
        for less in smaller(kid) {
            let mut changed = node.clone();
            changed.kids[at] = less;
            candidates.push(changed);
        }
    }
    candidates
}

fn shorter(text: &str) -> Vec<String> {
    let parts = split(text);
    let mut candidates = Vec::new();
    let mut size = parts.len() / 2;
    while size > 0 {
        for from in (0..parts.len()).step_by(size) {
            let to = (from + size).min(parts.len());
            candidates.push([&parts[..from], &parts[to..]].concat().concat());
        }
        size /= 2;
    }
    for (at, part) in parts.iter().enumerate() {
        if part.len() > 1 {
            for less in ["1", "a", "$"] {
                let mut changed = parts.clone();
                less.clone_into(&mut changed[at]);
                candidates.push(changed.concat());
            }
        }
    }
    candidates
}

fn simpler(value: &Json) -> Vec<Json> {
    let mut candidates = Vec::new();
    match value {
        Json::Null => return candidates,
        Json::Array(items) => {
            candidates.push(Json::Null);
            candidates.extend(items.iter().cloned());
            for at in 0..items.len() {
                let mut less = items.clone();
                less.remove(at);
                candidates.push(Json::Array(less));
            }
            for (at, item) in items.iter().enumerate() {
                for simple in simpler(item) {
                    let mut changed = items.clone();
                    changed[at] = simple;
                    candidates.push(Json::Array(changed));
                }
            }
        }
        Json::Object(fields) => {
            candidates.push(Json::Null);
            let tagged = fields.contains_key("$yaql");
            if !tagged {
                candidates.extend(fields.values().cloned());
                for key in fields.keys() {
                    let less: Map<String, Json> = fields
                        .iter()
                        .filter(|(other, _)| *other != key)
                        .map(|(k, v)| (k.clone(), v.clone()))
                        .collect();
                    candidates.push(Json::Object(less));
                }
            }
            for (key, value) in fields.iter().filter(|(key, _)| !tagged || *key == "items") {
                for simple in simpler(value).into_iter().filter(|simple| !tagged || simple.is_array()) {
                    let mut changed = fields.clone();
                    changed.insert(key.clone(), simple);
                    candidates.push(Json::Object(changed));
                }
            }
        }
        Json::String(text) if text == "a" => candidates.push(Json::Null),
        Json::String(_) => candidates.extend([Json::Null, json!("a")]),
        Json::Number(number) if number.as_i64() == Some(1) => candidates.push(Json::Null),
        Json::Number(_) => candidates.extend([Json::Null, json!(1)]),
        Json::Bool(_) => candidates.push(Json::Null),
    }
    candidates
}
