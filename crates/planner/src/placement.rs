//! Assignment of tasks to nodes.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, TaskIdx, TaskType};

use crate::compute::evaluator::Evaluator;
use crate::compute::subjects::SubjectIdx;
use crate::definition::{Definition, FAULT_TOLERANCE, MEMBERS, TYPE, TaskKind};
use crate::json::to_json;
use crate::names::Names;
use crate::node_sets::{NodeSet, NodeSets};
use crate::plan::FaultToleranceGroup;
use crate::report::{PlanningReport, codes, expression_problem};
use crate::template::Template;
use crate::tolerance::tolerated;

pub(crate) struct Placement {
    pub(crate) kinds: Vec<TaskKind>,
    /// Nodes of each task; empty for groups.
    pub(crate) nodes: Vec<NodeSet>,
    pub(crate) groups: Vec<FaultToleranceGroup>,
    pub(crate) conditional: Vec<ConditionalGroup>,
    /// Nodes that each task has regardless of conditional groups; empty if there are none.
    pub(crate) unconditional: Vec<NodeSet>,
}

/// A group with a condition, which its members follow on the nodes that they have only because of such groups.
pub(crate) struct ConditionalGroup {
    pub(crate) task_idx: TaskIdx,
    pub(crate) nodes: NodeSet,
    pub(crate) members: Vec<TaskIdx>,
}

