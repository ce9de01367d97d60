//! Certain cycles against a naive search: every instance is a vertex, every pair an edge.

use petgraph::algo::is_cyclic_directed;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use serde_json::json;
use stoker_diagnostics::Severity;
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, codes, merge};
use stoker_model::{Json, Task};

const NODES: [&str; 4] = ["x", "y", "primary-x", "master"];

#[derive(Clone, Debug)]
struct TaskSketch {
    is_stage: bool,
    /// Indices into [`NODES`].
    nodes: Vec<usize>,
    requires: Vec<usize>,
    required_for: Vec<usize>,
    /// Task, and which nodes: absent, `self`, null, or a node.
    cross: Vec<(usize, usize)>,
    crossed: Vec<(usize, usize)>,
}

const N_TASKS: usize = 5;

fn sketches() -> impl Strategy<Value = Vec<TaskSketch>> {
    let few = |max: usize| prop::collection::vec(0..N_TASKS, 0..max);
    let relations = || prop::collection::vec((0..N_TASKS, 0..3 + NODES.len()), 0..2);
    let nodes = prop::sample::subsequence(vec![0, 1, 2, 3], 1..=2);
    let sketch = (prop::bool::weighted(0.2), nodes, few(2), few(2), relations(), relations());
    let sketch = sketch.prop_map(|(is_stage, nodes, requires, required_for, cross, crossed)| TaskSketch {
        is_stage,
        nodes,
        requires,
        required_for,
        cross,
        crossed,
    });
    prop::collection::vec(sketch, N_TASKS)
}

fn name(task_idx: usize) -> String {
    format!("t{task_idx}")
}

fn relation((task_idx, target): &(usize, usize)) -> Json {
    let name = name(*task_idx);
    match target {
        0 => json!({"name": name}),
        1 => json!({"name": name, "role": "self"}),
        2 => json!({"name": name, "role": null}),
        node => json!({"name": name, "role": [NODES[*node - 3]]}),
    }
}

fn task(task_idx: usize, sketch: &TaskSketch) -> Task {
    let names = |tasks: &[usize]| tasks.iter().map(|other| name(*other)).collect::<Vec<_>>();
    let fields = json!({
        "type": if sketch.is_stage { "stage" } else { "shell" },
        "roles": sketch.nodes.iter().map(|node| NODES[*node]).collect::<Vec<_>>(),
        "requires": names(&sketch.requires),
        "required_for": names(&sketch.required_for),
        "cross_depends": sketch.cross.iter().map(relation).collect::<Vec<_>>(),
        "cross_depended_by": sketch.crossed.iter().map(relation).collect::<Vec<_>>(),
    });
    Task { name: name(task_idx), fields: fields.as_object().cloned().unwrap_or_default() }
}

/// Reports whether the tasks form a cycle, with one node per role that a task names; index 4 is the virtual
/// node of stages.
fn is_cyclic(sketches: &[TaskSketch]) -> bool {
    const SYNC: usize = 4;
    let has_instance = |task_idx: usize, node: usize| {
        let sketch = &sketches[task_idx];
        if sketch.is_stage { node == SYNC } else { sketch.nodes.contains(&node) }
    };
    let vertex = |task_idx: usize, node: usize| NodeIndex::new(task_idx * 5 + node);
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    (0..N_TASKS * 5).for_each(|_| _ = graph.add_node(()));
    for (task_idx, sketch) in sketches.iter().enumerate() {
        for node in (0..=SYNC).filter(|node| has_instance(task_idx, *node)) {
            let mut link = |other: usize, nodes: &[usize], is_backward: bool| {
                for other_node in nodes.iter().filter(|node| has_instance(other, **node) && other != task_idx)
                {
                    let (this, that) = (vertex(task_idx, node), vertex(other, *other_node));
                    if is_backward {
                        graph.add_edge(that, this, ())
                    } else {
                        graph.add_edge(this, that, ())
                    };
                }
            };
            sketch.requires.iter().for_each(|other| link(*other, &[node, SYNC], true));
            sketch.required_for.iter().for_each(|other| link(*other, &[node, SYNC], false));
            let mut cross = |relations: &[(usize, usize)], is_backward: bool| {
                for (other, target) in relations {
                    match target {
                        0 => link(*other, &[0, 1, 2], is_backward),
                        1 => link(*other, &[node], is_backward),
                        2 => link(*other, &[SYNC], is_backward),
                        target => link(*other, &[*target - 3], is_backward),
                    }
                }
            };
            cross(&sketch.cross, true);
            cross(&sketch.crossed, false);
        }
    }
    is_cyclic_directed(&graph)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cycle_errors_match_naive_search(sketches in sketches()) {
        let tasks: Vec<Task> = sketches.iter().enumerate().map(|(task_idx, sketch)| task(task_idx, sketch)).collect();
        let layers = [Layer::of_tasks(Source::Release, &tasks)];
        let options = GraphCheckOptions::new(Scope::Merged);
        let findings = check(&merge(&layers, MergeRules::default()), &options);
        let is_error = findings.iter().any(|f| f.code == codes::CYCLE && f.severity == Severity::Error);
        prop_assert_eq!(is_error, is_cyclic(&sketches), "{:?}", findings);
        prop_assert_eq!(check(&merge(&layers, MergeRules::default()), &options), findings, "checking is deterministic");
    }
}
