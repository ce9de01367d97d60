//! Graphs in files, judged here.

use serde_json::Value as Json;
use stoker_manifest::{Options, Problem, Problems, Severity as Judgement, codes, parse_with};
use stoker_model::Task;
use stoker_yaml::{Node, Span};

use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::Text;
use crate::printer::Printer;

/// The tasks of a file, with where they are.
pub(super) struct File {
    pub(super) text: Text,
    pub(super) tasks: Vec<Task>,
    node: Option<Node>,
}

impl File {
    /// Reads a file; what is wrong with it is added to the diagnostics.
    pub(super) fn judge(text: Text, diagnostics: &mut Vec<Diagnostic>) -> Self {
        // Files that people have were accepted by readers that did not mind a key given twice.
        let options = Options { strict_keys: false, ..Options::default() };
        let parsed = parse_with(&text.content, text.format(), &options);
        let mut problems = Problems::after(parsed.problems);
        let body = parsed
            .node
            .as_ref()
            .and_then(|node| stoker_manifest::graph::read_node(node, &text.content, &mut problems));
        for problem in each_once(problems.into_vec()) {
            let severity = match problem.severity {
                Judgement::Error => Severity::Error,
                Judgement::Warning => Severity::Warning,
            };
            let place = problem.span.map(|span| place(&text, span));
            let message = match &place {
                _ if problem.code == codes::EMPTY => format!("`{}` is empty", text.origin),
                Some(_) => problem.message.clone(),
                None => format!("`{}`: {}", text.origin, problem.message),
            };
            let diagnostic = Diagnostic { severity, place, ..Diagnostic::error(message) };
            diagnostics.push(diagnostic.code(problem.code).help(problem.help));
        }
        let (_, tasks) = body.unwrap_or_default().into_parts();
        Self { text, tasks, node: parsed.node }
    }

    /// One file alone; its warnings are shown.
    pub(super) fn read(text: Text, printer: &mut Printer) -> Outcome<Self> {
        let mut diagnostics = Vec::new();
        let file = Self::judge(text, &mut diagnostics);
        refuse_errors(diagnostics, printer)?;
        Ok(file)
    }

    /// Ids of tasks as they are written, also where the file has mistakes.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        let root = self.node.as_ref();
        let tasks = root.and_then(|root| root.get("tasks").unwrap_or(root).as_seq());
        tasks.into_iter().flatten().filter_map(|task| task.get("id").and_then(Node::as_str))
    }

    /// Where a field of a task is, or else the task.
    pub(super) fn place(&self, task: &str, path: &str) -> Option<Place> {
        let root = self.node.as_ref()?;
        let tasks = root.get("tasks").unwrap_or(root).as_seq()?;
        let node = tasks.iter().find(|node| node.get("id").and_then(Node::as_str) == Some(task))?;
        let field = path.split(['.', '[']).next().and_then(|field| node.get(field));
        let span = field.or_else(|| node.get("id")).unwrap_or(node).span;
        Some(place(&self.text, span))
    }
}

/// Without the sum of what is told one by one, with places.
pub(crate) fn each_once(mut problems: Vec<Problem>) -> Vec<Problem> {
    let is_duplicate = |problem: &Problem| problem.code == codes::DUPLICATE_TASK;
    if problems.iter().any(|problem| is_duplicate(problem) && problem.span.is_some()) {
        problems.retain(|problem| !is_duplicate(problem) || problem.span.is_some());
    }
    problems
}

/// Fails with all diagnostics if one of them is an error; else shows them.
pub(super) fn refuse_errors(diagnostics: Vec<Diagnostic>, printer: &mut Printer) -> Outcome {
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(Failure { exit: Exit::Input, diagnostics });
    }
    for diagnostic in &diagnostics {
        printer.diagnostic(diagnostic);
    }
    Ok(())
}

/// As a server would show it.
pub(super) fn rendered(tasks: &[Task]) -> Vec<Json> {
    tasks.iter().map(|task| Json::Object(stoker_manifest::task::render(task))).collect()
}

fn place(text: &Text, span: Span) -> Place {
    let range = span.start.offset as usize..span.end.offset as usize;
    Place::new(&text.origin, text.content.clone(), range)
}
