//! The phases of planning, from the input to the plan.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_model::{InstanceIdx, Json, NodeIdx, Task, TaskIdx, TaskType};
use stoker_state::{Document, MASTER, SYNC, Taint};

use crate::compute::evaluator::Evaluator;
use crate::compute::expressions::Expressions;
use crate::compute::subjects::{Applied, Subjects};
use crate::definition::{Definition, FAIL_ON_ERROR, PARAMETERS, TYPE, TaskKind};
use crate::fields::{ComputedFields, FieldWork, compute};
use crate::fingerprint::{inputs_of, redefinitions};
use crate::group_conditions::GroupConditions;
use crate::handlers::{Handlers, warn_of_untriggered};
use crate::input::PlanningInput;
use crate::names::Names;
use crate::near_misses::near_misses;
use crate::node_sets::NodeSets;
use crate::nodes::Nodes;
use crate::order::{Ordered, order};
use crate::order_builder::Layout;
use crate::placement::{Placement, assign_nodes};
use crate::plan::{Details, DetailsIdx, InstanceAction, Plan, PlannedTask, Verdict};
use crate::report::{PlanningReport, codes};
use crate::selection::{cut, selected_tasks};
use crate::settings::{eval_settings, options_of};
use crate::steady::ComparedInputs;
use crate::strategy;
use crate::template::Templates;
use crate::timing;
use crate::verdicts::{Decided, VerdictInput, decide_verdicts};

/// Plans a run. Fails if the report contains an error.
pub fn plan(input: &PlanningInput<'_>) -> Result<(Plan, PlanningReport), PlanningReport> {
    let mut report = PlanningReport::default();
    let plan = build_plan(input, &mut report);
    report.sort();
    match plan {
        Some(plan) if !report.has_errors() => Ok((plan, report)),
        _ => Err(report),
    }
}

fn build_plan(input: &PlanningInput<'_>, report: &mut PlanningReport) -> Option<Plan> {
    let options = options_of(input);
    let nodes = Nodes::new(input, &options, report);
    let tasks = sorted_tasks(input.tasks, report)?;
    let mut names = Names::new(tasks.iter().map(|task| task.name.as_str()).collect());
    let mut expressions = Expressions::new(input.library.clone());
    let mut templates = Templates { expressions: &mut expressions, placeholders: &input.placeholders };
    let definitions: Vec<Definition<'_>> =
        tasks.iter().map(|task| Definition::new(task, &mut templates)).collect();
    let subjects = subjects(input, &nodes, &names);
    let n_threads = input.settings.n_threads.max(1);
    let mut evaluator = Evaluator::new(eval_settings(input, &options), subjects, expressions, n_threads);

    report.problems.extend(near_misses(input, &definitions, &evaluator.expressions));

    let mut node_sets = NodeSets::new(&nodes);
    let Placement { kinds, nodes: placed, groups, conditional, unconditional } =
        assign_nodes(&definitions, &names, &evaluator, &mut node_sets, report);
    let layout = Layout::new(placed);
    let is_selected = selected_tasks(&input.request, &names, report);

    let relations =
        compute(relation_works(&definitions, &kinds, &layout), &mut evaluator, &nodes.uids, report);
    let Ordered { order, triggers, handlers, choices } =
        order(&definitions, &relations, &layout, &mut names, &mut node_sets, report);
    let verdict_input = VerdictInput {
        definitions: &definitions,
        kinds: &kinds,
        layout: &layout,
        is_selected: &is_selected,
        planning: input,
        tasks: &tasks,
    };
    let Decided { mut verdicts, inputs } =
        decide_verdicts(&verdict_input, &mut evaluator, &nodes.uids, report);
    let of_groups = GroupConditions {
        groups: &conditional,
        unconditional: &unconditional,
        definitions: &definitions,
        kinds: &kinds,
        layout: &layout,
    };
    of_groups.apply(&mut evaluator, &nodes.uids, &mut verdicts, report);
    cut(&input.request.subgraphs, &order, &layout, &names, &nodes, &mut verdicts, report);

    // A handler whose triggers select no node has no edge, and is not triggered either.
    if !handlers.is_empty() {
        let handlers = Handlers {
            tasks: &handlers,
            triggers: &triggers,
            definitions: &definitions,
            layout: &layout,
            uids: &nodes.uids,
            old: input.old,
        };
        handlers.apply(&mut verdicts);
    }

    warn_of_untriggered(&tasks, &names, &layout, &verdicts, report);

    if evaluator.subjects.has_doubts() {
        report.tainted = tainted_instances(&layout, &verdicts, &evaluator.subjects);
    }

    let instances =
        Instances { definitions: &definitions, layout: &layout, verdicts: &verdicts, inputs: &inputs };
    let (details_of, mut details) = details(&instances, &mut node_sets, &mut evaluator, &nodes.uids, report);
    let planned = |(task_idx, definition): (usize, &Definition<'_>)| PlannedTask {
        name: definition.name.to_owned(),
        nodes: layout.nodes[task_idx].clone(),
        first: InstanceIdx::new(layout.first[task_idx]),
        details: std::mem::take(&mut details[task_idx]),
    };
    let is_group = |task_idx: usize| kinds[task_idx] == TaskKind::Group;
    let tasks =
        definitions.iter().enumerate().filter(|(task_idx, _)| !is_group(*task_idx)).map(planned).collect();
    Some(Plan {
        nodes: nodes.uids.clone(),
        tasks,
        groups,
        choices,
        verdicts,
        details: details_of,
        order,
        triggers: Some(triggers).filter(|triggers| triggers.n_edges() > 0),
    })
}

