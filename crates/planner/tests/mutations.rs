//! Random mutations of single values: the planner must agree with an oracle that evaluates every condition
//! separately.

use crate::real;

use std::collections::HashMap;

use real::Cluster;
use stoker_model::Task;
use stoker_planner::{
    EvaluationSettings, InstanceAction, NodeInput, PlanningInput, evaluate, library, options, plan,
};
use stoker_state::{AppliedStates, Document, EffectiveState, master_document};
use stoker_yaql::value::{Map, MapBuilder};
use stoker_yaql::{Engine, Expression, Value};

/// Deterministic random numbers (`SplitMix64`).
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

/// The value with one random mutation at a random depth.
fn mutate(value: &Value, rng: &mut Rng) -> Value {
    match value {
        Value::FrozenDict(map) if !map.is_empty() => {
            let at = rng.below(map.len());
            let is_removed = rng.below(12) == 0;
            let mut builder = MapBuilder::default();
            for (entry_idx, (key, inner)) in map.iter().enumerate() {
                match entry_idx == at {
                    true if is_removed => {}
                    true => builder.insert(key.clone(), mutate(inner, rng)).expect("a key"),
                    false => builder.insert(key.clone(), inner.clone()).expect("a key"),
                }
            }
            Value::frozen_dict(builder.build())
        }
        Value::Tuple(items) if !items.is_empty() => {
            let (at, operation) = (rng.below(items.len()), rng.below(10));
            let mut items = items.to_vec();
            match operation {
                0 => _ = items.remove(at),
                1 => items.push(items[at].clone()),
                _ => items[at] = mutate(&items[at], rng),
            }
            Value::tuple(items)
        }
        // Sometimes the new value is equal but not identical.
        Value::Bool(flag) if rng.below(4) == 0 => Value::Int(i64::from(*flag)),
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Int(number) if rng.below(4) == 0 => Value::Float(*number as f64),
        Value::Int(number) => Value::Int(number + 1),
        Value::Str(text) => Value::from(format!("{text}x")),
        Value::Null => Value::from("something"),
        _ => Value::Null,
    }
}

struct Oracle {
    conditions: HashMap<String, Expression>,
}

impl Oracle {
    fn new(tasks: &[Task]) -> Self {
        let engine = Engine::new(library());
        let text = |task: &Task| Some(task.field("condition")?.get("yaql_exp")?.as_str()?.to_owned());
        let conditions =
            tasks.iter().filter_map(|task| Some((task.name.clone(), engine.compile(&text(task)?).ok()?)));
        Self { conditions: conditions.collect() }
    }

    /// Whether a task runs; `None` if the evaluation fails.
    fn runs(&self, task: &str, new: &EffectiveState, old: Option<&EffectiveState>) -> Option<bool> {
        match self.conditions.get(task) {
            Some(condition) => {
                evaluate(condition, new, old, &options(1000)).ok().map(|value| value.is_true())
            }
            None => Some(true),
        }
    }
}

/// Plans nodes with separate old states and compares every instance with the oracle. Returns how many
/// instances run.
fn check(
    tasks: &[Task],
    oracle: &Oracle,
    common: &Document,
    nodes: &[(NodeInput, Option<EffectiveState>)],
    seed: u64,
) -> usize {
    let mut old = AppliedStates::default();
    for (node, past) in nodes {
        if let Some(past) = past {
            old.set_node(&node.uid, past.clone(), None);
        }
    }
    let inputs = nodes.iter().map(|(node, _)| node.clone()).collect();
    let input = PlanningInput {
        old: Some(&old),
        settings: EvaluationSettings { n_threads: 2, ..EvaluationSettings::default() },
        ..PlanningInput::new(tasks, common.clone(), inputs)
    };
    let states: HashMap<&str, (EffectiveState, Option<&EffectiveState>)> = nodes
        .iter()
        .map(|(node, past)| {
            let new = EffectiveState { common: common.clone(), node: node.document.clone() };
            (node.uid.as_str(), (new, past.as_ref()))
        })
        .collect();
    let (plan, _) = match plan(&input) {
        Ok(planned) => planned,
        // A mutation of the new state can make an expression fail; then the oracle must fail there too.
        Err(report) => {
            let condition_errors = report.errors().filter(|problem| problem.location.path == "condition");
            for problem in condition_errors {
                let task = problem.location.task.as_deref().expect("a task");
                for uid in problem.location.nodes.iter().filter(|uid| states.contains_key(uid.as_str())) {
                    let (new, past) = &states[uid.as_str()];
                    assert_eq!(oracle.runs(task, new, *past), None, "seed {seed}: {problem}");
                }
            }
            return 0;
        }
    };
    let mut n_run = 0;
    let skipped = ["stage", "skipped"];
    for instance in plan.instances() {
        let Some((new, past)) = states.get(instance.node) else { continue };
        let task = tasks.iter().find(|task| task.name == instance.task).expect("a task");
        let is_skipped = task
            .field("type")
            .and_then(|task_type| task_type.as_str())
            .is_some_and(|task_type| skipped.contains(&task_type));
        let expected = !is_skipped && oracle.runs(instance.task, new, *past).expect("a value");
        let runs = instance.verdict.action() == InstanceAction::Run;
        assert_eq!(runs, expected, "seed {seed}: {instance}");
        n_run += usize::from(runs);
    }
    n_run
}

