//! Computed task fields, evaluated once per equivalence class of nodes.

use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, NodeIdx, TaskIdx};
use stoker_yaql::Error;

use crate::compute::classes::Classes;
use crate::compute::evaluator::Evaluator;
use crate::compute::expressions::ExpressionIdx;
use crate::compute::subjects::SubjectIdx;
use crate::definition::CONDITION;
use crate::json::to_json;
use crate::node_sets::NodeSet;
use crate::report::{PlanningReport, codes, expression_problem};
use crate::template::Template;
use crate::yaql_ext::inputs_changed::InputsState;

/// Fields of one task to compute on some nodes.
pub(crate) struct FieldWork<'d> {
    pub(crate) task_idx: TaskIdx,
    pub(crate) name: &'d str,
    pub(crate) nodes: NodeSet,
    pub(crate) fields: Vec<(&'static str, &'d Template)>,
    /// The subjects of the nodes, if not those that the task is otherwise evaluated for.
    pub(crate) subjects: Option<Arc<[SubjectIdx]>>,
    /// For each node a number; nodes with different numbers share no evaluation.
    pub(crate) inputs: Option<Arc<[u32]>>,
    /// By these numbers, the value of `inputsChanged()`; empty if it is not available to the fields.
    pub(crate) input_states: Arc<[InputsState]>,
}

/// Computed field values of a [`FieldWork`].
pub(crate) struct ComputedFields {
    pub(crate) task_idx: TaskIdx,
    pub(crate) nodes: NodeSet,
    pub(crate) classes: Classes,
    /// For each class, the value of each field; `None` where evaluation failed.
    pub(crate) values: Vec<Vec<Option<Json>>>,
}

struct FieldError {
    path: String,
    expression_idx: Option<ExpressionIdx>,
    error: Box<Error>,
}

impl<'d> FieldWork<'d> {
    /// No nodes yet.
    pub(crate) fn new(task_idx: TaskIdx, name: &'d str, fields: &[(&'static str, &'d Template)]) -> Self {
        Self {
            task_idx,
            name,
            nodes: NodeSet::default(),
            fields: fields.to_vec(),
            subjects: None,
            inputs: None,
            input_states: Arc::default(),
        }
    }

    pub(crate) fn expressions(&self) -> Vec<ExpressionIdx> {
        let expressions = self.fields.iter().flat_map(|(field, template)| template.expressions(field));
        expressions.map(|(_, expression_idx)| expression_idx).collect()
    }

    fn input_state(&self, position: usize) -> Option<&InputsState> {
        self.input_states.get(*self.inputs.as_ref()?.get(position)? as usize)
    }

    pub(crate) fn subjects(&self, evaluator: &Evaluator<'_>) -> Arc<[SubjectIdx]> {
        if let Some(subjects) = &self.subjects {
            return subjects.clone();
        }
        if !evaluator.subjects.has_exceptions() {
            return self.nodes.iter().map(|node_idx| node_idx.get()).collect();
        }
        self.nodes.iter().map(|node_idx| evaluator.subjects.of(self.task_idx, *node_idx)).collect()
    }
}

