//! Plans of the real graphs match those of the reference planner, except where a bug of the reference planner is fixed.

use crate::real;

use std::collections::{BTreeMap, BTreeSet};

use real::Cluster;
use serde_json::Value as Json;
use stoker_planner::{InstanceAction, Plan, PlanningInput, codes, plan};
use stoker_state::AppliedStates;

const GRAPHS: &[(&str, &str)] =
    &[("default", "default-graph.yaml"), ("net-verification", "net-verification__tasks.yaml")];

type Edges = BTreeSet<(String, String)>;

fn planned(file: &str, old: Option<&AppliedStates>) -> Option<Plan> {
    let (now, expected, tasks) = (Cluster::real()?, real::expected_plans()?, real::tasks(file)?);
    let nodes = real::node_inputs(&now, &expected);
    let input = PlanningInput { old, ..PlanningInput::new(&tasks, now.common, nodes) };
    let (plan, _) = plan(&input).unwrap_or_else(|report| panic!("{:#?}", report.problems));
    Some(plan)
}

fn expected_edges(first_run: &Json) -> Edges {
    let mut edges = Edges::new();
    for (node, tasks) in first_run.as_object().expect("nodes") {
        for (task, fields) in tasks.as_object().expect("tasks") {
            let own = format!("{task}@{node}");
            let others = |field: &str| {
                let list = fields[field].as_array().cloned().unwrap_or_default();
                list.into_iter().map(|other| other.as_str().expect("text").to_owned()).collect::<Vec<_>>()
            };
            edges.extend(others("requires").into_iter().map(|other| (other, own.clone())));
            edges.extend(others("required_for").into_iter().map(|other| (own.clone(), other)));
        }
    }
    edges
}

fn edges(plan: &Plan) -> Edges {
    let names: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    plan.edges().map(|(from, to)| (names[from.index()].clone(), names[to.index()].clone())).collect()
}

/// Edges of a graph that the reference planner lacks because of a fixed bug.
fn fixed_edges(graph: &str) -> Edges {
    let text = include_str!("fixed-reference-edges.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let edge = |line: &str| {
        let names: Vec<&str> = line.split_whitespace().collect();
        let [in_graph, before, "->", after] = names[..] else { panic!("{line}") };
        (in_graph == graph).then(|| (before.to_owned(), after.to_owned()))
    };
    lines.filter_map(edge).collect()
}

#[test]
fn instances_and_edges_match_the_reference() {
    let Some(expected) = real::expected_plans() else { return };
    for (graph, file) in GRAPHS {
        let Some(plan) = planned(file, None) else { return };
        let first_run = &expected[graph]["first_run"];
        let instances: BTreeSet<String> = plan.instances().map(|instance| instance.to_string()).collect();
        let nodes = first_run.as_object().expect("nodes").iter();
        let expected_set: BTreeSet<String> = nodes
            .flat_map(|(node, tasks)| {
                tasks.as_object().expect("tasks").keys().map(move |task| format!("{task}@{node}"))
            })
            .collect();
        assert_eq!(instances, expected_set, "{graph}");
        let (actual, expected_set) = (edges(&plan), expected_edges(first_run));
        assert_eq!(expected_set.len() as u64, expected[graph]["edges"].as_u64().expect("a number"));
        let missing: Vec<_> = expected_set.difference(&actual).collect();
        let added: Edges = actual.difference(&expected_set).cloned().collect();
        println!("{graph}: {} instances, {} edges, {} fixed", instances.len(), actual.len(), added.len());
        assert_eq!(missing, Vec::<&(String, String)>::new(), "{graph}");
        assert_eq!(added, fixed_edges(graph), "{graph}");
    }
}

#[test]
fn executed_instances_match_the_reference() {
    let (Some(expected), Some(now)) = (real::expected_plans(), Cluster::real()) else { return };
    let pasts: [(&str, Option<AppliedStates>); 3] =
        [("none", None), ("same", Some(now.as_old())), ("scale_out", Some(now.before_scale_out().as_old()))];
    for (graph, file) in GRAPHS {
        for (name, old) in &pasts {
            let Some(plan) = planned(file, old.as_ref()) else { return };
            let mut executed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for instance in
                plan.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run)
            {
                executed.entry(instance.node).or_default().insert(instance.task);
            }
            let expected_set = expected[graph]["executed"][name].as_object().expect("nodes").iter();
            let expected_set: BTreeMap<&str, BTreeSet<&str>> = expected_set
                .map(|(node, tasks)| {
                    let tasks = tasks.as_array().expect("tasks").iter().filter_map(Json::as_str);
                    (node.as_str(), tasks.collect::<BTreeSet<&str>>())
                })
                .filter(|(_, tasks)| !tasks.is_empty())
                .collect();
            println!("{graph} {name}: {}", executed.values().map(BTreeSet::len).sum::<usize>());
            assert_eq!(executed, expected_set, "{graph} {name}");
        }
    }
}

#[test]
fn fault_tolerance_groups_match_the_reference() {
    let Some(expected) = real::expected_plans() else { return };
    for (graph, file) in GRAPHS {
        let Some(plan) = planned(file, None) else { return };
        let mut actual: Vec<Json> = plan
            .groups
            .iter()
            .map(|group| {
                serde_json::json!({"name": group.name, "node_ids": group.nodes, "fault_tolerance": group.max_failed})
            })
            .collect();
        actual.sort_by_key(|group| group["name"].to_string());
        assert_eq!(Json::Array(actual), expected[graph]["fault_tolerance_groups"], "{graph}");
    }
}

/// Tasks of the real graph that leave out primary nodes are intended: each has a counterpart for the primary. Their
/// conditions contain no misspelled paths.
#[test]
fn real_graphs_hide_no_primary_node_and_misspell_no_path() {
    for (_, file) in GRAPHS {
        let Some((now, expected, tasks)) =
            Cluster::real().and_then(|now| Some((now, real::expected_plans()?, real::tasks(file)?)))
        else {
            return;
        };
        let nodes = real::node_inputs(&now, &expected);
        let (_, report) = plan(&PlanningInput::new(&tasks, now.common, nodes)).unwrap();
        let hidden: Vec<String> = report
            .warnings()
            .filter(|warning| [codes::HIDDEN_BY_PRIMARY, codes::NEAR_MISS].contains(&&*warning.code))
            .map(ToString::to_string)
            .collect();
        assert_eq!(hidden, Vec::<String>::new(), "{file}");
    }
}
