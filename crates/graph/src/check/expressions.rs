//! Checks of expressions in all fields of a task.

use std::collections::HashMap;
use std::fmt::Write as _;

use stoker_diagnostics::Diagnostic;
use stoker_model::Json;
use stoker_yaql::Library;
use stoker_yaql::lint::{Hint, HintKind, lint};
use stoker_yaql::syntax::{Grammar, parse};

use crate::codes;
use crate::merge::MergedTask;

/// Checks expressions; results are cached by source text.
pub(super) struct Expressions<'l, 'a> {
    library: Option<&'l Library>,
    by_source: HashMap<&'a str, Vec<Diagnostic>>,
}

impl<'l, 'a> Expressions<'l, 'a> {
    pub(super) fn new(library: Option<&'l Library>) -> Self {
        Self { library, by_source: HashMap::new() }
    }

    pub(super) fn check(&mut self, task: &MergedTask<'a>, findings: &mut Vec<Diagnostic>) {
        for field in task.fields() {
            let mut path = field.name.to_owned();
            visit_expressions(field.value, &mut path, &mut |path, source| {
                let source_findings =
                    self.by_source.entry(source).or_insert_with(|| check_source(source, self.library));
                findings.extend(source_findings.iter().map(|finding| finding.clone().task(task.name, path)));
            });
        }
    }
}

/// Visits each expression with its path. Values under `regex` are verbatim and skipped.
pub(super) fn visit_expressions<'a>(
    value: &'a Json,
    path: &mut String,
    visit: &mut impl FnMut(&str, &'a str),
) {
    let length = path.len();
    match value {
        Json::Object(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| *key != "regex") {
                _ = write!(path, ".{key}");
                match value {
                    Json::String(source) if key == "yaql_exp" => visit(path, source),
                    _ => visit_expressions(value, path, visit),
                }
                path.truncate(length);
            }
        }
        Json::Array(items) => {
            for (item_idx, item) in items.iter().enumerate() {
                _ = write!(path, "[{item_idx}]");
                visit_expressions(item, path, visit);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn check_source(source: &str, library: Option<&Library>) -> Vec<Diagnostic> {
    match parse(source, Grammar::default()) {
        Ok(tree) => lint(&tree, library).into_iter().map(|hint| of_hint(source, hint)).collect(),
        Err(error) => {
            let location = error.span.map(|span| location(source, span.start as usize)).unwrap_or_default();
            let message = format!("invalid expression: {}{location}", error.short_message());
            vec![Diagnostic::error(codes::EXPRESSION, message).help_if(error.help)]
        }
    }
}

fn of_hint(source: &str, hint: Hint) -> Diagnostic {
    let code = match hint.kind {
        HintKind::UnknownFunction => codes::UNKNOWN_FUNCTION,
        HintKind::BareWord => codes::BARE_WORD,
    };
    let location = location(source, hint.span.start as usize);
    Diagnostic::warning(code, format!("{}{location}", hint.message)).help_if(hint.help)
}

/// Returns the position in the expression, since no source file is available here.
fn location(source: &str, offset: usize) -> String {
    let before = &source[..source.floor_char_boundary(offset)];
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    if source.trim_end().contains('\n') {
        return format!(", line {}, column {column} of the expression", before.matches('\n').count() + 1);
    }
    format!(", column {column} of the expression")
}
