//! Applied states in doubt: an attempt that did not succeed, or an edited definition.

use crate::small;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use small::{input, node, old_of, planned, running, shell, state};
use stoker_model::{InstanceIdx, OnDefinitionChange, TaintCause, Task};
use stoker_planner::{
    Explainer, NodeInput, Plan, PlanExtras, PlanScope, PlanningInput, Reasons, plan, unknown_definitions,
};
use stoker_state::{AppliedGraph, AppliedStates, SourceDigests};

fn nodes() -> Vec<NodeInput> {
    ["1", "2"].map(|uid| node(uid, &[], json!({"uid": uid}))).into()
}

fn graph_of(tasks: &[Task]) -> Arc<AppliedGraph> {
    let tasks = tasks.iter().map(|task| (task.name.clone(), task.fields.clone())).collect();
    Arc::new(AppliedGraph { tasks, sources: None })
}

/// Both nodes with all tasks applied from a graph and a common document.
fn applied(graph: &[Task], common: &Json) -> AppliedStates {
    let mut applied = AppliedStates::default();
    let graph = applied.add_graph(graph_of(graph));
    for uid in ["1", "2"] {
        applied.set_node(uid, state(common, &json!({"uid": uid})), Some(graph));
    }
    applied
}

/// Reasons by instance; checks that explaining a single instance agrees.
fn reasons(input: &PlanningInput<'_>, plan: &Plan) -> BTreeMap<String, String> {
    let reasons = Reasons::new(input, plan);
    let options = Explainer::options(input);
    let explainer = Explainer::new(input, plan, &options);
    let texts = plan.instances().zip(0_u32..).map(|(instance, idx)| {
        let text = reasons.of(InstanceIdx::new(idx)).expect("a reason").to_string();
        assert_eq!(explainer.explain(&instance).to_string(), text, "{instance}");
        (instance.to_string(), text)
    });
    texts.collect()
}

fn condition(text: &str) -> Json {
    json!({"condition": {"yaql_exp": text}})
}

/// The title was `good`, an attempt with `bad` failed, and now it is `good` again: both nodes may hold `bad`.
#[test]
fn revert_after_a_failure_runs() {
    let tasks = [shell("write", condition("changed($.title)"))];
    let common = json!({"title": "good"});
    let mut old = applied(&tasks, &common);
    let planned_with = |old: &AppliedStates| {
        let input = PlanningInput { old: Some(old), ..input(&tasks, &common, &nodes()) };
        let plan = planned(&input);
        (running(&plan), reasons(&input, &plan))
    };
    assert!(planned_with(&old).0.is_empty());
    old.set_taint("write", "1", TaintCause::Failed, 12);
    let (runs, reasons) = planned_with(&old);
    assert_eq!(runs, ["write@1"]);
    assert_eq!(reasons["write@1"], "the last attempt failed (run 12): previous state unknown");
    assert_eq!(reasons["write@2"], "`$.title` has not changed");
    old.set_taint("write", "2", TaintCause::Unknown, 13);
    let (runs, reasons) = planned_with(&old);
    assert_eq!(runs, ["write@1", "write@2"]);
    assert_eq!(
        reasons["write@2"],
        "the result of the last attempt is unknown (run 13): previous state unknown"
    );
}

#[test]
fn a_taint_concerns_one_task() {
    let tasks = [shell("a", condition("changed($.x)")), shell("b", condition("changed($.x)"))];
    let common = json!({"x": 1});
    let mut old = applied(&tasks, &common);
    old.set_taint("b", "2", TaintCause::Interrupted, 3);
    old.set_taint("unknown", "2", TaintCause::Failed, 3);
    old.set_taint("a", "absent", TaintCause::Failed, 3);
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &common, &nodes()) };
    let (plan, report) = plan(&input).expect("a plan");
    assert_eq!(running(&plan), ["b@2"]);
    let extras = PlanExtras::new(&report);
    let doubts: Vec<(u32, &str)> =
        extras.doubts.iter().map(|(idx, doubt)| (*idx, doubt.cause.as_str())).collect();
    assert_eq!(doubts, [(3, "interrupted")]);
}

