//! Plans of the real graphs are those that the reference computed, except where a trap of it is mended.

mod real;

use std::collections::{BTreeMap, BTreeSet};

use real::Cluster;
use serde_json::Value as Json;
use stoker_planner::state::OldStates;
use stoker_planner::{Action, Plan, PlanningInput, plan};

const GRAPHS: &[(&str, &str)] =
    &[("default", "default-graph.yaml"), ("net-verification", "net-verification__tasks.yaml")];

type Edges = BTreeSet<(String, String)>;

fn planned(file: &str, old: Option<&OldStates>) -> Option<Plan> {
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
    let words: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    plan.edges().map(|(from, to)| (words[from as usize].clone(), words[to as usize].clone())).collect()
}

/// The list of mended traps: pairs of a graph and an edge that the reference does not have.
fn mended(graph: &str) -> Edges {
    let text = include_str!("mended-traps.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let edge = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [in_graph, before, "->", after] = words[..] else { panic!("{line}") };
        (in_graph == graph).then(|| (before.to_owned(), after.to_owned()))
    };
    lines.filter_map(edge).collect()
}

#[test]
fn instances_and_edges_are_those_of_the_reference() {
    let Some(expected) = real::expected_plans() else { return };
    for (graph, file) in GRAPHS {
        let Some(plan) = planned(file, None) else { return };
        let first_run = &expected[graph]["first_run"];
        let instances: BTreeSet<String> = plan.instances().map(|instance| instance.to_string()).collect();
        let nodes = first_run.as_object().expect("nodes").iter();
        let wanted: BTreeSet<String> = nodes
            .flat_map(|(node, tasks)| {
                tasks.as_object().expect("tasks").keys().map(move |task| format!("{task}@{node}"))
            })
            .collect();
        assert_eq!(instances, wanted, "{graph}");
        let (found, wanted) = (edges(&plan), expected_edges(first_run));
        assert_eq!(wanted.len() as u64, expected[graph]["edges"].as_u64().expect("a number"));
        let missing: Vec<_> = wanted.difference(&found).collect();
        let more: Edges = found.difference(&wanted).cloned().collect();
        println!("{graph}: {} instances, {} edges, {} mended", instances.len(), found.len(), more.len());
        assert_eq!(missing, Vec::<&(String, String)>::new(), "{graph}");
        assert_eq!(more, mended(graph), "{graph}");
    }
}

#[test]
fn exactly_the_same_is_executed() {
    let (Some(expected), Some(now)) = (real::expected_plans(), Cluster::real()) else { return };
    let pasts: [(&str, Option<OldStates>); 3] =
        [("none", None), ("same", Some(now.as_old())), ("scale_out", Some(now.before_scale_out().as_old()))];
    for (graph, file) in GRAPHS {
        for (name, old) in &pasts {
            let Some(plan) = planned(file, old.as_ref()) else { return };
            let mut executed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for instance in plan.instances().filter(|instance| instance.verdict.action() == Action::Run) {
                executed.entry(instance.node).or_default().insert(instance.task);
            }
            let wanted = expected[graph]["executed"][name].as_object().expect("nodes").iter();
            let wanted: BTreeMap<&str, BTreeSet<&str>> = wanted
                .map(|(node, tasks)| {
                    let tasks = tasks.as_array().expect("tasks").iter().filter_map(Json::as_str);
                    (node.as_str(), tasks.collect::<BTreeSet<&str>>())
                })
                .filter(|(_, tasks)| !tasks.is_empty())
                .collect();
            println!("{graph} {name}: {}", executed.values().map(BTreeSet::len).sum::<usize>());
            assert_eq!(executed, wanted, "{graph} {name}");
        }
    }
}

#[test]
fn fault_tolerance_groups_are_those_of_the_reference() {
    let Some(expected) = real::expected_plans() else { return };
    for (graph, file) in GRAPHS {
        let Some(plan) = planned(file, None) else { return };
        let mut found: Vec<Json> = plan
            .groups
            .iter()
            .map(|group| {
                serde_json::json!({"name": group.name, "node_ids": group.nodes, "fault_tolerance": group.tolerated})
            })
            .collect();
        found.sort_by_key(|group| group["name"].to_string());
        assert_eq!(Json::Array(found), expected[graph]["fault_tolerance_groups"], "{graph}");
    }
}
