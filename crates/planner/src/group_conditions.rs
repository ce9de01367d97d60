//! Conditions of groups, which their members follow.
//!
//! The condition of a group counts as a condition of each member, evaluated with the applied state of the member: a group
//! never runs and has none of its own. It decides on the nodes that the member has because of the group. A member also runs
//! there if it is placed on the node itself, or by another group whose condition is true or that has none.

use std::collections::BTreeMap;

use stoker_model::{NodeIdx, TaskIdx};

use crate::compute::evaluator::Evaluator;
use crate::compute::subjects::SubjectIdx;
use crate::definition::{CONDITION, Definition, TYPE, TaskKind};
use crate::fields::{FieldWork, compute};
use crate::legacy::LegacyConditions;
use crate::node_sets::NodeSet;
use crate::order_builder::Layout;
use crate::placement::ConditionalGroup;
use crate::plan::{InstanceAction, Verdict};
use crate::report::PlanningReport;
use crate::verdicts::{Outcome, of_truth, outcome, report_condition};

pub(crate) struct GroupConditions<'j, 'a> {
    pub(crate) groups: &'j [ConditionalGroup],
    /// Nodes that each task has regardless of these groups.
    pub(crate) unconditional: &'j [NodeSet],
    pub(crate) definitions: &'j [Definition<'a>],
    pub(crate) kinds: &'j [TaskKind],
    pub(crate) layout: &'j Layout,
}

/// A member of a group on some of its nodes.
struct Member {
    group: TaskIdx,
    task: TaskIdx,
    nodes: Vec<NodeIdx>,
    /// Retained states, for instances in doubt.
    subjects: Option<Vec<SubjectIdx>>,
}

/// Instances that are ordered after a group; true if the condition of one of these groups holds.
type Followers = BTreeMap<(TaskIdx, NodeIdx), bool>;

impl GroupConditions<'_, '_> {
    /// Skips the instances whose groups all have a false condition.
    pub(crate) fn apply(
        &self,
        evaluator: &mut Evaluator<'_>,
        uids: &[String],
        verdicts: &mut [Verdict],
        report: &mut PlanningReport,
    ) {
        let members = self.members(verdicts);
        if members.is_empty() {
            return;
        }
        let mut followers = Followers::new();
        self.evaluate(&members, evaluator, uids, report, &mut followers);
        let in_doubt = self.in_doubt(&members, evaluator, &followers);
        if !in_doubt.is_empty() {
            let failed: Vec<(TaskIdx, NodeIdx)> =
                followers.iter().filter(|(_, holds)| !**holds).map(|(instance, _)| *instance).collect();
            self.evaluate(&in_doubt, evaluator, uids, report, &mut followers);
            for (task_idx, node_idx) in failed {
                if followers.get(&(task_idx, node_idx)) == Some(&true) {
                    evaluator.subjects.use_retained(task_idx, node_idx);
                }
            }
        }
        for ((task_idx, node_idx), _) in followers.into_iter().filter(|(_, holds)| !holds) {
            verdicts[self.instance(task_idx, node_idx)] = Verdict::GroupConditionFails;
        }
    }

    fn instance(&self, task_idx: TaskIdx, node_idx: NodeIdx) -> usize {
        let nodes = &self.layout.nodes[task_idx.index()];
        self.layout.first[task_idx.index()] as usize + nodes.partition_point(|other| *other < node_idx)
    }

    /// Returns the running instances that follow each group.
    fn members(&self, verdicts: &[Verdict]) -> Vec<Member> {
        let mut members = Vec::new();
        for group in self.groups {
            for task in group.members.iter().copied() {
                if self.kinds[task.index()] != TaskKind::Ordinary {
                    continue;
                }
                let follows = |node: &&NodeIdx| {
                    !self.unconditional[task.index()].contains(node)
                        && verdicts[self.instance(task, **node)].action() == InstanceAction::Run
                };
                let nodes: Vec<NodeIdx> = group.nodes.iter().filter(follows).copied().collect();
                if !nodes.is_empty() {
                    members.push(Member { group: group.task_idx, task, nodes, subjects: None });
                }
            }
        }
        members
    }

    /// Returns the instances in doubt that no group lets run, to be decided a second time with their applied state: a
    /// condition such as `deleted($.users)` is never true without an old state.
    fn in_doubt(&self, members: &[Member], evaluator: &Evaluator<'_>, followers: &Followers) -> Vec<Member> {
        if !evaluator.subjects.has_doubts() {
            return Vec::new();
        }
        let mut in_doubt = Vec::new();
        for member in members {
            let Some(condition) = &self.definitions[member.group.index()].condition else { continue };
            let expressions = condition.expressions(CONDITION);
            if !expressions.iter().any(|(_, idx)| evaluator.expressions.all[*idx as usize].reads_old) {
                continue;
            }
            let retained = |node: &NodeIdx| {
                let fails = followers.get(&(member.task, *node)) == Some(&false);
                let (_, retained) = evaluator.subjects.doubt(member.task, *node).filter(|_| fails)?;
                Some((*node, retained?))
            };
            let (nodes, subjects): (Vec<NodeIdx>, Vec<SubjectIdx>) =
                member.nodes.iter().filter_map(retained).unzip();
            if !nodes.is_empty() {
                let Member { group, task, .. } = *member;
                in_doubt.push(Member { group, task, nodes, subjects: Some(subjects) });
            }
        }
        in_doubt
    }

    fn evaluate(
        &self,
        members: &[Member],
        evaluator: &mut Evaluator<'_>,
        uids: &[String],
        report: &mut PlanningReport,
        followers: &mut Followers,
    ) {
        let work = |member: &Member| {
            let group = &self.definitions[member.group.index()];
            let task_type = &self.definitions[member.task.index()].task_type;
            FieldWork {
                nodes: member.nodes.clone().into(),
                fields: [(TYPE, Some(task_type)), (CONDITION, group.condition.as_ref())]
                    .into_iter()
                    .filter_map(|(field, template)| Some((field, template?)))
                    .collect(),
                subjects: member.subjects.clone().map(Into::into),
                // Problems are located in the group.
                ..FieldWork::new(member.task, group.name, &[])
            }
        };
        let works = members.iter().map(work).collect();
        let mut legacy = LegacyConditions::default();
        for (member, done) in members.iter().zip(compute(works, evaluator, uids, report)) {
            for (position, node_idx) in done.nodes.iter().enumerate() {
                let verdict = match outcome(&done.values[done.classes.class(position)]) {
                    Outcome::Decided(verdict) => verdict,
                    Outcome::Legacy(text) => {
                        let subject_idx = evaluator.subjects.of(member.task, *node_idx);
                        let document = evaluator.subjects.documents(subject_idx).new;
                        match legacy.holds(text, &document) {
                            Ok(holds) => of_truth(holds),
                            Err(error) => {
                                let group = self.definitions[member.group.index()].name;
                                report_condition(&error, text, group, &uids[node_idx.index()], report);
                                Verdict::ConditionFails
                            }
                        }
                    }
                };
                let holds = verdict.action() == InstanceAction::Run;
                *followers.entry((member.task, *node_idx)).or_default() |= holds;
            }
        }
    }
}
