//! Planning problems as service errors.

use stoker_diagnostics::Diagnostic;
use stoker_planner::PlanningReport;
use stoker_state::Secrets;

use crate::error::ServiceError;
use crate::graphs::PlannedGraph;

/// Maximum number of nodes listed per problem; the message has the total.
const NODES_MAX: usize = 100;

/// Error for a failed plan: every error of the layers and of planning.
pub(super) fn refused(graph: &PlannedGraph, report: &PlanningReport, secrets: &Secrets) -> ServiceError {
    let mut reasons = items_of_layers(graph);
    // A task without a type is an error of both; that of the layers names them.
    let is_reported = |problem: &&Diagnostic| {
        let place = |problem: &Diagnostic| (problem.location.task.clone(), problem.location.path.clone());
        graph.errors.iter().any(|error| place(error) == place(problem))
    };
    let own = report.errors().filter(|problem| !is_reported(problem));
    reasons.extend(own.map(|problem| item(problem, graph, secrets)));
    if reasons.is_empty() {
        return ServiceError::invalid("this graph cannot be planned");
    }
    ServiceError::refused(reasons)
}

/// Error for a graph whose layers cannot be merged.
pub(super) fn broken(graph: &PlannedGraph) -> ServiceError {
    ServiceError::refused(items_of_layers(graph))
}

fn items_of_layers(graph: &PlannedGraph) -> Vec<Diagnostic> {
    graph.errors.iter().map(|error| in_document(error.clone(), graph)).collect()
}

/// Replaces the path in the task by the path in the document of all tasks, and adds the provenance.
fn in_document(mut problem: Diagnostic, graph: &PlannedGraph) -> Diagnostic {
    let location = &mut problem.location;
    location.provenance = location.task.as_deref().and_then(|task| graph.provenance(task, &location.path));
    location.path = document_path(location.task.as_deref(), &location.path);
    problem
}

fn document_path(task: Option<&str>, field: &str) -> String {
    match (task, field) {
        (None, field) => field.to_owned(),
        (Some(task), "") => format!("tasks.{task}"),
        (Some(task), field) => format!("tasks.{task}.{field}"),
    }
}

/// The message of an error item names task, nodes and expression, because clients print only the message.
fn item(problem: &Diagnostic, graph: &PlannedGraph, secrets: &Secrets) -> Diagnostic {
    let message = secrets.mask_text(&problem.to_string());
    let mut item = in_document(Diagnostic { message, ..problem.clone() }, graph);
    item.location.nodes.truncate(NODES_MAX);
    item
}

/// Error for a plan that fails its own check: a bug in the planner, not in the graph.
pub(super) fn wrong_plan(violations: &[Diagnostic]) -> ServiceError {
    for violation in violations {
        tracing::error!(code = %violation.code, violation = %violation, "plan failed its check");
    }
    let message = "the plan failed its own check, which is a bug in Stoker; see the server log";
    ServiceError::internal(message)
}
