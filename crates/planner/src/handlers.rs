//! Handlers: tasks with `refresh_on`, which run after their triggers changed something.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_graph::Csr;
use stoker_model::{Json, TaintCause, Task, TaskIdx, VertexIdx};
use stoker_state::AppliedStates;

use crate::definition::{Definition, REFRESH_ON};
use crate::names::Names;
use crate::order_builder::Layout;
use crate::plan::{InstanceAction, Verdict};
use crate::report::{PlanningReport, codes};

pub(crate) struct Handlers<'j, 'a> {
    pub(crate) tasks: &'j BTreeSet<TaskIdx>,
    /// Edges from instances to the handlers that they trigger.
    pub(crate) triggers: &'j Csr,
    pub(crate) definitions: &'j [Definition<'a>],
    pub(crate) layout: &'j Layout,
    pub(crate) uids: &'j [String],
    /// Also in plans that ignore applied states, so that pending triggers are not lost.
    pub(crate) old: Option<&'a AppliedStates>,
}

/// What the triggers of an instance may do in this run.
#[derive(Clone, Copy, Default)]
struct Triggers {
    /// One of them runs.
    run: bool,
    /// One of them runs because the effect of its last attempt is unknown. It may have changed something and find nothing
    /// left to change now.
    in_doubt: bool,
}

impl Handlers<'_, '_> {
    /// Decides the instances of handlers that do not run for their own condition.
    pub(crate) fn apply(&self, verdicts: &mut [Verdict]) {
        // A cycle is reported for the whole order.
        let Some(vertices) = self.triggers.topological_order() else { return };
        let mut triggers = vec![Triggers::default(); self.triggers.n_vertices()];
        for vertex in vertices {
            let own = triggers[vertex as usize];
            let passed = match VertexIdx::new(vertex).instance(verdicts.len()) {
                None => own,
                Some(idx) => {
                    let (task_idx, uid) = self.instance(vertex);
                    let taint = self.taint(task_idx, uid);
                    // Drift is repaired; it is no trigger that was missed, and its repair reports what it changes.
                    let is_tainted = taint.is_some_and(|cause| cause != TaintCause::Drifted);
                    let verdict = &mut verdicts[idx.index()];
                    let is_repaired =
                        taint == Some(TaintCause::Drifted) && verdict.action() == InstanceAction::Run;
                    if self.tasks.contains(&task_idx) && self.is_open(task_idx, *verdict) && !is_repaired {
                        *verdict = self.decide(task_idx, *verdict, own, is_tainted);
                    }
                    let run = verdict.action() == InstanceAction::Run;
                    Triggers { run, in_doubt: run && is_tainted }
                }
            };
            for target in self.triggers.targets(vertex) {
                let target = &mut triggers[*target as usize];
                target.run |= passed.run;
                target.in_doubt |= passed.in_doubt;
            }
        }
    }

    fn decide(&self, task_idx: TaskIdx, verdict: Verdict, triggers: Triggers, is_tainted: bool) -> Verdict {
        if is_tainted || triggers.in_doubt {
            Verdict::TriggerPending
        } else if triggers.run {
            Verdict::IfTriggered
        } else if self.definitions[task_idx.index()].has_own_condition {
            verdict
        } else {
            Verdict::NotTriggered
        }
    }

    /// Whether triggers decide: the instance takes part in the run, and no condition of its own lets it run.
    fn is_open(&self, task_idx: TaskIdx, verdict: Verdict) -> bool {
        match verdict {
            Verdict::ConditionFails => true,
            Verdict::NoCondition | Verdict::ConditionHolds => {
                !self.definitions[task_idx.index()].has_own_condition
            }
            _ => false,
        }
    }

    fn taint(&self, task_idx: TaskIdx, uid: &str) -> Option<TaintCause> {
        let task = self.definitions[task_idx.index()].name;
        let past = self.old.and_then(|old| old.past(uid))?;
        past.taints.get(task).map(|taint| taint.cause)
    }

    fn instance(&self, vertex: u32) -> (TaskIdx, &str) {
        let task = self.layout.first.partition_point(|first| *first <= vertex) - 1;
        let node_idx = self.layout.nodes[task][(vertex - self.layout.first[task]) as usize];
        (TaskIdx::at(task), &self.uids[node_idx.index()])
    }
}

/// Warns that tasks that run do not trigger handlers on excluded nodes, which are not part of the plan.
pub(crate) fn warn_of_untriggered(
    tasks: &[&Task],
    names: &Names<'_>,
    layout: &Layout,
    verdicts: &[Verdict],
    report: &mut PlanningReport,
) {
    if report.excluded.is_empty() {
        return;
    }
    let runs = |name: &str| {
        let task = names.index_of.get(name).map(|task_idx| task_idx.index());
        task.is_some_and(|task| {
            let own = &verdicts[layout.first[task] as usize..layout.first[task + 1] as usize];
            own.iter().any(|verdict| verdict.action() == InstanceAction::Run)
        })
    };
    let excluded: Vec<String> = report.excluded.iter().map(|node| node.uid.clone()).collect();
    for task in tasks {
        let entries = task.field(REFRESH_ON).and_then(Json::as_array).into_iter().flatten();
        let mut elsewhere = entries.filter_map(|entry| entry.get("name")?.as_str());
        if let Some(name) = elsewhere.find(|name| runs(name)) {
            let message = format!("`{name}` does not trigger this handler on excluded nodes in this run");
            let problem = Diagnostic::warning(codes::UNTRIGGERED, message).nodes(excluded.clone());
            report.push(problem.task(&task.name, REFRESH_ON));
        }
    }
}