/// Assigns all tasks to nodes. Placement fields are evaluated once, over the common document.
pub(crate) fn assign_nodes(
    definitions: &[Definition<'_>],
    names: &Names<'_>,
    evaluator: &Evaluator<'_>,
    node_sets: &mut NodeSets<'_>,
    report: &mut PlanningReport,
) -> Placement {
    let mut placer = Placer { evaluator, subject_idx: node_sets.nodes().sync().get(), report };
    let kinds: Vec<TaskKind> = definitions.iter().map(|definition| placer.kind(definition)).collect();
    let mut nodes: Vec<NodeSet> = Vec::with_capacity(definitions.len());
    for (definition, kind) in definitions.iter().zip(&kinds) {
        nodes.push(match kind {
            TaskKind::Stage => node_sets.sync(),
            TaskKind::Group | TaskKind::Ordinary => placer.own_nodes(definition, names, node_sets),
        });
    }
    let mut groups = Vec::new();
    let mut conditional: Vec<ConditionalGroup> = Vec::new();
    let is_conditional = |(definition, kind): (&Definition<'_>, &TaskKind)| {
        *kind == TaskKind::Group && definition.has_own_condition
    };
    let mut unconditional =
        if definitions.iter().zip(&kinds).any(is_conditional) { nodes.clone() } else { Vec::new() };
    for (group_idx, definition) in
        definitions.iter().enumerate().filter(|(idx, _)| kinds[*idx] == TaskKind::Group)
    {
        let members = placer.members(definition, names);
        let group_nodes = std::mem::replace(&mut nodes[group_idx], node_sets.set(Vec::new()));
        if group_nodes.is_empty() {
            continue;
        }
        for member in &members {
            // A stage or a group that is a member of a group keeps its own placement.
            if kinds[member.index()] == TaskKind::Ordinary {
                let idx = member.index();
                nodes[idx] = node_sets.set([&*nodes[idx], &*group_nodes].concat());
                if !definition.has_own_condition && !unconditional.is_empty() {
                    unconditional[idx] = node_sets.set([&*unconditional[idx], &*group_nodes].concat());
                }
            }
        }
        if definition.has_own_condition {
            let nodes = group_nodes.clone();
            conditional.push(ConditionalGroup { task_idx: TaskIdx::at(group_idx), nodes, members });
        }
        groups.push(placer.group(definition, &group_nodes, node_sets));
    }
    for (definition, _) in definitions
        .iter()
        .zip(&nodes)
        .zip(&kinds)
        .filter(|((_, nodes), kind)| nodes.is_empty() && **kind != TaskKind::Group)
        .map(|(pair, _)| pair)
    {
        let message = match definition.placement {
            Some(_) => "the task runs nowhere: no node has its roles or tags",
            None => "the task runs nowhere: it has no `roles`, `tags` or `groups`",
        };
        report.push(Diagnostic::warning(codes::UNPLACED, message).task(definition.name, ""));
    }
    Placement { kinds, nodes, groups, conditional, unconditional }
}

struct Placer<'p, 'o> {
    evaluator: &'p Evaluator<'o>,
    /// The `sync` subject, which sees only the common document.
    subject_idx: SubjectIdx,
    report: &'p mut PlanningReport,
}

impl Placer<'_, '_> {
    fn kind(&mut self, definition: &Definition<'_>) -> TaskKind {
        let type_name = match &definition.task_type {
            Template::Fixed(value) => Some(value.clone()),
            // The value may depend on the node and is evaluated again per node.
            computed => self.value_if_valid(computed),
        };
        let type_name = type_name.as_ref().and_then(Json::as_str);
        if let (Some(type_name), Template::Fixed(_)) = (type_name, &definition.task_type)
            && TaskType::parse(type_name).is_none()
        {
            let message = format!("unknown task type `{type_name}`");
            self.report.push(Diagnostic::warning(codes::UNKNOWN_TYPE, message).task(definition.name, TYPE));
        }
        match type_name.and_then(TaskType::parse) {
            Some(TaskType::Stage) => TaskKind::Stage,
            Some(TaskType::Group) => TaskKind::Group,
            _ => TaskKind::Ordinary,
        }
    }

    fn own_nodes(
        &mut self,
        definition: &Definition<'_>,
        names: &Names<'_>,
        node_sets: &mut NodeSets<'_>,
    ) -> NodeSet {
        let Some((field, template)) = &definition.placement else { return node_sets.set(Vec::new()) };
        let Some(value) = self.value(definition, field, template) else { return node_sets.set(Vec::new()) };
        let (nodes, problems) = node_sets.resolve(&value);
        for message in problems {
            self.report.push(Diagnostic::warning(codes::PATTERN, message).task(definition.name, *field));
        }
        let hidden = hidden_by_primary(&value, &nodes, node_sets);
        if !hidden.is_empty() && !names.has_primary_counterpart(definition.name) {
            self.report
                .problems
                .extend(hidden.into_iter().map(|warning| warning.task(definition.name, *field)));
        }
        nodes
    }

    fn members(&mut self, definition: &Definition<'_>, names: &Names<'_>) -> Vec<TaskIdx> {
        let Some(template) = &definition.members else { return Vec::new() };
        let value = self.value(definition, MEMBERS, template).unwrap_or_default();
        let items = match value {
            Json::Array(items) => items,
            Json::Null => Vec::new(),
            single => vec![single],
        };
        let mut members = Vec::new();
        for (item_idx, item) in items.iter().enumerate() {
            match item.as_str().map(|name| names.index_of.get(name)) {
                Some(Some(task_idx)) => members.push(*task_idx),
                name => {
                    let message = format!("the group lists {item}, which is not a task");
                    let help = name.and(item.as_str()).and_then(|name| names.suggestion(name));
                    let problem = Diagnostic::error(codes::GROUP_MEMBER, message).help_if(help);
                    self.report.push(problem.task(definition.name, format!("{MEMBERS}[{item_idx}]")));
                }
            }
        }
        members
    }

    fn group(
        &mut self,
        definition: &Definition<'_>,
        nodes: &NodeSet,
        node_sets: &NodeSets<'_>,
    ) -> FaultToleranceGroup {
        let template = definition.fault_tolerance.as_ref();
        let value = template.and_then(|template| self.value(definition, FAULT_TOLERANCE, template));
        let tolerated = tolerated(value.as_ref(), nodes.len() as u64);
        if let Some(warning) = tolerated.warning {
            let problem = Diagnostic::warning(codes::FAULT_TOLERANCE, warning);
            self.report.push(problem.task(definition.name, FAULT_TOLERANCE));
        }
        let uids = &node_sets.nodes().uids;
        FaultToleranceGroup {
            name: definition.name.to_owned(),
            nodes: nodes.iter().map(|node_idx| uids[node_idx.index()].clone()).collect(),
            max_failed: tolerated.n_nodes,
        }
    }

    fn value_if_valid(&self, template: &Template) -> Option<Json> {
        template
            .render(&mut |expression_idx| {
                let value = self.evaluator.evaluate(expression_idx, self.subject_idx).map_err(|_| ())?;
                to_json(&value).map_err(|_| ())
            })
            .ok()
    }

    fn value(&mut self, definition: &Definition<'_>, field: &str, template: &Template) -> Option<Json> {
        let mut failed = None;
        let value = template.render(&mut |expression_idx| {
            let source = &self.evaluator.expressions.all[expression_idx as usize].source;
            let value = self.evaluator.evaluate(expression_idx, self.subject_idx).map_err(|error| {
                let problem = expression_problem(codes::EXPRESSION, &error, source);
                failed = Some(problem.help_if(error.help.clone().or_else(|| {
                    Some("placement fields are evaluated over the common document and cannot read per-node data".to_owned())
                })));
            })?;
            to_json(&value).map_err(|value_type| {
                failed = Some(Diagnostic::error(codes::FIELD, format!("the result contains a {value_type}, which a task field cannot hold")));
            })
        });
        self.report.problems.extend(failed.map(|problem| problem.task(definition.name, field)));
        value.ok()
    }
}

/// Warns about roles that leave out their primary node: it has `primary-ROLE` instead of the role.
fn hidden_by_primary(placement: &Json, nodes: &NodeSet, node_sets: &NodeSets<'_>) -> Vec<Diagnostic> {
    let roles = match placement {
        Json::String(role) => vec![role.as_str()],
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    let all = node_sets.nodes();
    let warning = |role: &str| {
        let primaries = all.tags().get(&format!("primary-{role}"))?;
        let hidden: Vec<String> = primaries
            .iter()
            .filter(|node_idx| !nodes.contains(node_idx))
            .map(|node_idx| all.uids[node_idx.index()].clone())
            .collect();
        let first = hidden.first()?;
        let message = format!("`{role}` leaves out node {first}, which has `primary-{role}` instead");
        let help = format!("write `[primary-{role}, {role}]` to include the primary node");
        Some(Diagnostic::warning(codes::HIDDEN_BY_PRIMARY, message).help(help).nodes(hidden))
    };
    roles.into_iter().filter_map(warning).collect()
}
