//! Graph of an offline plan: merges files and maps tasks to source locations.

use std::collections::HashMap;
use std::path::PathBuf;

use stoker_diagnostics::{Diagnostic, Diagnostics, Severity, has_errors};
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, codes, merge};
use stoker_manifest::{ParseOptions, parse_with};
use stoker_model::Task;
use stoker_yaml::{Node, Span};
use stoker_yaql::Library;

use crate::commands::graph::{find_field, in_file};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::{Text, read_text};
use crate::printer::Printer;

pub(super) struct Graph {
    pub(super) tasks: Vec<Task>,
    pub(super) warnings: Vec<String>,
    files: Vec<(Text, Node)>,
    /// For each task, the index of the last file that defines it.
    file_of: HashMap<String, usize>,
}

impl Graph {
    /// Reads and merges files of tasks; reports the problems of all files together.
    pub(super) fn read(paths: &[PathBuf], printer: &mut Printer) -> Outcome<Self> {
        let (mut files, mut layers, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let mut diagnostics = Vec::new();
        for path in paths {
            let text = read_text(path)?;
            let (tasks, node) = read_file(&text, &mut warnings, &mut diagnostics);
            layers.push(tasks);
            files.extend(node.map(|node| (text, node)));
        }
        if has_errors(&diagnostics) {
            return Err(Failure { exit: Exit::Input, diagnostics });
        }
        for diagnostic in &diagnostics {
            printer.diagnostic(diagnostic);
        }
        let mut file_of: HashMap<String, usize> = HashMap::new();
        for (file_idx, tasks) in layers.iter().enumerate() {
            for task in tasks {
                if let Some(previous) = file_of.insert(task.name.clone(), file_idx) {
                    let (first, second) = (&files[previous].0.origin, &files[file_idx].0.origin);
                    warnings.push(format!(
                        "task `{}` is defined in `{first}` and `{second}`; the latter takes precedence",
                        task.name
                    ));
                }
            }
        }
        let layers: Vec<Layer<'_>> =
            layers.iter().map(|tasks| Layer::of_tasks(Source::Release, tasks)).collect();
        let merged = merge(&layers, MergeRules::default());
        let tasks = merged.tasks.iter().map(stoker_graph::MergedTask::to_task).collect();
        Ok(Self { tasks, warnings, files, file_of })
    }

    /// Returns warnings of the graph that planning does not report itself. Bare words were reported when the files were
    /// parsed.
    pub(super) fn check(&self, library: &Library) -> Vec<Diagnostic> {
        let layers = [Layer::of_tasks(Source::Release, &self.tasks)];
        let merged = merge(&layers, MergeRules::default());
        let options = GraphCheckOptions {
            library: Some(library),
            parameters: Some(stoker_tasks::check_written),
            ..GraphCheckOptions::new(Scope::Merged)
        };
        let mut findings = stoker_graph::check(&merged, &options);
        findings.retain(|finding| match finding.code.as_ref() {
            codes::PARAMETER => true,
            codes::BARE_WORD => false,
            code => finding.severity == Severity::Warning && !codes::IN_PLANS.contains(&code),
        });
        for finding in &mut findings {
            // An offline plan has no executor, which would refuse such parameters.
            finding.severity = Severity::Warning;
            finding.location.provenance = None;
        }
        findings
    }

    /// Attaches the location of the task field to a diagnostic of the planner.
    pub(super) fn attach(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let location = &diagnostic.location;
        match location.task.as_ref().and_then(|task| self.locate(task, &location.path)) {
            Some((text, span)) => text.attach(diagnostic.clone().at(span)),
            None => diagnostic.clone(),
        }
    }

    /// Locates a field of a task.
    pub(super) fn locate(&self, task: &str, field: &str) -> Option<(&Text, Span)> {
        let (text, root) = &self.files[*self.file_of.get(task)?];
        let tasks = root.get("tasks").unwrap_or(root).as_seq()?;
        let node = tasks.iter().find(|node| node.get("id").and_then(Node::as_str) == Some(task))?;
        let span = find_field(node, field).unwrap_or_else(|| node.get("id").map_or(node.span, |id| id.span));
        Some((text, span))
    }
}

fn read_file(
    text: &Text,
    warnings: &mut Vec<String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Task>, Option<Node>) {
    // Existing files may contain duplicate keys: earlier tools accepted them.
    let options = ParseOptions { strict_keys: false, ..ParseOptions::default() };
    let parsed = parse_with(&text.content, text.format(), &options);
    let mut problems = Diagnostics::after(parsed.problems);
    let body = parsed
        .node
        .as_ref()
        .and_then(|node| stoker_manifest::graph::read_node(node, &text.content, &mut problems));
    diagnostics.extend(in_file(problems.into_vec(), text));
    let (metadata, tasks) = body.unwrap_or_default().into_parts();
    if metadata.node_filter.is_some() {
        warnings.push(format!(
            "the node filter of `{}` is ignored: offline plans include all nodes",
            text.origin
        ));
    }
    (tasks, parsed.node)
}