const N_OLD: usize = 2_000;
const N_NODES: usize = 250;
const N_NEW: usize = 60;

#[test]
fn mutated_old_states_match_the_oracle() {
    let (Some(now), Some(expected), Some(tasks)) =
        (Cluster::real(), real::expected_plans(), real::tasks("default-graph.yaml"))
    else {
        return;
    };
    let (bases, oracle) = (real::node_inputs(&now, &expected), Oracle::new(&tasks));
    let (mut rng, mut n_run) = (Rng(4), 0);
    for round in 0..N_OLD / N_NODES {
        let nodes: Vec<(NodeInput, Option<EffectiveState>)> = (0..N_NODES)
            .map(|number| {
                let base = &bases[rng.below(bases.len())];
                let (mut common, mut own) = (now.common.clone(), base.document.clone());
                if rng.below(3) == 0 {
                    own = Document::new(&mutate(own.value(), &mut rng));
                } else {
                    common = Document::new(&mutate(common.value(), &mut rng));
                }
                let node = NodeInput { uid: format!("{round}-{number}"), ..base.clone() };
                (node, Some(EffectiveState { common, node: own }))
            })
            .collect();
        n_run += check(&tasks, &oracle, &now.common, &nodes, round as u64);
    }
    println!("{N_OLD} mutations of the old state, {n_run} instances to run");
    assert!(n_run > N_OLD, "the tasks without a condition at least");
}

#[test]
fn mutated_new_states_match_the_oracle() {
    let (Some(now), Some(expected), Some(tasks)) =
        (Cluster::real(), real::expected_plans(), real::tasks("default-graph.yaml"))
    else {
        return;
    };
    let (bases, oracle) = (real::node_inputs(&now, &expected), Oracle::new(&tasks));
    for seed in 0..N_NEW {
        let mut rng = Rng(seed as u64 * 7919 + 1);
        let is_own = rng.below(2) == 0;
        let common =
            if is_own { now.common.clone() } else { Document::new(&mutate(now.common.value(), &mut rng)) };
        let nodes: Vec<(NodeInput, Option<EffectiveState>)> = bases
            .iter()
            .map(|base| {
                let past = EffectiveState { common: now.common.clone(), node: base.document.clone() };
                let document = if is_own && rng.below(3) == 0 {
                    Document::new(&mutate(base.document.value(), &mut rng))
                } else {
                    base.document.clone()
                };
                (NodeInput { document, ..base.clone() }, (rng.below(5) > 0).then_some(past))
            })
            .collect();
        check(&tasks, &oracle, &common, &nodes, seed as u64);
    }
}

/// Documents are compared by content, not by key order.
#[test]
fn key_order_is_not_a_change() {
    let Some(now) = Cluster::real() else { return };
    fn reversed(value: &Value) -> Value {
        match value {
            Value::FrozenDict(map) => {
                let mut entries: Vec<(String, Value)> = map
                    .iter()
                    .map(|(key, value)| (key.as_str().unwrap_or_default().to_owned(), reversed(value)))
                    .collect();
                entries.reverse();
                Value::frozen_dict(Map::from_strings(entries))
            }
            Value::Tuple(items) => Value::tuple(items.iter().map(reversed).collect()),
            other => other.clone(),
        }
    }
    let state = |common: Document| EffectiveState { common, node: master_document() };
    let (new, old) = (state(now.common.clone()), state(Document::new(&reversed(now.common.value()))));
    let engine = Engine::new(library());
    for text in [
        "changed($)",
        "changed($.network_metadata.nodes.values())",
        "changed($.values())",
        "changed($.keys())",
    ] {
        let value = evaluate(&engine.compile(text).expect("it parses"), &new, Some(&old), &options(10))
            .expect("a value");
        assert!(!value.is_true(), "{text}");
    }
}
