//! `inputsChanged()`: rendered parameters and definitions, compared with those of the last success.

#![allow(clippy::needless_pass_by_value, reason = "tests read better with fields written in place")]

use crate::small;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use small::{document, input, node, planned, refused, running, shell, state};
use stoker_model::{InstanceIdx, TaintCause, Task};
use stoker_planner::{
    ChangedInstances, DetailsIdx, Explainer, FileDigests, InputsKey, NodeInput, OldInputs, Plan, PlanScope,
    PlannedTask, PlanningInput, Reasons, SettledDocuments, StateAfterRun, input_changes, inputs_digest,
    inputs_document, inputs_of, plan,
};
use stoker_state::{AppliedGraph, AppliedStates, Secrets};

const KEY: InputsKey = InputsKey([3; 32]);

fn nodes() -> Vec<NodeInput> {
    ["1", "2"].map(|uid| node(uid, &[], json!({"uid": uid}))).into()
}

/// A task that runs if its inputs changed.
fn task(name: &str, parameters: Json) -> Task {
    shell(name, json!({"version": "3.0.0", "parameters": parameters}))
}

/// Plans, and records the successes of all running instances as a server does.
fn apply(input: &PlanningInput<'_>, common: &Json, applied: &mut AppliedStates) -> Vec<String> {
    let (plan, report) = plan(input).unwrap_or_else(|report| panic!("{:#?}", report.problems));
    let tasks = input.tasks.iter().map(|task| (task.name.clone(), task.fields.clone())).collect();
    let graph = applied.add_graph(Arc::new(AppliedGraph { tasks, sources: None }));
    for instance in plan.instances() {
        let Some(details) = plan.details(instance.idx) else { continue };
        let own = &input.nodes.iter().find(|node| node.uid == instance.node).expect("a node").document;
        let state = stoker_state::EffectiveState { common: document(common), node: own.clone() };
        applied.set_tasks([instance.task], instance.node, Some((state, Some(graph))));
        let planned_task = plan.tasks.iter().find(|task| task.name == instance.task).expect("a task");
        let details_idx = planned_task.details.iter().position(|other| std::ptr::eq(other, details));
        let steady = report.steady.get(instance.task);
        let steady = steady.and_then(|steady| steady.get(&(details_idx.expect("details") as u32)));
        let inputs = steady.cloned().unwrap_or_else(|| inputs_of(&details.parameters));
        let digest = inputs_digest(&details.task_type, &inputs, &input.inputs_key);
        applied.set_inputs(instance.task, instance.node, digest);
    }
    running(&plan)
}

/// Checks which instances run first, again, and after a change of the common document.
fn check(tasks: &[Task], before: &Json, after: &Json, expected: &[&str]) {
    let mut applied = AppliedStates::default();
    let mut run = |common: &Json| {
        let old = applied.clone();
        let input = PlanningInput { old: Some(&old), inputs_key: KEY, ..input(tasks, common, &nodes()) };
        apply(&input, common, &mut applied)
    };
    assert_eq!(run(before).len(), 2 * tasks.len(), "first run");
    assert!(run(before).is_empty(), "nothing changed");
    assert_eq!(run(after), expected);
    assert!(run(after).is_empty(), "after the change");
}

#[test]
fn only_rendered_parameters_matter() {
    let tasks = [
        task("fixed", json!({"cmd": "true"})),
        task("reads", json!({"cmd": {"yaql_exp": "$.title"}, "timeout": {"yaql_exp": "$.seconds"}})),
    ];
    let before = json!({"title": "a", "seconds": 1, "other": 1});
    check(&tasks, &before, &json!({"title": "a", "seconds": 2, "other": 2}), &[]);
    check(&tasks, &before, &json!({"title": "b", "seconds": 1, "other": 1}), &["reads@1", "reads@2"]);
}

/// The run that applies a change renders what was added; the plan after it renders nothing.
#[test]
fn parameters_that_read_the_old_state_converge() {
    let tasks = [
        task("add", json!({"cmd": {"yaql_exp": "'useradd ' + added($.users).join(' ')"}})),
        task("compare", json!({"cmd": {"yaql_exp": "str(old($.users)) + str(changed($.users))"}})),
    ];
    let (before, after) = (json!({"users": ["ada"]}), json!({"users": ["ada", "bob"]}));
    check(&tasks, &before, &after, &["compare@1", "compare@2"]);
}

