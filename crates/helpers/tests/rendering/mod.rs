//! Plain-text rendering of problems for snapshots.

use std::fmt::Write as _;

use stoker_diagnostics::Diagnostic;
use stoker_helpers::{HelperFile, LoadedHelpers, load};
use stoker_yaql::Library;

pub(crate) fn load_all(files: &[(&str, &str)]) -> LoadedHelpers {
    let files: Vec<HelperFile<'_>> = files.iter().map(|(name, text)| HelperFile { name, text }).collect();
    load(&files, &Library::standard())
}

/// Renders all problems of one file.
pub(crate) fn problems(text: &str) -> String {
    problems_of(&[("a.yaml", text)])
}

pub(crate) fn problems_of(files: &[(&str, &str)]) -> String {
    let loaded = load_all(files);
    assert_eq!(loaded.library.is_none(), loaded.has_errors(), "a library exactly if there are no errors");
    let text_of = |name: &str| files.iter().find(|(file, _)| *file == name).unwrap().1;
    loaded
        .problems
        .iter()
        .map(|problem| render(problem, text_of(problem.location.file.as_deref().unwrap())))
        .collect()
}

fn render(problem: &Diagnostic, text: &str) -> String {
    let (file, span) = (problem.location.file.as_deref().unwrap(), problem.location.span.unwrap());
    let start = span.start;
    let severity = problem.severity.as_str();
    let mut out = format!("{severity}[{}] {file}:{start}: {}\n", problem.code, problem.message);
    let line = text.lines().nth(start.line as usize - 1).unwrap_or_default();
    let n_chars = if span.end.line == start.line {
        (span.end.column - start.column).max(1) as usize
    } else {
        line.chars().count().saturating_sub(start.column as usize - 1).max(1)
    };
    _ = writeln!(out, "  | {line}\n  | {}{}", " ".repeat(start.column as usize - 1), "^".repeat(n_chars));
    for note in &problem.notes {
        let note_file = note.file.as_deref().unwrap_or(file);
        _ = writeln!(out, "  note: {}: {note_file}:{}", note.message, note.span.unwrap().start);
    }
    if let Some(help) = &problem.help {
        _ = writeln!(out, "  help: {help}");
    }
    out
}