#[test]
fn an_edited_definition_runs() {
    let before = [shell("a", condition("changed($.x)")), shell("b", condition("changed($.x)"))];
    let mut after = before.clone();
    after[0].fields["parameters"]["cmd"] = json!("false");
    after[1].fields["condition"] = json!({"yaql_exp": "changed($.x) or false"});
    after[1].fields["parameters"]["timeout"] = json!(7);
    let common = json!({"x": 1});
    let old = applied(&before, &common);
    let rerun = PlanningInput { old: Some(&old), ..input(&after, &common, &nodes()) };
    let plan = planned(&rerun);
    assert_eq!(running(&plan), ["a@1", "a@2"]);
    assert_eq!(reasons(&rerun, &plan)["a@2"], "its definition changed: `parameters.cmd`");
    let keep = PlanningInput { on_definition_change: OnDefinitionChange::Keep, ..rerun.clone() };
    assert!(running(&planned(&keep)).is_empty());
    // The condition decides: a change that it does not observe is not planned.
    let quiet = [shell("a", json!({"condition": {"yaql_exp": "$.x = 2"}, "parameters": {"cmd": "other"}}))];
    let input = PlanningInput { old: Some(&old), ..input(&quiet, &common, &nodes()) };
    assert!(running(&planned(&input)).is_empty());
}

/// Only the node whose last success had another definition is in doubt.
#[test]
fn definitions_are_per_success() {
    let before = [shell("a", condition("changed($.x)"))];
    let mut after = before.clone();
    after[0].fields["parameters"]["cmd"] = json!("false");
    let common = json!({"x": 1});
    let mut old = applied(&after, &common);
    let earlier = old.add_graph(graph_of(&before));
    old.set_tasks(["a"], "2", Some((state(&common, &json!({"uid": "2"})), Some(earlier))));
    let input = PlanningInput { old: Some(&old), ..input(&after, &common, &nodes()) };
    assert_eq!(running(&planned(&input)), ["a@2"]);
}

/// `deleted()` is never true without an old state, so a clean-up that failed needs the state before it.
#[test]
fn a_failed_clean_up_runs_again() {
    let tasks = [shell(
        "clean",
        json!({
            "condition": {"yaql_exp": "deleted($.users)"},
            "parameters": {"cmd": {"yaql_exp": "'userdel ' + deleted($.users).join(' ')"}},
        }),
    )];
    let before = json!({"users": ["ada", "bob"]});
    let after = json!({"users": ["ada"]});
    let mut old = applied(&tasks, &before);
    old.set_taint("clean", "1", TaintCause::TimedOut, 4);
    let dirty = PlanningInput { old: Some(&old), ..input(&tasks, &after, &nodes()) };
    let plan = planned(&dirty);
    assert_eq!(running(&plan), ["clean@1", "clean@2"]);
    let commands: Vec<&Json> = plan
        .instances()
        .map(|instance| &plan.details(instance.idx).expect("details").parameters["cmd"])
        .collect();
    assert_eq!(commands, ["userdel bob", "userdel bob"]);
    let reason = &reasons(&dirty, &plan)["clean@1"];
    assert!(reason.ends_with("(compared with the state before the last attempt)"), "{reason}");
    let reason = &reasons(&dirty, &plan)["clean@2"];
    assert!(!reason.contains("compared with"), "{reason}");
    // An edit and a removal together.
    let mut edited = tasks.clone();
    edited[0].fields["parameters"]["env"] = json!({"A": "1"});
    let input = PlanningInput { old: Some(&old), ..input(&edited, &after, &nodes()) };
    assert_eq!(running(&planned(&input)), ["clean@1", "clean@2"]);
    // Nothing to clean up.
    let input = PlanningInput { old: Some(&old), ..small::input(&tasks, &before, &nodes()) };
    assert!(running(&planned(&input)).is_empty());
}

#[test]
fn a_task_that_never_succeeded_has_no_second_look() {
    let tasks = [shell("a", condition("changed($.x)")), shell("b", condition("deleted($.x)"))];
    let common = json!({"x": [1]});
    let mut old = old_of(&[]);
    for task in ["a", "b"] {
        old.set_taint(task, "1", TaintCause::Failed, 4);
    }
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &common, &nodes()) };
    let plan = planned(&input);
    assert_eq!(running(&plan), ["a@1", "a@2"]);
    let reasons = reasons(&input, &plan);
    assert_eq!(reasons["a@1"], "the last attempt failed (run 4): previous state unknown");
    assert_eq!(reasons["a@2"], "`$.x` is new: the task has never succeeded on this node");
}

