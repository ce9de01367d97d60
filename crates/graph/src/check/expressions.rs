//! Expressions anywhere in a task.

use std::fmt::Write as _;

use stoker_model::Json;
use stoker_yaql::syntax::{Grammar, parse};

use crate::finding::{Finding, codes};
use crate::merge::MergedTask;

pub(super) fn check(task: &MergedTask<'_>, findings: &mut Vec<Finding>) {
    for field in task.fields() {
        let mut path = field.name.to_owned();
        walk(field.value, &mut path, &mut |path, source| {
            findings.extend(finding(source).map(|finding| finding.at(task.name, path)));
        });
    }
}

/// Visits each expression with its path. Text under `regex` is taken as it is.
fn walk(value: &Json, path: &mut String, visit: &mut impl FnMut(&str, &str)) {
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

fn finding(source: &str) -> Option<Finding> {
    let error = parse(source, Grammar::default()).err()?;
    let place = error.span.map(|span| place(source, span.start as usize)).unwrap_or_default();
    let message = format!("not an expression: {}{place}", error.short_message());
    Some(Finding::error(codes::EXPRESSION, message).help(error.help))
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
