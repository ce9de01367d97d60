//! Which task is where.

use stoker_model::{Json, TaskType};

use crate::compute::evaluator::Evaluator;
use crate::compute::subjects::{SubjectIdx, TaskIdx};
use crate::definition::{Definition, FAULT_TOLERANCE, Kind, MEMBERS, TYPE};
use crate::json::to_json;
use crate::names::Names;
use crate::places::{NodeSet, Places};
use crate::plan::FaultToleranceGroup;
use crate::problem::{Problem, Report, codes};
use crate::template::Template;
use crate::tolerance::tolerated;

pub(crate) struct Placement {
    pub(crate) kinds: Vec<Kind>,
    /// By task; groups are nowhere.
    pub(crate) nodes: Vec<NodeSet>,
    pub(crate) groups: Vec<FaultToleranceGroup>,
}

/// Places all tasks. What decides about places is computed once, over what all nodes have in common.
pub(crate) fn place(
    definitions: &[Definition<'_>],
    names: &Names<'_>,
    evaluator: &Evaluator<'_>,
    places: &mut Places<'_>,
    report: &mut Report,
) -> Placement {
    let mut placing = Placing { evaluator, subject_idx: places.nodes().sync(), report };
    let kinds: Vec<Kind> = definitions.iter().map(|definition| placing.kind(definition)).collect();
    let mut nodes: Vec<NodeSet> = Vec::with_capacity(definitions.len());
    for (definition, kind) in definitions.iter().zip(&kinds) {
        nodes.push(match kind {
            Kind::Stage => places.sync(),
            Kind::Group | Kind::Ordinary => placing.own_place(definition, places),
        });
    }
    let mut groups = Vec::new();
    for (group_idx, definition) in
        definitions.iter().enumerate().filter(|(idx, _)| kinds[*idx] == Kind::Group)
    {
        let members = placing.members(definition, names);
        let group_nodes = std::mem::replace(&mut nodes[group_idx], places.set(Vec::new()));
        if group_nodes.is_empty() {
            continue;
        }
        for member in members {
            // A group or a stage in a group stays what it is.
            if kinds[member as usize] == Kind::Ordinary {
                nodes[member as usize] = places.set([&*nodes[member as usize], &*group_nodes].concat());
            }
        }
        groups.push(placing.group(definition, &group_nodes, places));
    }
    for (definition, _) in definitions
        .iter()
        .zip(&nodes)
        .zip(&kinds)
        .filter(|((_, nodes), kind)| nodes.is_empty() && **kind != Kind::Group)
        .map(|(pair, _)| pair)
    {
        let message = match definition.place {
            Some(_) => "no node of this run has its roles or tags, so it runs nowhere",
            None => "it says no roles, tags or groups, so it runs nowhere",
        };
        report.push(Problem::warning(codes::UNPLACED, message).at(definition.name, ""));
    }
    Placement { kinds, nodes, groups }
}

struct Placing<'p, 'o> {
    evaluator: &'p Evaluator<'o>,
    /// Who sees only what all have in common.
    subject_idx: SubjectIdx,
    report: &'p mut Report,
}

impl Placing<'_, '_> {
    fn kind(&mut self, definition: &Definition<'_>) -> Kind {
        let word = match &definition.task_type {
            Template::Fixed(value) => Some(value.clone()),
            // It may depend on the node, and is asked for again there.
            computed => self.quietly(computed),
        };
        let word = word.as_ref().and_then(Json::as_str);
        if let (Some(word), Template::Fixed(_)) = (word, &definition.task_type)
            && TaskType::parse(word).is_none()
        {
            let message = format!("`{word}` is no type of task that is known");
            self.report.push(Problem::warning(codes::UNKNOWN_TYPE, message).at(definition.name, TYPE));
        }
        match word.and_then(TaskType::parse) {
            Some(TaskType::Stage) => Kind::Stage,
            Some(TaskType::Group) => Kind::Group,
            _ => Kind::Ordinary,
        }
    }

    fn own_place(&mut self, definition: &Definition<'_>, places: &mut Places<'_>) -> NodeSet {
        let Some((field, template)) = &definition.place else { return places.set(Vec::new()) };
        let Some(value) = self.value(definition, field, template) else { return places.set(Vec::new()) };
        let (nodes, complaints) = places.resolve(&value);
        for complaint in complaints {
            self.report.push(Problem::warning(codes::PATTERN, complaint).at(definition.name, *field));
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
                    let message = format!("the group lists {item}, which is no task");
                    let help = name.and(item.as_str()).and_then(|name| names.suggestion(name));
                    let problem = Problem::error(codes::GROUP_MEMBER, message).help(help);
                    self.report.push(problem.at(definition.name, format!("{MEMBERS}[{item_idx}]")));
                }
            }
        }
        members
    }

    fn group(
        &mut self,
        definition: &Definition<'_>,
        nodes: &NodeSet,
        places: &Places<'_>,
    ) -> FaultToleranceGroup {
        let template = definition.fault_tolerance.as_ref();
        let value = template.and_then(|template| self.value(definition, FAULT_TOLERANCE, template));
        let tolerated = tolerated(value.as_ref(), nodes.len() as u64);
        if let Some(warning) = tolerated.warning {
            let problem = Problem::warning(codes::FAULT_TOLERANCE, warning);
            self.report.push(problem.at(definition.name, FAULT_TOLERANCE));
        }
        let uids = &places.nodes().uids;
        FaultToleranceGroup {
            name: definition.name.to_owned(),
            nodes: nodes.iter().map(|node_idx| uids[*node_idx as usize].clone()).collect(),
            tolerated: tolerated.n_nodes,
        }
    }

    fn quietly(&self, template: &Template) -> Option<Json> {
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
                let problem = Problem::of_expression(codes::EXPRESSION, &error, source);
                failed = Some(problem.help(error.help.clone().or_else(|| {
                    Some("where a task runs is computed over what all nodes have in common".to_owned())
                })));
            })?;
            to_json(&value).map_err(|kind| {
                failed = Some(Problem::error(codes::FIELD, format!("the result holds a {kind}")));
            })
        });
        self.report.problems.extend(failed.map(|problem| problem.at(definition.name, field)));
        value.ok()
    }
}