#[test]
fn force_says_so() {
    let tasks = [shell("a", condition("changed($.x)")), shell("b", json!({}))];
    let common = json!({"x": 1});
    let mut old = applied(&tasks, &common);
    old.set_taint("a", "1", TaintCause::Failed, 4);
    let request = PlanScope { force: true, ..PlanScope::default() };
    let input = PlanningInput { old: Some(&old), request, ..input(&tasks, &common, &nodes()) };
    let plan = planned(&input);
    let reasons = reasons(&input, &plan);
    for uid in ["1", "2"] {
        assert_eq!(reasons[&format!("a@{uid}")], "forced: applied states are ignored");
        assert_eq!(reasons[&format!("b@{uid}")], "the task has no condition");
    }
}

/// A whole graph edited on many nodes: one more subject per node, not one per task.
#[test]
fn redefinition_of_all_tasks_shares_evaluations() {
    let tasks: Vec<Task> =
        (0..100).map(|number| shell(&format!("t{number:03}"), condition("changed($.x)"))).collect();
    let mut edited = tasks.clone();
    for task in &mut edited {
        task.fields["parameters"]["cmd"] = json!("false");
    }
    let nodes: Vec<NodeInput> =
        (1..=300).map(|id| node(&id.to_string(), &[], json!({"uid": id.to_string()}))).collect();
    let mut old = AppliedStates::default();
    let graph = old.add_graph(graph_of(&tasks));
    for node in &nodes {
        old.set_node(&node.uid, state(&json!({"x": 1}), &json!({"uid": node.uid})), Some(graph));
    }
    let input = PlanningInput { old: Some(&old), ..input(&edited, &json!({"x": 1}), &nodes) };
    let (plan, report) = plan(&input).expect("a plan");
    assert_eq!(running(&plan).len(), 100 * 300);
    assert!(report.n_evaluations <= 200, "{}", report.n_evaluations);
    assert_eq!(Reasons::new(&input, &plan).explanations().len(), 1);
}

const CONDITIONS: &[&str] = &[
    "changed($.x)",
    "changed($.own)",
    "not changed($.x)",
    "changed($.absent.path)",
    "changed($)",
    "deleted($.list)",
    "old($.x) = 1 and $.x = 2",
    "changedAny($.x, $.own.a)",
    "changedAll($.x, $.own)",
    "$.own.a > 1 or changed($.list)",
    "changed($.node_specific)",
];

fn common() -> impl Strategy<Value = Json> {
    (0_i64..3, prop::collection::vec(0_i64..3, 0..3)).prop_map(|(x, list)| json!({"x": x, "list": list}))
}

fn own() -> impl Strategy<Value = Json> {
    (0_i64..3, any::<bool>()).prop_map(|(a, has_more)| {
        if has_more { json!({"own": {"a": a}, "node_specific": a}) } else { json!({"own": {"a": a}}) }
    })
}

#[derive(Clone, Debug)]
struct Case {
    tasks: Vec<Task>,
    common: Json,
    own: Vec<Json>,
    /// Per node: old common and own document, whether the applied graph was another one.
    past: Vec<Option<(Json, Json, bool)>>,
    /// Per node and task.
    tainted: Vec<(usize, usize)>,
    never: Vec<(usize, usize)>,
}

fn case() -> impl Strategy<Value = Case> {
    let task = (prop::sample::select(CONDITIONS), any::<bool>());
    let pairs = || prop::collection::vec((0_usize..5, 0_usize..4), 0..5);
    let past = prop::option::weighted(0.8, (common(), own(), any::<bool>()));
    (
        prop::collection::vec(task, 1..4),
        common(),
        prop::collection::vec(own(), 5),
        prop::collection::vec(past, 5),
        pairs(),
        pairs(),
    )
        .prop_map(|(tasks, common, own, past, tainted, never)| {
            let parameters = |reads_old: bool| {
                let command = if reads_old { "str(deleted($.list))" } else { "str($.own.a)" };
                json!({"cmd": {"yaql_exp": command}})
            };
            let tasks = tasks.into_iter().enumerate().map(|(number, (text, reads_old))| {
                let mut more = condition(text);
                more["parameters"] = parameters(reads_old);
                shell(&format!("t{number}"), more)
            });
            Case { tasks: tasks.collect(), common, own, past, tainted, never }
        })
}

impl Case {
    fn nodes(&self) -> Vec<NodeInput> {
        let nodes = self.own.iter().enumerate();
        nodes.map(|(number, own)| node(&number.to_string(), &[], own.clone())).collect()
    }

