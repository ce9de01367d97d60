//! Graph files, parsed and checked locally.

use serde_json::Value as Json;
use stoker_diagnostics::{Diagnostic, Diagnostics, has_errors};
use stoker_manifest::{ParseOptions, codes, parse_with};
use stoker_model::{Task, canonical_field};
use stoker_yaml::{Node, Span};

use crate::exit::{Exit, Failure, Outcome};
use crate::input::Text;
use crate::printer::Printer;

/// The tasks of a file with their source locations.
pub(super) struct File {
    pub(super) text: Text,
    pub(super) tasks: Vec<Task>,
    /// Warnings that [`File::read`] printed.
    pub(super) n_warnings: usize,
    node: Option<Node>,
}

impl File {
    /// Parses a file and appends its problems to `diagnostics`.
    pub(super) fn parse(text: Text, diagnostics: &mut Vec<Diagnostic>) -> Self {
        // Existing files may contain duplicate keys: earlier tools accepted them.
        let options = ParseOptions { strict_keys: false, ..ParseOptions::default() };
        let parsed = parse_with(&text.content, text.format(), &options);
        let mut problems = Diagnostics::after(parsed.problems);
        let body = parsed
            .node
            .as_ref()
            .and_then(|node| stoker_manifest::graph::read_node(node, &text.content, &mut problems));
        diagnostics.extend(in_file(problems.into_vec(), &text));
        let (_, tasks) = body.unwrap_or_default().into_parts();
        Self { text, tasks, n_warnings: 0, node: parsed.node }
    }

    /// Parses a single file and prints its warnings.
    pub(super) fn read(text: Text, printer: &mut Printer) -> Outcome<Self> {
        let mut diagnostics = Vec::new();
        let mut file = Self::parse(text, &mut diagnostics);
        file.n_warnings = diagnostics.len();
        fail_on_errors(diagnostics, printer)?;
        Ok(file)
    }

    /// Returns the task IDs as written, also in files with errors.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        let root = self.node.as_ref();
        let tasks = root.and_then(|root| root.get("tasks").unwrap_or(root).as_seq());
        tasks.into_iter().flatten().filter_map(|task| task.get("id").and_then(Node::as_str))
    }

    /// Locates a field of a task; falls back to the task ID.
    pub(super) fn locate(&self, task: &str, path: &str) -> Option<Span> {
        let root = self.node.as_ref()?;
        let tasks = root.get("tasks").unwrap_or(root).as_seq()?;
        let node = tasks.iter().find(|node| node.get("id").and_then(Node::as_str) == Some(task))?;
        Some(find_field(node, path).unwrap_or_else(|| node.get("id").unwrap_or(node).span))
    }
}

/// Finds the node at a path such as `cross_depends[0].role`, under any alias of the field. Returns the closest node if the
/// file does not contain the whole path.
pub(crate) fn find_field(task: &Node, path: &str) -> Option<Span> {
    let mut node = task;
    for (step_idx, step) in path.split(['.', '[']).enumerate() {
        let next = match step.strip_suffix(']') {
            Some(number) => node.as_seq().and_then(|items| items.get(number.parse::<usize>().ok()?)),
            None => node.as_map().and_then(|entries| {
                let matches_step = |key: &str| key == step || (step_idx == 0 && canonical_field(key) == step);
                entries.iter().find(|(key, _)| key.as_str().is_some_and(matches_step)).map(|(_, value)| value)
            }),
        };
        match next {
            Some(next) => node = next,
            None if step_idx > 0 => return Some(node.span),
            None => return None,
        }
    }
    Some(node.span)
}

/// Prepares diagnostics of the reader for output: replaces paths with excerpts, and the summary of duplicate
/// tasks with one diagnostic per duplicate.
pub(crate) fn in_file(mut problems: Vec<Diagnostic>, text: &Text) -> Vec<Diagnostic> {
    let is_duplicate = |problem: &Diagnostic| problem.code == codes::DUPLICATE_TASK;
    if problems.iter().any(|problem| is_duplicate(problem) && problem.location.span.is_some()) {
        problems.retain(|problem| !is_duplicate(problem) || problem.location.span.is_some());
    }
    let attached = |problem: Diagnostic| {
        if problem.code == codes::EMPTY {
            return Diagnostic::error(codes::EMPTY, format!("`{}` is empty", text.origin));
        }
        text.attach(problem.path(""))
    };
    problems.into_iter().map(attached).collect()
}

/// Fails with all diagnostics if one is an error, otherwise prints them.
pub(super) fn fail_on_errors(diagnostics: Vec<Diagnostic>, printer: &mut Printer) -> Outcome {
    if has_errors(&diagnostics) {
        return Err(Failure { exit: Exit::Input, diagnostics });
    }
    for diagnostic in &diagnostics {
        printer.diagnostic(diagnostic);
    }
    Ok(())
}

/// Renders tasks like the API does.
pub(super) fn render_tasks(tasks: &[Task]) -> Vec<Json> {
    tasks.iter().map(|task| Json::Object(stoker_manifest::task::render(task))).collect()
}