/// Sorts tasks by name, so that the plan does not depend on their input order. Fails on duplicate names.
fn sorted_tasks<'a>(tasks: &'a [Task], report: &mut PlanningReport) -> Option<Vec<&'a Task>> {
    let mut sorted: Vec<&Task> = tasks.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut is_valid = true;
    for pair in sorted.windows(2).filter(|pair| pair[0].name == pair[1].name) {
        report.push(Diagnostic::error(codes::DUPLICATE, "two tasks have this id").task(&pair[0].name, "id"));
        is_valid = false;
    }
    is_valid.then_some(sorted)
}

fn subjects(input: &PlanningInput<'_>, nodes: &Nodes, names: &Names<'_>) -> Subjects {
    let mut documents: Vec<(&str, Document)> = nodes
        .inputs
        .iter()
        .map(|at| &input.nodes[*at])
        .map(|node| (&*node.uid, node.document.clone()))
        .collect();
    documents.push((MASTER, input.master.clone()));
    documents.push((SYNC, Document::default()));
    let states = if input.request.force { None } else { input.old };
    let applied = Applied { states, redefinitions: &redefinitions(input) };
    Subjects::new(&input.common, &documents, &names.index_of, applied)
}

/// Instances that run with a tainted applied state. Redefinitions are not listed: an edited graph would list every
/// instance, and the reasons have them.
fn tainted_instances(layout: &Layout, verdicts: &[Verdict], subjects: &Subjects) -> Vec<(u32, Taint)> {
    let mut tainted = Vec::new();
    for (task_idx, nodes) in TaskIdx::first(layout.nodes.len()).zip(&layout.nodes) {
        for (instance_idx, node_idx) in (layout.first[task_idx.index()]..).zip(nodes.iter()) {
            if verdicts[instance_idx as usize].action() == InstanceAction::Run
                && let Some(taint) = subjects.taint(task_idx, *node_idx)
            {
                tainted.push((instance_idx, *taint));
            }
        }
    }
    tainted
}

/// Work for relation fields. Skipped instances are included: skipping a task never relaxes the order.
fn relation_works<'d>(
    definitions: &'d [Definition<'_>],
    kinds: &[TaskKind],
    layout: &Layout,
) -> Vec<FieldWork<'d>> {
    let is_placed =
        |task_idx: usize| kinds[task_idx] != TaskKind::Group && !layout.nodes[task_idx].is_empty();
    let placed = definitions.iter().enumerate().filter(|(task_idx, _)| is_placed(*task_idx));
    let work = placed.map(|(task_idx, definition)| FieldWork {
        nodes: layout.nodes[task_idx].clone(),
        fields: definition.relations.iter().map(|(field, template)| (*field, template)).collect(),
        ..FieldWork::new(TaskIdx::at(task_idx), definition.name, &[])
    });
    work.filter(|work| !work.fields.is_empty()).collect()
}

/// All instances with their verdicts and compared inputs.
struct Instances<'j, 'a> {
    definitions: &'j [Definition<'a>],
    layout: &'j Layout,
    verdicts: &'j [Verdict],
    inputs: &'j HashMap<TaskIdx, ComparedInputs>,
}

