//! Everything that is wrong with a graph, found over its definitions.
//!
//! An error is what cannot be run, or fails for certain where the tasks are placed at all; a warning is what may be
//! meant. Findings come in the order of the tasks, those about several tasks at the end.

mod cycles;
mod effort;
mod expressions;
mod fields;
mod instances;
mod links;
mod names;
mod places;
mod spots;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use stoker_model::TaskType;
use stoker_yaql::Library;

use crate::csr::Csr;
use crate::finding::{Finding, codes};
use crate::merge::{Merged, MergedTask};
use effort::Effort;
use links::{Link, links};
use names::Names;
use spots::Spots;

/// How much of the truth the graph at hand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One layer: names may lead to tasks of another, which may also say where a task runs.
    Layer,
    /// All layers merged: what is not here is nowhere.
    Whole,
}

#[derive(Clone, Debug)]
pub struct CheckOptions<'o> {
    pub scope: Scope,
    /// Names of all roles and tags that nodes can have, without their `primary-` forms; not asked about if not given.
    pub places: Option<&'o [String]>,
    /// What expressions can call; not asked about if not given.
    pub library: Option<&'o Library>,
    /// What the check may cost, in steps of about a tenth of a microsecond. What it leaves undone then, it says.
    pub steps_max: u64,
}

impl CheckOptions<'_> {
    /// A graph ten times as large as real ones takes less than half of it; all of it is about a second.
    pub const STEPS_MAX: u64 = 10_000_000;

    /// Everything that can be told from the graph alone.
    pub fn new(scope: Scope) -> Self {
        Self { scope, places: None, library: None, steps_max: Self::STEPS_MAX }
    }
}

/// Checks a merged graph; the tasks of one owner are a graph merged from one layer.
pub fn check(merged: &Merged<'_>, options: &CheckOptions<'_>) -> Vec<Finding> {
    let subject = Subject::new(merged, options.scope);
    let mut names = Names::new(merged, Effort::new(options.steps_max));
    let mut expressions = expressions::Expressions::new(options.library);
    let mut places = places::Places::new(options.places);
    let mut findings = merged.findings.clone();
    for definition in &subject.definitions {
        fields::check(definition.task, &mut findings);
        expressions.check(definition.task, &mut findings);
        names::check(definition, &subject, &mut names, &mut findings);
        places.check(definition, &subject, &mut names.effort, &mut findings);
    }
    cycles::check(&subject, &mut names, &mut findings);
    if names.effort.is_exhausted() {
        let message = "the graph is so large that not all of its patterns and cycles were looked at";
        findings.push(Finding::warning(codes::TOO_LARGE, message));
    }
    for finding in &mut findings {
        finding.source = source_of(finding, merged, &subject);
    }
    findings
}

/// The order of definitions, from before to after, as far as names that are written out say it.
pub(crate) fn order(merged: &Merged<'_>) -> Csr {
    let subject = Subject::new(merged, Scope::Whole);
    let edges =
        cycles::definition_edges(&subject, &mut Names::new(merged, Effort::new(CheckOptions::STEPS_MAX)));
    let edges: Vec<(u32, u32)> = edges.into_keys().collect();
    Csr::new(merged.tasks.len(), edges)
}

/// The layer that set the field a finding is about, or that has the last word on the task.
fn source_of(finding: &Finding, merged: &Merged<'_>, subject: &Subject<'_, '_>) -> Option<crate::Source> {
    let task_idx = *subject.index_of.get(finding.task.as_deref()?)?;
    let task = &merged.tasks[task_idx as usize];
    let set_by = task.field(finding.field()).map(|field| field.set_by);
    set_by
        .or_else(|| task.defined_by().next_back())
        .map(|layer_idx| merged.sources[layer_idx as usize].clone())
}

/// A graph taken apart.
struct Subject<'m, 'a> {
    scope: Scope,
    /// In the order of the tasks.
    definitions: Vec<Definition<'m, 'a>>,
    index_of: HashMap<&'a str, u32>,
    /// Per task, the groups that list it by name.
    groups_of: HashMap<&'a str, Vec<u32>>,
}

struct Definition<'m, 'a> {
    task: &'m MergedTask<'a>,
    /// None if it is computed or unknown.
    task_type: Option<TaskType>,
    links: Vec<Link<'a>>,
    spots: Spots<'a>,
}

impl Definition<'_, '_> {
    fn is_stage(&self) -> bool {
        self.task_type == Some(TaskType::Stage)
    }

    /// Groups place other tasks and are never run themselves.
    fn is_group(&self) -> bool {
        self.task_type == Some(TaskType::Group)
    }
}

impl<'m, 'a> Subject<'m, 'a> {
    fn new(merged: &'m Merged<'a>, scope: Scope) -> Self {
        let definitions: Vec<Definition<'m, 'a>> = merged.tasks.iter().map(definition).collect();
        let index_of = (0_u32..).zip(&merged.tasks).map(|(task_idx, task)| (task.name, task_idx)).collect();
        let mut groups_of: HashMap<&str, Vec<u32>> = HashMap::new();
        for (group_idx, group) in (0_u32..).zip(&definitions).filter(|(_, definition)| definition.is_group())
        {
            for member in group.links.iter().filter(|link| link.kind == links::Kind::Member) {
                groups_of.entry(member.name).or_default().push(group_idx);
            }
        }
        Self { scope, definitions, index_of, groups_of }
    }

    fn definition(&self, task_idx: u32) -> &Definition<'m, 'a> {
        &self.definitions[task_idx as usize]
    }

    /// Where a task runs: its own places and those of the groups that list it.
    fn spots_of(&self, task_idx: u32) -> Spots<'a> {
        let definition = self.definition(task_idx);
        let mut spots = definition.spots.clone();
        for group_idx in self.groups_of.get(definition.task.name).into_iter().flatten() {
            spots.add(&self.definition(*group_idx).spots);
        }
        spots
    }
}

fn definition<'m, 'a>(task: &'m MergedTask<'a>) -> Definition<'m, 'a> {
    let task_type = task.value("type").and_then(|value| value.as_str()).and_then(TaskType::parse);
    Definition { task, task_type, links: links(task), spots: Spots::of_task(task) }
}
