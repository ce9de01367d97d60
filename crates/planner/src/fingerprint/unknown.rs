//! Instances that are skipped although the definition of their last success is unknown.

use std::collections::HashSet;

use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::OnDefinitionChange;
use stoker_state::{AppliedStates, StateIdx};

use super::source_digests;
use crate::input::PlanningInput;
use crate::plan::{Plan, Verdict};
use crate::report::codes;

/// Informs about tasks that are skipped on nodes where the definition of their last success was not recorded, as by earlier
/// versions: the plan cannot see whether they were edited since.
pub fn unknown_definitions(input: &PlanningInput<'_>, plan: &Plan) -> Option<Diagnostic> {
    let old = input
        .old
        .filter(|_| !input.request.force && input.on_definition_change == OnDefinitionChange::Rerun)?;
    let sources = source_digests(input);
    let has_sources = |task: &str| sources.files.contains_key(task) || sources.helpers.contains_key(task);
    let is_unknown = |task: &str, state_idx: StateIdx| match old.graph_of(state_idx) {
        None => true,
        Some(graph_idx) => {
            let graph = &old.graphs()[graph_idx as usize];
            graph.sources.is_none() && (!graph.tasks.contains_key(task) || has_sources(task))
        }
    };
    if !has_unrecorded_parts(old) {
        return None;
    }
    let mut tasks: HashSet<&str> = HashSet::new();
    for instance in plan.instances() {
        let state_idx = || old.state_idx(instance.task, instance.node);
        if is_decided(instance.verdict)
            && !tasks.contains(instance.task)
            && state_idx().is_some_and(|state_idx| is_unknown(instance.task, state_idx))
        {
            tasks.insert(instance.task);
        }
    }
    let subject = match tasks.len() {
        0 => return None,
        1 => "a task".to_owned(),
        n_tasks => format!("{n_tasks} tasks"),
    };
    let message = format!(
        "the definition with which {subject} last succeeded is not recorded, so edits since then are not noticed"
    );
    let help = "run the plan once with `--force` to record the definitions";
    Some(Diagnostic::warning(codes::UNKNOWN_DEFINITION, message).severity(Severity::Note).help(help))
}

/// Whether a plan of these states may have instances with an unknown definition. States of the present version have none,
/// so their plans cost nothing here.
fn has_unrecorded_parts(old: &AppliedStates) -> bool {
    let n_states = old.states().len() as StateIdx;
    (0..n_states).any(|state_idx| old.graph_of(state_idx).is_none())
        || old.graphs().iter().any(|graph| graph.sources.is_none())
}

/// Whether the applied state decided that an instance is skipped.
fn is_decided(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::ConditionFails | Verdict::GroupConditionFails | Verdict::NotTriggered)
}
