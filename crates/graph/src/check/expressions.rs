//! Expressions anywhere in a task.

use std::collections::HashMap;
use std::fmt::Write as _;

use stoker_model::Json;
use stoker_yaql::Library;
use stoker_yaql::lint::{Hint, HintKind, lint};
use stoker_yaql::syntax::{Grammar, parse};

use crate::finding::{Finding, codes};
use crate::merge::MergedTask;

/// Judges expressions; equal ones once.
pub(super) struct Expressions<'l, 'a> {
    library: Option<&'l Library>,
    known: HashMap<&'a str, Vec<Finding>>,
}

impl<'l, 'a> Expressions<'l, 'a> {
    pub(super) fn new(library: Option<&'l Library>) -> Self {
        Self { library, known: HashMap::new() }
    }

    pub(super) fn check(&mut self, task: &MergedTask<'a>, findings: &mut Vec<Finding>) {
        for field in task.fields() {
            let mut path = field.name.to_owned();
            walk(field.value, &mut path, &mut |path, source| {
                let found = self.known.entry(source).or_insert_with(|| judge(source, self.library));
                findings.extend(found.iter().map(|finding| finding.clone().at(task.name, path)));
            });
        }
    }
}

/// Visits each expression with its path. Text under `regex` is taken as it is.
fn walk<'a>(value: &'a Json, path: &mut String, visit: &mut impl FnMut(&str, &'a str)) {
    let length = path.len();
    match value {
        Json::Object(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| *key != "regex") {
                _ = write!(path, ".{key}");
                match value {
                    Json::String(source) if key == "yaql_exp" => visit(path, source),
                    _ => walk(value, path, visit),
                }
                path.truncate(length);
            }
        }
        Json::Array(items) => {
            for (item_idx, item) in items.iter().enumerate() {
                _ = write!(path, "[{item_idx}]");
                walk(item, path, visit);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn judge(source: &str, library: Option<&Library>) -> Vec<Finding> {
    match parse(source, Grammar::default()) {
        Ok(tree) => lint(&tree, library).into_iter().map(|hint| of_hint(source, hint)).collect(),
        Err(error) => {
            let place = error.span.map(|span| place(source, span.start as usize)).unwrap_or_default();
            let message = format!("not an expression: {}{place}", error.short_message());
            vec![Finding::error(codes::EXPRESSION, message).help(error.help)]
        }
    }
}

fn of_hint(source: &str, hint: Hint) -> Finding {
    let code = match hint.kind {
        HintKind::UnknownFunction => codes::UNKNOWN_FUNCTION,
        HintKind::BareWord => codes::BARE_WORD,
    };
    let place = place(source, hint.span.start as usize);
    Finding::warning(code, format!("{}{place}", hint.message)).help(hint.help)
}

/// Where in the expression, for there is no file here to point into.
fn place(source: &str, offset: usize) -> String {
    let before = &source[..source.floor_char_boundary(offset)];
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    if source.trim_end().contains('\n') {
        return format!(", line {}, column {column} of the expression", before.matches('\n').count() + 1);
    }
    format!(", column {column} of the expression")
}
