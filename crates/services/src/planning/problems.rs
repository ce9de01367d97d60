//! Planning problems as service errors.

use stoker_planner::{Finding, PlanningReport, Problem, ProblemOrigin};
use stoker_state::Secrets;

use crate::error::{ErrorDetail, ServiceError};

use crate::graphs::PlannedGraph;

/// Maximum number of nodes listed per problem; the message has the total.
const NODES_MAX: usize = 100;

/// Error for a failed plan: every error of the layers and of planning.
pub(super) fn refused(graph: &PlannedGraph, report: &PlanningReport, secrets: &Secrets) -> ServiceError {
    let mut reasons = items_of_layers(graph);
    reasons.extend(report.errors().map(|problem| item(problem, graph, secrets)));
    if reasons.is_empty() {
        return ServiceError::invalid("this graph cannot be planned");
    }
    ServiceError::refused(reasons)
}

/// Error for a graph whose layers cannot be merged.
pub(super) fn broken(graph: &PlannedGraph) -> ServiceError {
    ServiceError::refused(items_of_layers(graph))
}

fn items_of_layers(graph: &PlannedGraph) -> Vec<ErrorDetail> {
    let item = |error: &stoker_graph::Finding| {
        let item = ErrorDetail {
            path: document_path(error.task.as_deref(), &error.path),
            message: error.message.clone(),
            code: Some(error.code),
            help: error.help.clone(),
            task: error.task.clone(),
            ..ErrorDetail::default()
        };
        with_origin(item, error.task.as_deref().and_then(|task| graph.origin(task, &error.path)))
    };
    graph.errors.iter().map(item).collect()
}

fn document_path(task: Option<&str>, field: &str) -> String {
    match (task, field) {
        (None, field) => field.to_owned(),
        (Some(task), "") => format!("tasks.{task}"),
        (Some(task), field) => format!("tasks.{task}.{field}"),
    }
}

/// Adds the layer and source line.
fn with_origin(item: ErrorDetail, origin: Option<ProblemOrigin>) -> ErrorDetail {
    let Some(ProblemOrigin { layer, file, line }) = origin else { return item };
    ErrorDetail { layer: Some(layer), file, line, ..item }
}

fn item(problem: &Problem, graph: &PlannedGraph, secrets: &Secrets) -> ErrorDetail {
    let item = ErrorDetail {
        path: document_path(problem.task.as_deref(), &problem.field),
        message: secrets.mask_text(&problem.to_string()),
        code: Some(problem.code),
        help: problem.help.clone(),
        task: problem.task.clone(),
        nodes: problem.nodes.iter().take(NODES_MAX).cloned().collect(),
        ..ErrorDetail::default()
    };
    with_origin(item, problem.task.as_deref().and_then(|task| graph.origin(task, &problem.field)))
}

/// Error for a plan that fails its own check: a bug in the planner, not in the graph.
pub(super) fn wrong_plan(findings: &[Finding]) -> ServiceError {
    for finding in findings {
        tracing::error!(code = finding.code, finding = %finding, "plan failed its check");
    }
    let message = "the plan failed its own check, which is a bug in Stoker; see the server log";
    ServiceError::internal(message)
}
