//! The JSON document that is compressed. Field names are part of the format.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stoker_diagnostics::{Diagnostic, Excerpt, Location, ProblemOrigin, Severity};
use stoker_model::{InstanceIdx, NodeIdx};

use super::columns::{Runs, pack, unpack, unpack_up_to};
use super::order::Order;
use super::{Bounds, DecodeError, ExplainedPlan, VERSION};
use crate::nodes::NODE_OFFLINE;
use crate::plan::{Details, DetailsIdx, FaultToleranceGroup, NodeChoice, Plan, PlannedTask, Verdict};
use crate::reasons::{Explanation, Reasons};
use crate::report::{ExcludedNode, codes};

/// Parsed first: the rest of the document depends on the version.
#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document<'p> {
    version: u32,
    nodes: Cow<'p, [String]>,
    /// Distinct sets of nodes that tasks are on.
    node_sets: Vec<Runs>,
    tasks: Vec<Task<'p>>,
    /// Indexed by instance.
    verdicts: Runs,
    /// For each instance, the 1-based index of its entry in the task's details; zero for none.
    details: Runs,
    order: Order,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    triggers: Option<Order>,
    groups: Cow<'p, [FaultToleranceGroup]>,
    choices: Cow<'p, [NodeChoice]>,
    explanations: Cow<'p, [Explanation]>,
    /// Indexed by instance.
    reasons: Runs,
    problems: Vec<StoredProblem<'p>>,
    excluded: Cow<'p, [ExcludedNode]>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task<'p> {
    name: Cow<'p, str>,
    /// Index into `node_sets`.
    nodes: u32,
    details: Cow<'p, [Details]>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredProblem<'p> {
    severity: StoredSeverity,
    code: Cow<'p, str>,
    task: Option<Cow<'p, str>>,
    field: Cow<'p, str>,
    nodes: Cow<'p, [String]>,
    message: Cow<'p, str>,
    /// The expression, and start and end of the span in it.
    place: Option<(Cow<'p, str>, u32, u32)>,
    help: Option<Cow<'p, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<StoredOrigin<'p>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredSeverity {
    Error,
    Warning,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredOrigin<'p> {
    /// Empty if unknown.
    layer: Cow<'p, str>,
    file: Option<Cow<'p, str>>,
    line: Option<u32>,
}

impl<'p> Document<'p> {
    pub(super) fn of(explained: &'p ExplainedPlan) -> Self {
        let plan = &explained.plan;
        let (mut node_sets, mut set_idx_of) = (Vec::new(), HashMap::new());
        let mut tasks = Vec::with_capacity(plan.tasks.len());
        for task in &plan.tasks {
            let nodes = *set_idx_of.entry(&*task.nodes).or_insert_with(|| {
                node_sets.push(pack(task.nodes.iter().map(|node_idx| node_idx.get())));
                node_sets.len() as u32 - 1
            });
            tasks.push(Task { name: (&*task.name).into(), nodes, details: (&*task.details).into() });
        }
        Self {
            version: VERSION,
            nodes: Cow::Borrowed(&plan.nodes),
            node_sets,
            tasks,
            verdicts: pack(plan.verdicts.iter().map(|verdict| *verdict as u32)),
            details: pack(plan.details.iter().copied().map(DetailsIdx::stored)),
            order: Order::of(&plan.order),
            triggers: plan.triggers.as_ref().map(Order::of),
            groups: (&*plan.groups).into(),
            choices: (&*plan.choices).into(),
            explanations: (&*explained.reasons.explanations).into(),
            reasons: pack(explained.reasons.of.iter().copied()),
            problems: explained.problems.iter().map(StoredProblem::of).collect(),
            excluded: (&*explained.excluded).into(),
        }
    }

    pub(super) fn into_explained(self, bounds: &Bounds) -> Result<ExplainedPlan, DecodeError> {
        let sets = node_sets(&self.node_sets, self.nodes.len(), bounds)?;
        let mut n_instances = 0;
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for task in self.tasks {
            let nodes = sets
                .get(task.nodes as usize)
                .ok_or(DecodeError::Damaged("a task refers to an unknown set of nodes"))?;
            tasks.push(PlannedTask {
                name: task.name.into_owned(),
                nodes: nodes.clone(),
                first: InstanceIdx::at(n_instances),
                details: task.details.into_owned(),
            });
            n_instances += nodes.len();
            if n_instances > bounds.vertices {
                return Err(DecodeError::Damaged("there are too many instances"));
            }
        }
        let verdicts =
            unpack(&self.verdicts, n_instances)?.into_iter().map(verdict).collect::<Result<_, _>>()?;
        let plan = Plan {
            nodes: self.nodes.into_owned().into(),
            details: details(&tasks, &self.details, n_instances)?,
            tasks,
            groups: self.groups.into_owned(),
            choices: self.choices.into_owned(),
            verdicts,
            order: self.order.into_csr(n_instances, bounds)?,
            triggers: self.triggers.map(|triggers| triggers.into_csr(n_instances, bounds)).transpose()?,
        };
        let explanations = self.explanations.into_owned();
        let of = unpack(&self.reasons, n_instances)?;
        if of.iter().any(|number| *number as usize >= explanations.len()) {
            return Err(DecodeError::Damaged("an instance has no reason"));
        }
        let problems =
            self.problems.into_iter().map(StoredProblem::into_problem).collect::<Result<_, _>>()?;
        let reasons = Reasons { explanations, of };
        let excluded = self.excluded.into_owned().into_iter().map(with_current_reason).collect();
        Ok(ExplainedPlan { plan, reasons, problems, excluded })
    }
}

/// The text of [`NODE_OFFLINE`] in plans stored by earlier versions.
const LEGACY_NOT_ONLINE: &str = "it is not online";

/// Replaces [`LEGACY_NOT_ONLINE`], because servers compare the reason with [`NODE_OFFLINE`].
fn with_current_reason(mut node: ExcludedNode) -> ExcludedNode {
    if node.reason == LEGACY_NOT_ONLINE {
        NODE_OFFLINE.clone_into(&mut node.reason);
    }
    node
}

fn node_sets(all: &[Runs], n_nodes: usize, bounds: &Bounds) -> Result<Vec<Arc<[NodeIdx]>>, DecodeError> {
    let mut n_remaining = bounds.vertices;
    let mut sets = Vec::with_capacity(all.len());
    for runs in all {
        let set = node_set(runs, n_nodes.min(n_remaining))?;
        // Each set belongs to some task, so their total length is at most the number of instances.
        n_remaining -= set.len();
        sets.push(set);
    }
    Ok(sets)
}

fn node_set(runs: &[i64], n_nodes: usize) -> Result<Arc<[NodeIdx]>, DecodeError> {
    let nodes = unpack_up_to(runs, n_nodes)?;
    let is_valid =
        nodes.is_sorted_by(|a, b| a < b) && nodes.last().is_none_or(|last| (*last as usize) < n_nodes);
    if is_valid {
        Ok(nodes.into_iter().map(NodeIdx::new).collect())
    } else {
        Err(DecodeError::Damaged("a set of nodes is not sorted or out of range"))
    }
}

fn verdict(number: u32) -> Result<Verdict, DecodeError> {
    Verdict::ALL.get(number as usize).copied().ok_or(DecodeError::Damaged("unknown verdict"))
}

fn details(
    tasks: &[PlannedTask],
    runs: &[i64],
    n_instances: usize,
) -> Result<Vec<Option<DetailsIdx>>, DecodeError> {
    let column: Vec<_> = unpack(runs, n_instances)?.into_iter().map(DetailsIdx::of_stored).collect();
    for task in tasks {
        let of_task = &column[task.first.index()..task.first.index() + task.nodes.len()];
        if of_task.iter().flatten().any(|details_idx| details_idx.index() >= task.details.len()) {
            return Err(DecodeError::Damaged("an instance refers to missing details"));
        }
    }
    Ok(column)
}

impl<'p> StoredProblem<'p> {
    pub(crate) fn of(problem: &'p Diagnostic) -> Self {
        let Location { path, task, nodes, provenance, expression, .. } = &problem.location;
        Self {
            severity: match problem.severity {
                Severity::Error => StoredSeverity::Error,
                Severity::Warning | Severity::Note => StoredSeverity::Warning,
            },
            code: (&*problem.code).into(),
            task: task.as_deref().map(Cow::from),
            field: path.into(),
            nodes: nodes.into(),
            message: (&*problem.message).into(),
            place: expression
                .as_ref()
                .map(|Excerpt { text, range }| (text.into(), range.start as u32, range.end as u32)),
            help: problem.help.as_deref().map(Cow::from),
            origin: provenance.as_ref().map(StoredOrigin::of),
        }
    }

    fn into_problem(self) -> Result<Diagnostic, DecodeError> {
        if codes::ALL.contains(&&*self.code) {
            Ok(self.into_diagnostic())
        } else {
            Err(DecodeError::Damaged("unknown problem code"))
        }
    }

    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        Diagnostic {
            severity: match self.severity {
                StoredSeverity::Error => Severity::Error,
                StoredSeverity::Warning if codes::NOTES.contains(&&*self.code) => Severity::Note,
                StoredSeverity::Warning => Severity::Warning,
            },
            code: self.code.into_owned().into(),
            message: self.message.into_owned(),
            location: Location {
                path: self.field.into_owned(),
                task: self.task.map(Cow::into_owned),
                nodes: self.nodes.into_owned(),
                provenance: self.origin.map(StoredOrigin::into_provenance),
                expression: self.place.map(|(text, start, end)| Excerpt {
                    text: text.into_owned(),
                    range: start as usize..end as usize,
                }),
                ..Location::default()
            },
            help: self.help.map(Cow::into_owned),
            ..Diagnostic::default()
        }
    }
}

impl<'p> StoredOrigin<'p> {
    fn of(provenance: &'p ProblemOrigin) -> Self {
        let ProblemOrigin { layer, file, line } = provenance;
        Self {
            layer: layer.as_deref().unwrap_or_default().into(),
            file: file.as_deref().map(Cow::from),
            line: *line,
        }
    }

    fn into_provenance(self) -> ProblemOrigin {
        ProblemOrigin {
            layer: Some(self.layer.into_owned()).filter(|layer| !layer.is_empty()),
            file: self.file.map(Cow::into_owned),
            line: self.line,
        }
    }
}
