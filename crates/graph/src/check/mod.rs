//! Static checks of a graph over its definitions, without nodes.
//!
//! An error is a defect that prevents execution, or that certainly fails once the tasks are placed; a warning
//! is suspicious but possibly intended. Findings are in task order; findings about several tasks come last.

mod budget;
mod cycles;
mod expressions;
mod fields;
mod ignored;
mod instances;
mod links;
mod names;
mod not_executed;
mod parameters;
mod placement;
mod places;
mod state;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use stoker_diagnostics::{Diagnostic, Location, ProblemOrigin};
use stoker_model::{Json, TaskIdx, TaskType};
use stoker_yaql::Library;

use crate::codes;
use crate::csr::Csr;
use crate::merge::{MergedGraph, MergedTask};
use budget::Budget;
use links::{Link, links};
use names::Names;
use not_executed::InertTriggers;
use placement::Placement;

pub use state::constant_comparisons;

/// Completeness of the checked graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One layer: names may refer to tasks of another layer, which may also place a task.
    Layer,
    /// All layers merged: a name that is not defined here does not exist.
    Merged,
}

/// Returns the problems of parameters, with paths below `parameters`.
pub type ParameterCheck = fn(task_type: &str, parameters: &Json) -> Vec<Diagnostic>;

#[derive(Clone, Debug)]
pub struct GraphCheckOptions<'o> {
    pub scope: Scope,
    /// Names of all roles and tags that nodes can have, without `primary-` forms; `None` disables the check.
    pub roles_and_tags: Option<&'o [String]>,
    /// The functions that expressions can call; `None` disables the check.
    pub library: Option<&'o Library>,
    /// Validates the parameters of a task type as written; `None` disables the check.
    pub parameters: Option<ParameterCheck>,
    /// Computation budget in steps of about 0.1 µs. If it is exceeded, a finding reports that the check is
    /// incomplete.
    pub steps_max: u64,
}

impl GraphCheckOptions<'_> {
    /// Step budget of a check: about one second. A graph ten times the size of real ones uses less than half
    /// of it.
    pub const STEPS_MAX: u64 = 10_000_000;

    /// Runs all checks that need only the graph.
    pub fn new(scope: Scope) -> Self {
        Self { scope, roles_and_tags: None, library: None, parameters: None, steps_max: Self::STEPS_MAX }
    }
}

/// Checks a merged graph. To check the tasks of one owner, merge a single layer.
pub fn check(merged: &MergedGraph<'_>, options: &GraphCheckOptions<'_>) -> Vec<Diagnostic> {
    let subject = Subject::new(merged, options.scope);
    let mut names = Names::new(merged, Budget::new(options.steps_max));
    let mut expressions = expressions::Expressions::new(options.library);
    let mut places = places::PlacementChecker::new(options.roles_and_tags, &merged.sources);
    let mut findings = merged.findings.clone();
    let mut inert = InertTriggers::default();
    for definition in &subject.definitions {
        fields::check(definition.task, options.scope, &merged.sources, &names.all, &mut findings);
        ignored::check(definition, &merged.sources, &mut findings);
        expressions.check(definition.task, &mut findings);
        state::check(definition, &subject, options.library, &mut findings);
        if let Some(check) = options.parameters {
            parameters::check(definition.task, options.scope, check, &mut findings);
        }
        names::check(definition, &subject, &mut names, &mut inert, &mut findings);
        places.check(definition, &subject, &mut names.budget, &mut findings);
    }
    cycles::check(&subject, &mut names, &mut findings);
    not_executed::check(&subject, &mut findings);
    inert.report(&mut findings);
    if names.budget.is_exhausted() {
        let message = "the graph is too large to check all patterns and cycles";
        findings.push(Diagnostic::warning(codes::TOO_LARGE, message));
    }
    for finding in &mut findings {
        let source = source_of(&finding.location, merged, &subject);
        finding.location.provenance =
            source.map(|source| ProblemOrigin { layer: Some(source.label()), ..ProblemOrigin::default() });
    }
    findings
}