#[test]
fn inputs_can_be_combined_with_other_conditions() {
    let with = |text: &str| {
        let mut task = task("t", json!({"cmd": {"yaql_exp": "$.title"}}));
        task.fields.insert("condition".to_owned(), json!({"yaql_exp": text}));
        task
    };
    let changed = |text: &str, after: &Json| {
        let mut applied = AppliedStates::default();
        let tasks = [with("inputsChanged()")];
        let before = json!({"title": "a", "x": 1});
        apply(&PlanningInput { inputs_key: KEY, ..input(&tasks, &before, &nodes()) }, &before, &mut applied);
        let tasks = [with(text)];
        let input = PlanningInput { old: Some(&applied), inputs_key: KEY, ..input(&tasks, after, &nodes()) };
        let plan = planned(&input);
        explained(&input, &plan);
        running(&plan).len()
    };
    let (same, other) = (json!({"title": "a", "x": 2}), json!({"title": "b", "x": 1}));
    for (text, n_same, n_other) in [
        ("inputsChanged()", 0, 2),
        ("not inputsChanged()", 2, 0),
        ("inputsChanged() or changed($.x)", 2, 2),
        ("inputsChanged() and changed($.x)", 0, 0),
        ("changedAny(inputsChanged(), $.x)", 2, 0),
        ("inputsChanged() in [true]", 0, 2),
        ("let(x => inputsChanged()) -> $x", 0, 2),
        ("def(f, inputsChanged()) -> f()", 0, 2),
        ("true", 2, 2),
    ] {
        assert_eq!((changed(text, &same), changed(text, &other)), (n_same, n_other), "{text}");
    }
}

#[test]
fn versions_are_compared_as_numbers() {
    let runs = |version: Json, condition: Option<Json>| {
        let mut fields = json!({"version": version});
        if let Some(condition) = condition {
            fields["condition"] = condition;
        }
        let tasks = [shell("t", fields)];
        let mut applied = AppliedStates::default();
        for uid in ["1", "2"] {
            applied.set_node(uid, state(&json!({}), &json!({"uid": uid})), None);
        }
        !running(&planned(&PlanningInput { old: Some(&applied), ..input(&tasks, &json!({}), &nodes()) }))
            .is_empty()
    };
    for version in ["3.0.0", "3.1.2", "10.0.0"] {
        assert!(!runs(json!(version), None), "{version}");
        assert!(!runs(json!(version), Some(Json::Null)), "{version}");
        assert!(!runs(json!(version), Some(json!(""))), "{version}");
        assert!(runs(json!(version), Some(json!(true))), "{version}");
    }
    for version in ["2.9.9", "1.0.0", "0.0.0", "", "three", "v3"] {
        assert!(runs(json!(version), None), "{version}");
    }
    assert!(runs(Json::Null, None));
    assert!(!runs(json!(3), None));
}

#[test]
fn doubt_and_force_count_as_changes() {
    let tasks = [task("t", json!({"cmd": {"yaql_exp": "$.title"}}))];
    let common = json!({"title": "a"});
    let mut applied = AppliedStates::default();
    apply(&PlanningInput { inputs_key: KEY, ..input(&tasks, &common, &nodes()) }, &common, &mut applied);
    let base = |old| PlanningInput { old, inputs_key: KEY, ..input(&tasks, &common, &nodes()) };
    assert!(running(&planned(&base(Some(&applied)))).is_empty());
    let mut tainted = applied.clone();
    tainted.set_taint("t", "2", TaintCause::Cancelled, 8);
    let with_taint = base(Some(&tainted));
    let plan = planned(&with_taint);
    assert_eq!(running(&plan), ["t@2"]);
    let reasons = explained(&with_taint, &plan);
    assert_eq!(reasons["t@2"], "the last attempt was cancelled (run 8): previous state unknown");
    assert_eq!(reasons["t@1"], "its inputs have not changed");
    let request = PlanScope { force: true, ..PlanScope::default() };
    let forced = PlanningInput { request, ..base(Some(&applied)) };
    let plan = planned(&forced);
    assert_eq!(explained(&forced, &plan)["t@1"], "forced: applied states are ignored");
    // An edit of the definition, with equal rendered parameters.
    let mut edited = tasks.clone();
    edited[0].fields["parameters"]["cmd"] = json!({"yaql_exp": "str($.title)"});
    let input = PlanningInput { old: Some(&applied), inputs_key: KEY, ..input(&edited, &common, &nodes()) };
    let plan = planned(&input);
    assert_eq!(explained(&input, &plan)["t@1"], "its definition changed: `parameters.cmd`");
    // Another key makes all recorded fingerprints differ.
    let other_key = PlanningInput { inputs_key: InputsKey::default(), ..base(Some(&applied)) };
    let plan = planned(&other_key);
    assert_eq!(explained(&other_key, &plan)["t@1"], "its inputs changed");
}