/// Computes the details of all instances that run.
fn details(
    instances: &Instances<'_, '_>,
    node_sets: &mut NodeSets<'_>,
    evaluator: &mut Evaluator<'_>,
    uids: &[String],
    report: &mut PlanningReport,
) -> (Vec<Option<DetailsIdx>>, Vec<Vec<Details>>) {
    let Instances { definitions, layout, verdicts, inputs } = *instances;
    let mut works = Vec::new();
    for (task_idx, definition) in definitions.iter().enumerate() {
        let range = layout.first[task_idx] as usize..layout.first[task_idx + 1] as usize;
        let is_running = |position: &usize| verdicts[range.start + position].action() == InstanceAction::Run;
        let positions: Vec<usize> = (0..range.len()).filter(is_running).collect();
        let running: Vec<NodeIdx> =
            positions.iter().map(|position| layout.nodes[task_idx][*position]).collect();
        if running.is_empty() {
            continue;
        }
        let optional = [(PARAMETERS, &definition.parameters), (FAIL_ON_ERROR, &definition.fail_on_error)];
        let mut fields = vec![(TYPE, &definition.task_type)];
        fields.extend(optional.into_iter().filter_map(|(field, template)| Some((field, template.as_ref()?))));
        let nodes = node_sets.set_of(&running);
        // Instances with different steady inputs need details of their own: a success records both.
        let steady = inputs.get(&(TaskIdx::at(task_idx)));
        let steady =
            steady.map(|inputs| positions.iter().map(|position| inputs.inputs_of[*position]).collect());
        works.push(FieldWork {
            nodes,
            inputs: steady,
            ..FieldWork::new(TaskIdx::at(task_idx), definition.name, &fields)
        });
    }
    let names: Vec<Vec<&str>> =
        works.iter().map(|work| work.fields.iter().map(|(field, _)| *field).collect()).collect();
    let mut details_of = vec![None; layout.n_instances() as usize];
    let mut details: Vec<Vec<Details>> = vec![Vec::new(); definitions.len()];
    let steady: Vec<Option<Arc<[u32]>>> = works.iter().map(|work| work.inputs.clone()).collect();
    for ((done, names), steady) in compute(works, evaluator, uids, report).into_iter().zip(names).zip(steady)
    {
        assign_details(&done, layout, &mut details_of);
        let first_positions = steady.as_ref().map(|_| done.classes.first_positions()).unwrap_or_default();
        let name = definitions[done.task_idx.index()].name;
        let read = |values: Vec<Option<Json>>| read_details(name, &names, values, report);
        details[done.task_idx.index()] = done.values.into_iter().map(read).collect();
        if let (Some(steady), Some(compared)) = (steady, inputs.get(&done.task_idx)) {
            let inputs_of_class =
                first_positions.iter().map(|position| &compared.inputs[steady[*position] as usize]);
            let differing = (0_u32..)
                .zip(inputs_of_class.zip(&details[done.task_idx.index()]))
                .filter(|(_, (inputs, details))| **inputs != inputs_of(&details.parameters))
                .map(|(details_idx, (inputs, _))| (details_idx, inputs.clone()));
            let differing: BTreeMap<u32, Json> = differing.collect();
            if !differing.is_empty() {
                report.steady.insert(name.to_owned(), differing);
            }
        }
    }
    (details_of, details)
}

/// Records for each instance the index of its details.
fn assign_details(done: &ComputedFields, layout: &Layout, details_of: &mut [Option<DetailsIdx>]) {
    let (own, first) = (&layout.nodes[done.task_idx.index()], layout.first[done.task_idx.index()] as usize);
    let mut at = 0;
    for (position, node_idx) in done.nodes.iter().enumerate() {
        at += own[at..].partition_point(|other| other < node_idx);
        details_of[first + at] = Some(DetailsIdx::at(done.classes.class(position)));
    }
}

/// Maximum nesting of parameters, in levels. They are stored and sent as JSON, and JSON parsers limit
/// nesting.
const DEPTH_MAX: usize = 64;

fn read_details(
    task: &str,
    names: &[&str],
    values: Vec<Option<Json>>,
    report: &mut PlanningReport,
) -> Details {
    let mut details = Details { task_type: String::new(), parameters: Json::Null, fail_on_error: true };
    for (field, value) in names.iter().zip(values) {
        let Some(value) = value else { continue };
        if crate::json::is_deeper(&value, DEPTH_MAX) {
            let message = format!("the value is nested more than {DEPTH_MAX} levels deep");
            report.push(Diagnostic::error(codes::FIELD, message).task(task, *field));
            continue;
        }
        match (*field, value) {
            (TYPE, Json::String(type_name)) => {
                if TaskType::parse(&type_name).is_none() {
                    let message = format!("unknown task type `{type_name}`");
                    report.push(Diagnostic::error(codes::UNKNOWN_TYPE, message).task(task, TYPE));
                }
                details.task_type = type_name;
            }
            (PARAMETERS, value @ (Json::Object(_) | Json::Null)) => {
                if let Some(message) = strategy::strategy_problem(&value) {
                    report
                        .push(Diagnostic::error(codes::STRATEGY, message).task(task, "parameters.strategy"));
                }
                for (name, message) in timing::timing_problems(&value) {
                    report.push(
                        Diagnostic::error(codes::FIELD, message).task(task, format!("parameters.{name}")),
                    );
                }
                details.parameters = value;
            }
            (FAIL_ON_ERROR, value) => details.fail_on_error = crate::json::is_true(&value),
            (TYPE, Json::Null) => {
                let message = "`type` is missing";
                report.push(Diagnostic::error(codes::UNKNOWN_TYPE, message).task(task, TYPE));
            }
            (field, value) => {
                let expected = if field == TYPE { "a string" } else { "a map" };
                let message = format!("the value must be {expected}, not {value}");
                report.push(Diagnostic::error(codes::FIELD, message).task(task, field));
            }
        }
    }
    details
}