    fn applied(&self) -> AppliedStates {
        let mut applied = AppliedStates::default();
        let now = applied.add_graph(graph_of(&self.tasks));
        let mut edited = self.tasks.clone();
        edited[0].fields["parameters"] = json!({"cmd": "before"});
        let before = applied.add_graph(graph_of(&edited));
        for (number, past) in self.past.iter().enumerate() {
            let Some((common, own, is_edited)) = past else { continue };
            let graph = if *is_edited { before } else { now };
            applied.set_node(&number.to_string(), state(common, own), Some(graph));
        }
        for (number, task) in &self.never {
            applied.set_tasks([format!("t{task}").as_str()], &number.to_string(), None);
        }
        for (number, task) in &self.tainted {
            applied.set_taint(&format!("t{task}"), &number.to_string(), TaintCause::Failed, 1);
        }
        applied
    }
}

/// Verdicts and parameters by instance, of the ordinary nodes.
fn decisions(plan: &Plan) -> BTreeMap<String, String> {
    let instances = plan.instances().filter(|instance| instance.node != "master");
    instances
        .map(|instance| {
            let parameters = plan.details(instance.idx).map(|details| details.parameters.clone());
            (instance.to_string(), format!("{:?} {parameters:?}", instance.verdict))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A plan for the fleet shares evaluations between nodes; plans of single nodes cannot.
    #[test]
    fn sharing_evaluations_changes_no_decision(case in case()) {
        let (nodes, applied) = (case.nodes(), case.applied());
        let whole = PlanningInput { old: Some(&applied), ..input(&case.tasks, &case.common, &nodes) };
        let plan = planned(&whole);
        let mut single = BTreeMap::new();
        let mut single_reasons = BTreeMap::new();
        for node in &nodes {
            let alone = std::slice::from_ref(node);
            let input = PlanningInput { old: Some(&applied), ..input(&case.tasks, &case.common, alone) };
            let plan = planned(&input);
            single.extend(decisions(&plan));
            single_reasons.extend(reasons(&input, &plan));
        }
        prop_assert_eq!(decisions(&plan), single);
        prop_assert_eq!(reasons(&whole, &plan), single_reasons);
    }
}

/// Successes of earlier versions have no definition, or none of files.
#[test]
fn skipped_tasks_with_unknown_definitions_are_counted() {
    let changed = || condition("changed($.title)");
    let tasks = [shell("a", changed()), shell("b", changed()), shell("c", condition("true"))];
    let (common, nodes) = (json!({"title": "good"}), nodes());
    let message = |old: &AppliedStates, prepare: &dyn Fn(&mut PlanningInput<'_>)| {
        let mut input = PlanningInput { old: Some(old), ..input(&tasks, &common, &nodes) };
        prepare(&mut input);
        unknown_definitions(&input, &planned(&input)).map(|note| note.message)
    };
    let with_graph = |graph: Option<AppliedGraph>| {
        let mut old = AppliedStates::default();
        let graph = graph.map(|graph| old.add_graph(Arc::new(graph)));
        for uid in ["1", "2"] {
            old.set_node(uid, state(&common, &json!({"uid": uid})), graph);
        }
        old
    };
    let of = |n_tasks: &str| {
        Some(format!(
            "the definition with which {n_tasks} last succeeded is not recorded, so edits since then are not noticed"
        ))
    };
    let none = with_graph(None);
    assert_eq!(message(&none, &|_| ()), of("2 tasks"), "one task runs anyway");
    assert_eq!(message(&none, &|input| input.request.force = true), None);
    assert_eq!(message(&none, &|input| input.on_definition_change = OnDefinitionChange::Keep), None);
    let partial = AppliedGraph { tasks: graph_of(&tasks[..1]).tasks.clone(), sources: None };
    assert_eq!(message(&with_graph(Some(partial)), &|_| ()), of("a task"));
    let complete =
        AppliedGraph { tasks: graph_of(&tasks).tasks.clone(), sources: Some(SourceDigests::default()) };
    assert_eq!(message(&with_graph(Some(complete)), &|_| ()), None);
    let without_sources =
        with_graph(Some(AppliedGraph { tasks: graph_of(&tasks).tasks.clone(), sources: None }));
    assert_eq!(message(&without_sources, &|_| ()), None, "no task uses files");
    let files = |input: &mut PlanningInput<'_>| {
        input.sources.files.entry("a".to_owned()).or_default().insert("/f".to_owned(), "1".to_owned());
    };
    assert_eq!(message(&without_sources, &files), of("a task"));
}