#[test]
fn conditions_guard_parameters_that_cannot_be_rendered() {
    let guarded = |text: &str| {
        let more =
            json!({"condition": {"yaql_exp": text}, "parameters": {"cmd": {"yaql_exp": "$.section.title"}}});
        [shell("t", more)]
    };
    let common = json!({"x": 1});
    let tasks = guarded("$.get(section) and inputsChanged()");
    assert!(running(&planned(&input(&tasks, &common, &nodes()))).is_empty());
    let report = refused(&input(&guarded("inputsChanged()"), &common, &nodes()));
    assert!(report.problems[0].message.contains("section"), "{}", report.problems[0].message);
    // Parameters cannot depend on themselves.
    let tasks = [shell("t", json!({"parameters": {"cmd": {"yaql_exp": "str(inputsChanged())"}}}))];
    let report = refused(&input(&tasks, &common, &nodes()));
    assert!(
        report.problems[0].help.as_deref().is_some_and(|help| help.contains("conditions")),
        "{:?}",
        report.problems
    );
}

/// Without recorded fingerprints, the parameters are rendered over the applied state.
#[test]
fn successes_without_fingerprints_are_rendered_again() {
    let tasks = [task("t", json!({"cmd": {"yaql_exp": "$.title + $.uid"}}))];
    let mut applied = AppliedStates::default();
    applied.set_node("1", state(&json!({"title": "a"}), &json!({"uid": "1"})), None);
    applied.set_node("2", state(&json!({"title": "b"}), &json!({"uid": "2"})), None);
    let runs = |title: &str| {
        let common = json!({"title": title});
        running(&planned(&PlanningInput { old: Some(&applied), ..input(&tasks, &common, &nodes()) }))
    };
    assert_eq!(runs("a"), ["t@2"]);
    assert_eq!(runs("b"), ["t@1"]);
    assert_eq!(runs("c"), ["t@1", "t@2"]);
}

/// Statuses before the run are not part of the recorded inputs.
#[test]
fn inputs_are_rendered_with_the_statuses_after_the_run() {
    let tasks = [task("t", json!({"cmd": {"yaql_exp": "$.nodes.status.join(',')"}}))];
    let (before, after) =
        (json!({"nodes": [{"status": "discover"}]}), json!({"nodes": [{"status": "ready"}]}));
    let mut applied = AppliedStates::default();
    let after_run = StateAfterRun::new(|nodes| {
        assert_eq!(*nodes, BTreeSet::from(["1", "2"]), "nodes with tasks");
        Some(SettledDocuments { common: document(&after), own: BTreeMap::new() })
    });
    let first =
        PlanningInput { after_run: after_run.clone(), inputs_key: KEY, ..input(&tasks, &before, &nodes()) };
    assert_eq!(apply(&first, &before, &mut applied), ["t@1", "t@2"]);
    let second =
        PlanningInput { old: Some(&applied), after_run, inputs_key: KEY, ..input(&tasks, &after, &nodes()) };
    assert!(running(&planned(&second)).is_empty());
}

#[test]
fn contents_of_copied_files_are_inputs() {
    let parameters = json!({"files": [{"src": {"yaql_exp": "'/etc/' + $.name"}, "dst": "/etc/motd"}]});
    let tasks = [shell("t", json!({"type": "copy_files", "version": "3.0.0", "parameters": parameters}))];
    let common = json!({"name": "motd"});
    let with = |digest: &'static str| {
        let files = FileDigests::new(move |path| (path == "/etc/motd").then(|| digest.to_owned()));
        PlanningInput { files, inputs_key: KEY, ..input(&tasks, &common, &nodes()) }
    };
    let mut applied = AppliedStates::default();
    apply(&with("1"), &common, &mut applied);
    let planned_with =
        |digest| running(&planned(&PlanningInput { old: Some(&applied), ..with(digest) })).len();
    assert_eq!((planned_with("1"), planned_with("2")), (0, 2));
}

