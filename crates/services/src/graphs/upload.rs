//! An uploaded graph: its content, the source line of each task, and warnings.

use stoker_diagnostics::{Diagnostic, ProblemOrigin, Severity};
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, codes, merge};
use stoker_manifest::graph::GraphBody;
use stoker_model::{GraphSource, OwnerKind, Task};

use super::Graphs;
use crate::error::{ErrorReport, ServiceError, ServiceResult};

pub struct UploadedGraph {
    pub body: GraphBody,
    pub source: GraphSource,
    pub warnings: Vec<Diagnostic>,
}

impl UploadedGraph {
    /// Creates an upload. `problems` come from parsing and contain no error.
    pub fn new(body: GraphBody, source: GraphSource, mut problems: Vec<Diagnostic>) -> Self {
        problems.retain(|problem| problem.severity == Severity::Warning);
        for warning in &mut problems {
            warning.location.file.clone_from(&source.file);
        }
        Self { warnings: problems, body, source }
    }
}

/// Returns warnings about the tasks of a layer. Rejects what no other layer can correct: a cycle, and a task of a
/// release without a type. Problems that other layers may resolve are left to the check of the merged graph.
pub(super) fn check_tasks(
    graphs: &Graphs,
    owner: OwnerKind,
    tasks: &[Task],
    source: &GraphSource,
) -> ServiceResult<Vec<Diagnostic>> {
    let layer = match owner {
        OwnerKind::Release => Source::Release,
        OwnerKind::Cluster => Source::Cluster,
        // Findings of a single layer do not name it.
        OwnerKind::Plugin => Source::Plugin { name: String::new(), version: String::new() },
    };
    let merged = merge(&[Layer::of_tasks(layer, tasks)], MergeRules::default());
    let library = graphs.library();
    let options = GraphCheckOptions {
        library: Some(&*library),
        parameters: Some(stoker_tasks::check_written),
        ..GraphCheckOptions::new(Scope::Layer)
    };
    let mut problems = check(&merged, &options);
    for problem in &mut problems {
        let line =
            problem.location.task.as_deref().and_then(|task| source.line(task, &problem.location.path));
        problem.location.provenance = Some(ProblemOrigin { layer: None, file: source.file.clone(), line });
    }
    let is_final = |problem: &Diagnostic| {
        problem.is_error() && [codes::CYCLE, codes::TASK_TYPE].contains(&&*problem.code)
    };
    if let Some(first) = problems.iter().find(|problem| is_final(problem)) {
        let message = match (&*first.code, &first.location.task) {
            (codes::TASK_TYPE, Some(task)) => format!("task `{task}`: {}", first.message),
            _ => first.message.clone(),
        };
        let diagnostics = problems.into_iter().filter(is_final).collect();
        return Err(ServiceError::Invalid(ErrorReport { message, diagnostics, conflicts: Vec::new() }));
    }
    problems.retain(|problem| !DEFERRED.contains(&&*problem.code));
    // The graph is stored anyway, so every problem is reported as a warning.
    Ok(problems.into_iter().map(|problem| problem.severity(Severity::Warning)).collect())
}

/// Problems that other layers may resolve, fields of Fuel that uploads accept silently, and bare words, which parsing
/// already reported with exact locations.
const DEFERRED: &[&str] = &[
    codes::BARE_WORD,
    codes::DANGLING,
    codes::GROUP_MEMBER,
    codes::NOT_EXECUTED,
    codes::TASK_TYPE,
    codes::UNKNOWN_ROLE,
    codes::UNPLACED,
];
