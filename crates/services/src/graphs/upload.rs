//! An uploaded graph: its content, the source line of each task, and warnings.

use stoker_graph::{
    Finding, GraphCheckOptions, Layer, MergeRules, Scope, Severity, Source, check, codes, merge,
};
use stoker_manifest::graph::GraphBody;
use stoker_manifest::{Problem, Severity as ProblemSeverity};
use stoker_model::{GraphSource, Task};

use super::Graphs;
use crate::error::{ErrorDetail, ErrorReport, ServiceError, ServiceResult, Severity as DetailSeverity};

pub struct UploadedGraph {
    pub body: GraphBody,
    pub source: GraphSource,
    pub warnings: Vec<ErrorDetail>,
}

impl UploadedGraph {
    /// `problems` come from parsing and contain no error.
    pub fn new(body: GraphBody, source: GraphSource, problems: &[Problem]) -> Self {
        let warnings = problems.iter().filter(|problem| problem.severity == ProblemSeverity::Warning);
        let detail =
            |problem: &Problem| ErrorDetail { file: source.file.clone(), ..ErrorDetail::from(problem) };
        Self { warnings: warnings.map(detail).collect(), body, source }
    }
}

/// Returns warnings about tasks. Rejects a cycle that no other layer can break. Findings that other layers may
/// resolve are left to the check of the merged graph.
pub fn check_tasks(graphs: &Graphs, tasks: &[Task], source: &GraphSource) -> ServiceResult<Vec<ErrorDetail>> {
    let merged = merge(&[Layer::of_tasks(Source::Release, tasks)], MergeRules::default());
    let library = graphs.library();
    let options = GraphCheckOptions { library: Some(&*library), ..GraphCheckOptions::new(Scope::Layer) };
    let findings = check(&merged, &options);
    let is_cycle = |finding: &&Finding| finding.code == codes::CYCLE && finding.severity == Severity::Error;
    let mut cycles = findings.iter().filter(is_cycle).peekable();
    if let Some(first) = cycles.peek() {
        let message = first.message.clone();
        let details = cycles.map(|cycle| detail(cycle, source)).collect();
        return Err(ServiceError::Invalid(ErrorReport { message, details, conflicts: Vec::new() }));
    }
    let shown = findings.iter().filter(|finding| !DEFERRED.contains(&finding.code));
    // The graph is stored anyway, so every finding is reported as a warning.
    let warning = |finding| ErrorDetail { severity: DetailSeverity::Warning, ..detail(finding, source) };
    Ok(shown.map(warning).collect())
}

/// Findings that other layers may resolve, and bare words, which parsing already reported with exact locations.
const DEFERRED: &[&str] =
    &[codes::BARE_WORD, codes::DANGLING, codes::GROUP_MEMBER, codes::UNKNOWN_ROLE, codes::UNPLACED];

fn detail(finding: &Finding, source: &GraphSource) -> ErrorDetail {
    ErrorDetail {
        path: finding.path.clone(),
        message: finding.message.clone(),
        code: Some(finding.code),
        help: finding.help.clone(),
        file: source.file.clone(),
        line: finding.task.as_deref().and_then(|task| source.line(task, &finding.path)),
        task: finding.task.clone(),
        ..ErrorDetail::default()
    }
}