/// Reports the tasks of a merged graph that have no type. Such a graph cannot be planned.
pub fn untyped_tasks(merged: &MergedGraph<'_>) -> Vec<Diagnostic> {
    fields::untyped_tasks(merged)
}

/// Returns the order of definitions, as far as literal names determine it.
pub(crate) fn order(merged: &MergedGraph<'_>) -> Csr<TaskIdx> {
    let subject = Subject::new(merged, Scope::Merged);
    let edges = cycles::definition_edges(
        &subject,
        &mut Names::new(merged, Budget::new(GraphCheckOptions::STEPS_MAX)),
    );
    Csr::new(merged.tasks.len(), edges.into_keys().collect())
}

/// Returns the layer that set the field at a location, else the strongest layer that defines the task.
fn source_of<'m>(
    location: &Location,
    merged: &'m MergedGraph<'_>,
    subject: &Subject<'_, '_>,
) -> Option<&'m crate::Source> {
    let task_idx = *subject.index_of.get(location.task.as_deref()?)?;
    let task = &merged.tasks[task_idx.index()];
    let field = location.path.split(['.', '[']).next().unwrap_or_default();
    let set_by = task.field(field).map(|field| field.set_by);
    set_by.or_else(|| task.defined_by().next_back()).map(|layer_idx| &merged.sources[layer_idx as usize])
}

/// A graph with its references and placements parsed.
struct Subject<'m, 'a> {
    scope: Scope,
    /// Definitions in the order of the tasks.
    definitions: Vec<Definition<'m, 'a>>,
    index_of: HashMap<&'a str, TaskIdx>,
    /// Per task, the groups that list it by name.
    groups_of: HashMap<&'a str, Vec<TaskIdx>>,
}

struct Definition<'m, 'a> {
    task: &'m MergedTask<'a>,
    /// Type of the task; `None` if it is computed or unknown.
    task_type: Option<TaskType>,
    links: Vec<Link<'a>>,
    placement: Placement<'a>,
}

impl Definition<'_, '_> {
    fn is_stage(&self) -> bool {
        self.task_type == Some(TaskType::Stage)
    }

    /// Reports whether the task is a group. Groups place other tasks and are never executed themselves.
    fn is_group(&self) -> bool {
        self.task_type == Some(TaskType::Group)
    }
}

impl<'m, 'a> Subject<'m, 'a> {
    fn new(merged: &'m MergedGraph<'a>, scope: Scope) -> Self {
        let definitions: Vec<Definition<'m, 'a>> = merged.tasks.iter().map(definition).collect();
        let all = || TaskIdx::first(merged.tasks.len());
        let index_of = all().zip(&merged.tasks).map(|(task_idx, task)| (task.name, task_idx)).collect();
        let mut groups_of: HashMap<&str, Vec<TaskIdx>> = HashMap::new();
        for (group_idx, group) in all().zip(&definitions).filter(|(_, definition)| definition.is_group()) {
            for member in group.links.iter().filter(|link| link.kind == links::LinkKind::Member) {
                groups_of.entry(member.name).or_default().push(group_idx);
            }
        }
        Self { scope, definitions, index_of, groups_of }
    }

    /// Returns the definitions with their indices.
    fn tasks(&self) -> impl Iterator<Item = (TaskIdx, &Definition<'m, 'a>)> {
        TaskIdx::first(self.definitions.len()).zip(&self.definitions)
    }

    fn definition(&self, task_idx: TaskIdx) -> &Definition<'m, 'a> {
        &self.definitions[task_idx.index()]
    }

    /// Returns the placement of a task: its own, and that of the groups that list it.
    fn placement_of(&self, task_idx: TaskIdx) -> Placement<'a> {
        let definition = self.definition(task_idx);
        let mut placement = definition.placement.clone();
        for group_idx in self.groups_of.get(definition.task.name).into_iter().flatten() {
            placement.add(&self.definition(*group_idx).placement);
        }
        placement
    }
}

fn definition<'m, 'a>(task: &'m MergedTask<'a>) -> Definition<'m, 'a> {
    let task_type = task.value("type").and_then(|value| value.as_str()).and_then(TaskType::parse);
    Definition { task, task_type, links: links(task), placement: Placement::of_task(task) }
}