#[test]
fn changes_are_grouped_over_equal_nodes() {
    let tasks = [task("t", json!({"cmd": {"yaql_exp": "$.title"}}))];
    let nodes: Vec<NodeInput> = ["1", "2", "3"].map(|uid| node(uid, &[], json!({"uid": uid}))).into();
    let plan = planned(&input(&tasks, &json!({"title": "new"}), &nodes));
    let mut old = OldInputs::default();
    let document = old.add(json!({"cmd": "old"}).as_object().cloned().unwrap_or_default());
    old.set("t", "1", document);
    old.set("t", "3", document);
    let new = |task: &PlannedTask, details_idx: DetailsIdx| {
        let parameters = &task.details[details_idx.index()].parameters;
        inputs_document(&inputs_of(parameters), &Secrets::default(), &KEY)
    };
    let (changes, of) = input_changes(&plan, &old, new);
    assert_eq!(of, [(0, 1, 0), (1, 1, 1), (2, 1, 0)].map(ChangedInstances::from));
    assert_eq!(changes[0].differences[0].to_string(), "cmd changed from old to new");
    assert_eq!((changes[0].is_first, changes[1].is_first), (false, true));
    let (changes, of) = input_changes(&plan, &OldInputs::default(), new);
    assert_eq!((changes.len(), of), (1, vec![ChangedInstances::from((0, 3, 0))]));
}

/// Reasons by instance; checks that explaining a single instance agrees.
fn explained(input: &PlanningInput<'_>, plan: &Plan) -> BTreeMap<String, String> {
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

const COMMANDS: &[&str] = &[
    "$.title",
    "str($.own)",
    "str(added($.list))",
    "str(old($.own)) + $.title",
    "str($.own > 1)",
    "str($.list.len())",
];
const CONDITIONS: &[&str] = &[
    "inputsChanged()",
    "not inputsChanged()",
    "inputsChanged() or changed($.own)",
    "$.own = 1 and inputsChanged()",
];

fn common() -> impl Strategy<Value = Json> {
    (prop::sample::select(vec!["a", "b"]), prop::collection::vec(0_i64..3, 0..3))
        .prop_map(|(title, list)| json!({"title": title, "list": list}))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A plan for the fleet shares evaluations between nodes; plans of single nodes cannot.
    #[test]
    fn sharing_evaluations_changes_no_decision(
        tasks in prop::collection::vec((prop::sample::select(COMMANDS), prop::sample::select(CONDITIONS)), 1..4),
        (before, after) in (common(), common()),
        own_before in prop::collection::vec(0_i64..3, 5),
        own_after in prop::collection::vec(0_i64..3, 5),
        has_run in prop::collection::vec(any::<bool>(), 5),
    ) {
        let tasks: Vec<Task> = tasks.into_iter().enumerate().map(|(number, (command, condition))| {
            let parameters = json!({"cmd": {"yaql_exp": command}});
            shell(&format!("t{number}"), json!({"condition": {"yaql_exp": condition}, "parameters": parameters}))
        }).collect();
        let fleet = |own: &[i64]| -> Vec<NodeInput> {
            own.iter().enumerate().map(|(uid, own)| node(&uid.to_string(), &[], json!({"own": own}))).collect()
        };
        let mut applied = AppliedStates::default();
        let first: Vec<NodeInput> =
            fleet(&own_before).into_iter().zip(has_run).filter(|(_, has_run)| *has_run).map(|(node, _)| node).collect();
        apply(&PlanningInput { inputs_key: KEY, ..input(&tasks, &before, &first) }, &before, &mut applied);
        let nodes = fleet(&own_after);
        let whole = PlanningInput { old: Some(&applied), inputs_key: KEY, ..input(&tasks, &after, &nodes) };
        let plan = planned(&whole);
        let mut single = BTreeMap::new();
        let mut single_runs = Vec::new();
        for node in &nodes {
            let alone = std::slice::from_ref(node);
            let input = PlanningInput { old: Some(&applied), inputs_key: KEY, ..input(&tasks, &after, alone) };
            let plan = planned(&input);
            single_runs.extend(running(&plan));
            single.extend(explained(&input, &plan));
        }
        let mut runs = running(&plan);
        runs.sort();
        single_runs.sort();
        prop_assert_eq!(runs, single_runs);
        prop_assert_eq!(explained(&whole, &plan), single);
    }
}