/// Computes all fields. Reports each problem once, with all nodes that have it.
pub(crate) fn compute(
    works: Vec<FieldWork<'_>>,
    evaluator: &mut Evaluator<'_>,
    uids: &[String],
    report: &mut PlanningReport,
) -> Vec<ComputedFields> {
    for work in &works {
        let (expressions, subjects) = (work.expressions(), work.subjects(evaluator));
        evaluator.request(&expressions, &subjects);
    }
    evaluator.compute_aspects();
    let evaluator = &*evaluator;
    let partitions: Vec<Classes> = evaluator.in_parallel(works.len(), |work_idx| {
        let work = &works[work_idx];
        Classes::new(evaluator, &work.expressions(), &work.subjects(evaluator), work.inputs.as_deref())
    });
    let first_positions: Vec<Vec<usize>> = works
        .iter()
        .zip(&partitions)
        .map(|(work, classes)| if work.inputs.is_some() { classes.first_positions() } else { Vec::new() })
        .collect();
    let jobs: Vec<(usize, usize)> = partitions
        .iter()
        .enumerate()
        .flat_map(|(work_idx, classes)| (0..classes.n_classes()).map(move |class| (work_idx, class)))
        .collect();
    report.n_evaluations +=
        jobs.iter().map(|(work_idx, _)| works[*work_idx].expressions().len()).sum::<usize>();
    let results = evaluator.in_parallel(jobs.len(), |job| {
        let (work_idx, class) = jobs[job];
        let subject_idx = partitions[work_idx].representatives[class];
        let work = &works[work_idx];
        let state = first_positions[work_idx].get(class).and_then(|position| work.input_state(*position));
        let inputs = state.unwrap_or(&InputsState::Unavailable);
        let fields = work.fields.iter();
        fields
            .map(|(field, template)| field_value(evaluator, field, template, subject_idx, inputs))
            .collect::<Vec<_>>()
    });
    let mut results = results.into_iter();
    let mut computed = Vec::with_capacity(works.len());
    for (work, classes) in works.into_iter().zip(partitions) {
        let mut values = Vec::with_capacity(classes.n_classes());
        for (class, fields) in results.by_ref().take(classes.n_classes()).enumerate() {
            let row = fields.into_iter().map(|value| match value {
                Ok(value) => Some(value),
                Err(error) => {
                    report_error(
                        &work,
                        &error,
                        members(&work.nodes, &classes, class),
                        evaluator,
                        uids,
                        report,
                    );
                    None
                }
            });
            values.push(row.collect());
        }
        computed.push(ComputedFields { task_idx: work.task_idx, nodes: work.nodes, classes, values });
    }
    computed
}

/// The nodes of a class.
pub(crate) fn members<'c>(
    nodes: &'c [NodeIdx],
    classes: &'c Classes,
    class: usize,
) -> impl Iterator<Item = NodeIdx> + 'c {
    nodes
        .iter()
        .enumerate()
        .filter(move |(position, _)| classes.class(*position) == class)
        .map(|(_, node_idx)| *node_idx)
}

fn field_value(
    evaluator: &Evaluator<'_>,
    field: &str,
    template: &Template,
    subject_idx: SubjectIdx,
    inputs: &InputsState,
) -> Result<Json, FieldError> {
    let failed = |expression_idx: ExpressionIdx, error: Box<Error>| {
        let mut positions = template.expressions(field).into_iter();
        let path =
            positions.find(|(_, idx)| *idx == expression_idx).map(|(path, _)| path).unwrap_or_default();
        FieldError { path, expression_idx: Some(expression_idx), error }
    };
    template.render(&mut |expression_idx| {
        let inputs = if field == CONDITION { inputs } else { &InputsState::Unavailable };
        let value = evaluator
            .evaluate_with(expression_idx, subject_idx, inputs)
            .map_err(|error| failed(expression_idx, error))?;
        if field == CONDITION && value.as_str().is_none() {
            // Only its truth value matters, and a true value need not be representable as JSON.
            return Ok(Json::Bool(value.is_true()));
        }
        to_json(&value).map_err(|type_name| {
            let error =
                Error::value(format!("the result contains a {type_name}, which a task field cannot hold"));
            failed(expression_idx, Box::new(error))
        })
    })
}

fn report_error(
    work: &FieldWork<'_>,
    error: &FieldError,
    nodes: impl Iterator<Item = NodeIdx>,
    evaluator: &Evaluator<'_>,
    uids: &[String],
    report: &mut PlanningReport,
) {
    let nodes: Vec<String> = nodes.map(|node_idx| uids[node_idx.index()].clone()).collect();
    let compiled = error.expression_idx.map(|idx| &evaluator.expressions.all[idx as usize]);
    let source = compiled.map(|compiled| compiled.source.as_str()).unwrap_or_default();
    let is_syntax_error = compiled.is_some_and(|compiled| compiled.expression.is_err());
    let mut problem =
        expression_problem(codes::EXPRESSION, &error.error, source).task(work.name, &*error.path);
    // A syntax error is independent of the node.
    if !is_syntax_error {
        problem.location.nodes = nodes;
    }
    let is_duplicate = |earlier: &&mut Diagnostic| {
        let (a, b) = (&earlier.location, &problem.location);
        (&a.task, &a.path, &earlier.message) == (&b.task, &b.path, &problem.message)
    };
    match report.problems.iter_mut().find(is_duplicate) {
        Some(earlier) => earlier.location.nodes.append(&mut problem.location.nodes),
        None => report.push(problem),
    }
}
