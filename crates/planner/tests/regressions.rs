//! Regression tests for bugs of the predecessor's planner.

use crate::small;

use serde_json::{Value as Json, json};
use small::{document, edges, input, node, old_of, planned, refused, running, shell, state, task};
use stoker_model::InstanceIdx;
use stoker_planner::{NodeInput, PlanScope, PlanningInput, Reasons, Subgraph, Verdict, codes, plan};
use stoker_yaql::json::parse;

fn nodes() -> Vec<NodeInput> {
    vec![
        node("1", &["primary-controller"], json!({"uid": "1"})),
        node("2", &["compute"], json!({"uid": "2"})),
    ]
}

/// Bug: a filter that selected no node ran the graph on all nodes.
#[test]
fn node_filter_without_matches_selects_no_nodes() {
    let tasks = [shell("a", json!({})), task("m", json!({"type": "shell", "roles": ["master"]}))];
    let with_record = |mut node: NodeInput| {
        node.record = Some(parse(r#"{"status": "ready", "id": 1}"#).expect("JSON"));
        node
    };
    let nodes: Vec<NodeInput> = nodes().into_iter().map(with_record).collect();
    let filtered = |filter: &'static str| PlanningInput {
        node_filter: Some(filter),
        ..input(&tasks, &json!({}), &nodes)
    };
    assert_eq!(running(&planned(&filtered("$.status = 'error'"))), ["m@master"]);
    assert_eq!(running(&planned(&filtered("$.status = 'ready'"))), ["a@1", "a@2", "m@master"]);
    assert_eq!(running(&planned(&filtered("  "))), ["a@1", "a@2", "m@master"]);
    let report = refused(&filtered("$.nothing.at.all"));
    assert_eq!(report.problems[0].code, codes::NODE_FILTER);
}

/// An explicit empty list selects no nodes; tasks on the master still run.
#[test]
fn empty_node_list_selects_no_nodes() {
    let tasks = [shell("a", json!({})), task("m", json!({"type": "shell", "roles": "master"}))];
    let request = PlanScope { nodes: Some(Vec::new()), ..PlanScope::default() };
    let input = PlanningInput { request, ..input(&tasks, &json!({}), &nodes()) };
    assert_eq!(running(&planned(&input)), ["m@master"]);
}

/// Bug: the condition was tested before its expression was evaluated.
#[test]
fn computed_conditions_are_evaluated() {
    let computed = |text: &str| json!({"condition": {"yaql_exp": text}});
    let tasks = [
        shell("no", computed("false")),
        shell("yes", computed("$.uid = '2'")),
        shell("text", json!({"condition": false})),
    ];
    assert_eq!(running(&planned(&input(&tasks, &json!({}), &nodes()))), ["yes@2"]);
}

/// Parameters are computed only for instances that run, so a condition can guard them.
#[test]
fn false_condition_guards_parameters() {
    let parameters = json!({"cmd": {"yaql_exp": "$.absent.value"}});
    let guarded =
        shell("a", json!({"condition": {"yaql_exp": "'absent' in $.keys()"}, "parameters": parameters}));
    assert_eq!(running(&planned(&input(&[guarded], &json!({}), &nodes()))), [""; 0]);
    let report = refused(&input(&[shell("a", json!({"parameters": parameters}))], &json!({}), &nodes()));
    let problem = &report.problems[0];
    assert_eq!(
        (problem.location.path.as_str(), &problem.location.nodes[..]),
        ("parameters.cmd", &["1".to_owned(), "2".to_owned()][..])
    );
    assert!(problem.location.expression.is_some());
}

/// Bug: dependencies in expressions were not evaluated for skipped tasks, so their order was lost.
#[test]
fn skipped_tasks_keep_computed_dependencies() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"type": "skipped", "requires": {"yaql_exp": "['a']"}})),
        shell(
            "c",
            json!({"requires": ["b"], "condition": false, "cross_depends": {"yaql_exp": "[{name => a, role => null}]"}}),
        ),
    ];
    let plan = planned(&input(&tasks, &json!({}), &nodes()[..1]));
    assert_eq!(edges(&plan), ["a@1 -> b@1", "b@1 -> c@1"]);
}

/// Bug: the old state came from the wrong run. It must be that of the last success of each task on each node.
#[test]
fn old_state_is_per_task_and_node() {
    let changed = json!({"condition": {"yaql_exp": "changed($.x)"}});
    let tasks = [shell("a", changed.clone()), shell("b", changed)];
    let (now, before) = (json!({"x": 2}), json!({"x": 1}));
    let own = |uid: &str| json!({"uid": uid});
    let mut old = old_of(&[("1", state(&now, &own("1"))), ("2", state(&now, &own("2")))]);
    old.set_tasks(["b"], "2", Some((state(&before, &own("2")), None)));
    old.set_tasks(["a"], "1", None);
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &now, &nodes()) };
    assert_eq!(running(&planned(&input)), ["a@1", "b@2"]);
}

/// A path that only some nodes have is unchanged on the others.
#[test]
fn paths_that_some_nodes_lack_do_not_fail() {
    let tasks = [shell("a", json!({"condition": {"yaql_exp": "changed($.disks.sdb)"}}))];
    let own = |disks: Json| json!({"disks": disks});
    let nodes = [
        node("1", &[], own(json!({}))),
        node("2", &[], own(json!({"sdb": 1}))),
        node("3", &[], own(json!({}))),
        node("4", &[], own(json!({"sdb": 1}))),
        node("5", &[], json!({})),
    ];
    let old = old_of(&[
        ("1", state(&json!({}), &own(json!({})))),
        ("2", state(&json!({}), &own(json!({})))),
        ("3", state(&json!({}), &own(json!({"sdb": 1})))),
        ("4", state(&json!({}), &own(json!({"sdb": 1})))),
        ("5", state(&json!({}), &json!({}))),
    ]);
    let first = planned(&input(&tasks, &json!({}), &nodes));
    assert_eq!(running(&first), ["a@2", "a@4"]);
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &json!({}), &nodes) };
    let plan = planned(&input);
    assert_eq!(running(&plan), ["a@2", "a@3"]);
    let reasons = Reasons::new(&input, &plan);
    let reason = |idx: u32| reasons.of(InstanceIdx::new(idx)).unwrap().to_string();
    assert_eq!(reason(0), "`$.disks.sdb` exists in neither state");
    assert_eq!(reason(2), "`$.disks.sdb` no longer exists");
}

/// Bug: old common documents of different nodes were mixed up.
#[test]
fn old_common_document_is_per_node() {
    let tasks = [shell("a", json!({"condition": {"yaql_exp": "changed($.x)"}}))];
    let old =
        old_of(&[("1", state(&json!({"x": 1}), &json!({}))), ("2", state(&json!({"x": 2}), &json!({})))]);
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &json!({"x": 2}), &nodes()) };
    assert_eq!(running(&planned(&input)), ["a@1"]);
}

/// Bug: tasks on new nodes were skipped. On a node without an old state everything has changed.
#[test]
fn new_node_runs_changed_tasks() {
    let tasks = [shell("a", json!({"condition": {"yaql_exp": "changed($.x)"}}))];
    let old = old_of(&[("1", state(&json!({"x": 2}), &json!({"uid": "1"})))]);
    let input = PlanningInput { old: Some(&old), ..input(&tasks, &json!({"x": 2}), &nodes()) };
    assert_eq!(running(&planned(&input)), ["a@2"]);
}

/// Bug: a relation to the task's own name created a self-loop, and excluding by node removed too many edges.
#[test]
fn self_relation_excludes_only_the_instance_itself() {
    let on_primary = json!({"cross_depends": [{"name": "a", "role": "primary-controller"}]});
    let plan = planned(&input(&[shell("a", on_primary)], &json!({}), &nodes()));
    assert_eq!(edges(&plan), ["a@1 -> a@2"]);
    let everywhere = shell("a", json!({"cross_depends": [{"name": "a"}]}));
    let report = refused(&input(&[everywhere], &json!({}), &nodes()));
    let message = &report.problems[0].message;
    assert!(message.contains("a@1 → a@2 → a@1") || message.contains("a@2 → a@1 → a@2"), "{message}");
}

/// Bug: problems with unknown names had no location.
#[test]
fn unknown_names_are_reported_with_location() {
    let tasks = [shell("configure", json!({"requires": ["confgure"], "cross_depends": [{"name": "/^x/"}]}))];
    let request = PlanScope { tasks: Some(vec!["configur".into()]), ..PlanScope::default() };
    let input = PlanningInput { request, ..input(&tasks, &json!({}), &nodes()) };
    let (_, report) = plan(&input).expect("a plan");
    let warnings: Vec<String> = report.warnings().map(ToString::to_string).collect();
    assert!(
        warnings
            .iter()
            .any(|text| text.starts_with("task `configure`, requires[0]: ") && text.contains("did you mean")),
        "{warnings:#?}"
    );
    assert!(warnings.iter().any(|text| text.contains("cross_depends[0]")), "{warnings:#?}");
    assert!(warnings.iter().any(|text| text.contains("selected task `configur`")), "{warnings:#?}");
}

/// Bug: a cycle check over definitions reported false positives. Tasks that share no node form no cycle.
#[test]
fn tasks_without_shared_nodes_form_no_cycle() {
    let apart = [
        task("a", json!({"type": "shell", "roles": ["primary-controller"], "requires": ["b"]})),
        task("b", json!({"type": "shell", "roles": ["compute"], "requires": ["a"]})),
    ];
    assert_eq!(edges(&planned(&input(&apart, &json!({}), &nodes()))), [""; 0]);
    let together = [shell("a", json!({"requires": ["b"]})), shell("b", json!({"requires": ["a"]}))];
    let report = refused(&input(&together, &json!({}), &nodes()));
    assert!(report.problems.iter().all(|problem| problem.code == codes::CYCLE));
    // All nodes have the cycle: it is reported once.
    let [problem] = &report.problems[..] else { panic!("{:?}", report.problems) };
    assert_eq!(problem.message, "dependency cycle: a@1 → b@1 → a@1, and the same cycle on one more node");
    assert_eq!(problem.location.nodes, ["1", "2"]);
}

/// Bug: running selected tasks did nothing because nothing had changed. `force` plans as on a first run.
#[test]
fn force_ignores_old_states() {
    let tasks = [shell("a", json!({"condition": {"yaql_exp": "changed($.x)"}})), shell("b", json!({}))];
    let past = state(&json!({"x": 1}), &json!({}));
    let old = old_of(&[("1", past.clone()), ("2", past)]);
    let chosen = |force: bool| {
        let request = PlanScope { tasks: Some(vec!["a".into()]), force, ..PlanScope::default() };
        let input = PlanningInput { old: Some(&old), request, ..input(&tasks, &json!({"x": 1}), &nodes()) };
        running(&planned(&input))
    };
    assert_eq!(chosen(false), [""; 0]);
    assert_eq!(chosen(true), ["a@1", "a@2"]);
}

/// Bug: errors of one task hid those of the others.
#[test]
fn all_errors_are_reported() {
    let failing = |text: &str| json!({"condition": {"yaql_exp": text}});
    let tasks = [shell("a", failing("$.x.y")), shell("b", failing("1 +")), shell("c", failing("$.own"))];
    let nodes = [node("1", &[], json!({"uid": "1", "own": true})), node("2", &[], json!({"uid": "2"}))];
    let report = refused(&input(&tasks, &json!({}), &nodes));
    let errors: Vec<(&str, usize)> = report
        .errors()
        .map(|problem| (problem.location.task.as_deref().unwrap_or_default(), problem.location.nodes.len()))
        .collect();
    assert_eq!(errors, [("a", 2), ("b", 0), ("c", 1)]);
}

/// Bug: `policy: any` chose a node without the task, and the dependency was lost.
#[test]
fn any_policy_chooses_a_node_with_the_task() {
    let tasks = [
        task("server", json!({"type": "shell", "roles": ["compute"]})),
        task(
            "client",
            json!({"type": "shell", "roles": ["primary-controller"], "cross_depends": [{"name": "server", "policy": "any"}]}),
        ),
    ];
    let mut three = nodes();
    three.push(node("10", &["compute"], json!({"uid": "10"})));
    let plan = planned(&input(&tasks, &json!({}), &three));
    assert_eq!(edges(&plan), ["server@2 -> client@1"]);
    assert_eq!(plan.choices[0].node, "2");
}

/// Bug: one stray brace disabled all placeholders of a text.
#[test]
fn placeholders_leave_other_braces_alone() {
    let parameters = json!({"cmd": "awk '{print $1}' {CLUSTER_ID} {{x}} {UNKNOWN}", "regex": "{CLUSTER_ID}"});
    let tasks = [shell("a", json!({"parameters": parameters}))];
    let mut input = input(&tasks, &json!({}), &nodes());
    input.placeholders.insert("CLUSTER_ID".into(), "7".into());
    let plan = planned(&input);
    let parameters = &plan.details(InstanceIdx::new(0)).expect("details").parameters;
    assert_eq!(parameters["cmd"], "awk '{print $1}' 7 {{x}} {UNKNOWN}");
    assert_eq!(parameters["regex"], "{CLUSTER_ID}");
}

#[test]
fn instances_outside_subgraph_are_skipped() {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"requires": ["a"]})),
        shell("c", json!({"requires": ["b"]})),
    ];
    let cut = |start: &[&str], end: &[&str]| {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let request = PlanScope {
            subgraphs: vec![Subgraph { start: own(start), end: own(end) }],
            ..PlanScope::default()
        };
        let plan = planned(&PlanningInput { request, ..input(&tasks, &json!({}), &nodes()) });
        assert_eq!(plan.edges().count(), 4, "skipping must not relax the order");
        running(&plan)
    };
    assert_eq!(cut(&["b"], &[]), ["b@1", "b@2", "c@1", "c@2"]);
    assert_eq!(cut(&["b/1-1"], &["c"]), ["b@1", "c@1"]);
    assert_eq!(cut(&["unknown", "b/2"], &[]), ["b@2", "c@2"], "one of them is enough");
    assert_eq!(cut(&[], &["b"]), ["a@1", "a@2", "b@1", "b@2"]);
    // A reference that matches nothing is an error: it must neither run everything nor silently run nothing.
    for (start, end, message) in [
        (&["unknown"][..], &[][..], "subgraph start `unknown` matches no"),
        (&["b/99"], &[], "subgraph start `b/99` matches no"),
        (&["b/2-1"], &["c"], "subgraph start `b/2-1` matches no"),
        (&["b"], &["c/", "c/x"], "subgraph end `c/`, `c/x` matches no"),
    ] {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let request = PlanScope {
            subgraphs: vec![Subgraph { start: own(start), end: own(end) }],
            ..PlanScope::default()
        };
        let report = refused(&PlanningInput { request, ..input(&tasks, &json!({}), &nodes()) });
        let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
        assert!(errors.len() == 1 && errors[0].contains(message), "{errors:?}");
    }
}

#[test]
fn references_resolve_in_existing_plan() {
    let tasks = [shell("a", json!({})), shell("a/1", json!({})), shell("c", json!({}))];
    let plan = planned(&input(&tasks, &json!({}), &nodes()));
    let names = |reference: &str| -> Vec<String> {
        let instances = stoker_planner::resolve_reference(&plan, reference);
        instances.into_iter().filter_map(|idx| plan.instance(idx)).map(|it| it.to_string()).collect()
    };
    assert_eq!(names("c"), ["c@1", "c@2"]);
    assert_eq!(names("c/2, 7"), ["c@2"]);
    assert_eq!(names("c/1-5"), ["c@1", "c@2"]);
    assert_eq!(names("a/1"), ["a/1@1", "a/1@2"], "a task can have a slash in its name");
    assert_eq!(names("a/2"), ["a@2"]);
    for nothing in ["", "/", "x", "c/", "c/9", "x/1"] {
        assert_eq!(names(nothing), [""; 0], "{nothing}");
    }
}

#[test]
fn offline_nodes_are_reported() {
    let tasks = [shell("a", json!({}))];
    let offline = |nodes: Option<Vec<String>>| {
        let request = PlanScope { nodes, ..PlanScope::default() };
        let away = vec!["7".to_owned(), "8".to_owned()];
        let input = PlanningInput { request, offline: away, ..input(&tasks, &json!({}), &self::nodes()) };
        let (_, report) = stoker_planner::plan(&input).expect("a plan");
        let excluded = report.excluded.into_iter().filter(|node| node.reason == stoker_planner::NODE_OFFLINE);
        excluded.map(|node| node.uid).collect::<Vec<_>>()
    };
    assert_eq!(offline(None), ["7", "8"]);
    assert_eq!(offline(Some(vec!["1".to_owned(), "8".to_owned()])), ["8"]);
    assert_eq!(offline(Some(Vec::new())), [""; 0]);
}

/// The order in which the caller lists nodes does not matter.
#[test]
fn excluded_nodes_are_listed_by_uid() {
    let tasks = [shell("a", json!({}))];
    let mut nodes: Vec<NodeInput> = ["2", "10", "1"].map(|uid| node(uid, &[], json!({"uid": uid}))).into();
    let mut reports = Vec::new();
    for _ in 0..2 {
        nodes.reverse();
        let request = PlanScope { nodes: Some(vec!["3".to_owned()]), ..PlanScope::default() };
        let input =
            PlanningInput { request, offline: vec!["3".to_owned()], ..input(&tasks, &json!({}), &nodes) };
        let (_, report) = stoker_planner::plan(&input).expect("a plan");
        reports.push(report.excluded.into_iter().map(|node| node.uid).collect::<Vec<_>>());
    }
    assert_eq!(reports, [["1", "2", "3", "10"]; 2]);
}

#[test]
fn any_field_can_be_computed() {
    let tasks = [
        task(
            "a",
            json!({
                "type": {"yaql_exp": "switch($.get(uid) = '1' => shell, true => skipped)"},
                "roles": {"yaql_exp": "$.places"},
                "fail_on_error": {"yaql_exp": "false"},
                "parameters": {"strategy": {"type": {"yaql_exp": "switch($.new => parallel, true => one_by_one)"}}},
            }),
        ),
        task(
            "g",
            json!({"type": "group", "roles": ["compute"], "tasks": {"yaql_exp": "['a']"}, "fault_tolerance": {"yaql_exp": "'50%'"}}),
        ),
    ];
    let common = json!({"places": ["primary-controller"], "new": true});
    let plan = planned(&input(&tasks, &common, &nodes()));
    let verdicts: Vec<Verdict> = plan.instances().map(|instance| instance.verdict).collect();
    assert_eq!(verdicts, [Verdict::NoCondition, Verdict::TypeSkipped]);
    let details = plan.details(InstanceIdx::new(0)).expect("details");
    assert_eq!((details.task_type.as_str(), details.fail_on_error), ("shell", false));
    assert_eq!(details.parameters["strategy"]["type"], "parallel");
    assert_eq!((plan.groups[0].name.as_str(), plan.groups[0].max_failed), ("g", 0));
}

#[test]
fn legacy_conditions_are_evaluated() {
    let tasks = [shell(
        "a",
        json!({"condition": "settings:additional_components.murano.value == true and settings:uid == '2'"}),
    )];
    let plan = planned(&input(&tasks, &json!({"murano": {"enabled": true}}), &nodes()));
    assert_eq!(running(&plan), ["a@2"]);
    let broken = [shell("a", json!({"condition": "settings:a =="}))];
    assert_eq!(refused(&input(&broken, &json!({}), &nodes())).problems[0].code, codes::CONDITION);
}

#[test]
fn expressions_see_overlaid_documents() {
    let tasks = [shell(
        "a",
        json!({"condition": {"yaql_exp": "$.m.x = 1 and $.m.y = 2 and $node.m.keys().len() = 1 and $common.m.x = 1"}}),
    )];
    let nodes = [node("1", &[], json!({"m": {"y": 2}})), node("2", &[], json!({"m": {"y": 3}}))];
    let mut input = input(&tasks, &json!({}), &nodes);
    input.common = document(&json!({"m": {"x": 1, "y": 0}}));
    assert_eq!(running(&planned(&input)), ["a@1"]);
}

/// Bug: tasks that run again were merged into the graph in another order than on the first run.
#[test]
fn rerun_tasks_keep_their_order() {
    let tasks = [
        shell("a", json!({"condition": {"yaql_exp": "changed($.x)"}})),
        shell("b", json!({"requires": ["a"], "condition": {"yaql_exp": "changed($.y)"}})),
        shell("c", json!({"requires": ["b"]})),
    ];
    let now = json!({"x": 1, "y": 2});
    let past = |x: i64| state(&json!({"x": x, "y": 2}), &json!({}));
    let old = old_of(&[("1", past(1)), ("2", past(0))]);
    let first = planned(&input(&tasks, &now, &nodes()));
    let request = PlanScope { tasks: Some(vec!["a".into(), "c".into()]), ..PlanScope::default() };
    let second = planned(&PlanningInput { old: Some(&old), request, ..input(&tasks, &now, &nodes()) });
    assert_eq!(edges(&first), edges(&second));
    assert_eq!(running(&second), ["a@2", "c@1", "c@2"]);
}

/// Bug: one evaluation engine shared by several workers gave random results.
#[test]
fn plans_do_not_depend_on_the_number_of_threads() {
    let text = "$.list.where($ > new($.own)).select($ * 2).sum() > 40 or changed($.own)";
    let tasks: Vec<_> = (0..20)
        .map(|at| {
            shell(&format!("t{at}"), json!({"condition": {"yaql_exp": format!("{text} or {at} = $.own")}}))
        })
        .collect();
    let nodes: Vec<NodeInput> =
        (0..200).map(|at| node(&at.to_string(), &[], json!({"own": at % 17}))).collect();
    let common = json!({"list": (0..20).collect::<Vec<_>>()});
    let with = |n_threads: usize| {
        let mut input = input(&tasks, &common, &nodes);
        input.settings.n_threads = n_threads;
        planned(&input)
    };
    let one = with(1);
    assert!([2, 3, 8].into_iter().all(|n_threads| with(n_threads) == one));
}

/// Bug: an expression could exhaust the machine. A runaway expression is an error of its own task only.
#[test]
fn runaway_expressions_are_reported_with_location() {
    let tasks = [
        shell("endless", json!({"condition": {"yaql_exp": "sequence().where(false).any()"}})),
        shell("huge", json!({"parameters": {"cmd": {"yaql_exp": "'x' * 1000000000"}}})),
        shell("fine", json!({})),
    ];
    let report = refused(&input(&tasks, &json!({}), &nodes()[..1]));
    let errors: Vec<(&str, &str)> = report
        .errors()
        .map(|problem| (problem.location.task.as_deref().unwrap_or_default(), problem.location.path.as_str()))
        .collect();
    assert_eq!(errors, [("endless", "condition"), ("huge", "parameters.cmd")]);
}

/// Bug: user data was evaluated as an expression.
#[test]
fn expression_results_are_not_evaluated_again() {
    let parameters = json!({"cmd": {"yaql_exp": "$.evil"}, "as_map": {"yaql_exp": "$.nested"}});
    let tasks = [shell("a", json!({"parameters": parameters}))];
    let common = json!({"evil": "{CLUSTER_ID} $.uid", "nested": {"yaql_exp": "$.uid"}});
    let nodes = nodes();
    let mut input = input(&tasks, &common, &nodes);
    input.placeholders.insert("CLUSTER_ID".into(), "7".into());
    let plan = planned(&input);
    let parameters = &plan.details(InstanceIdx::new(0)).expect("details").parameters;
    assert_eq!(parameters["cmd"], "{CLUSTER_ID} $.uid");
    assert_eq!(parameters["as_map"], json!({"yaql_exp": "$.uid"}));
}

/// Bug: a path that ended early at a value was taken for a path to that value, so that nodes shared an evaluation although it
/// fails on some of them.
#[test]
fn path_that_ends_early_is_not_a_path_to_its_last_value() {
    let tasks = [shell("t", json!({"condition": {"yaql_exp": "$.section.flag"}}))];
    let nodes = [
        node("1", &[], json!({"uid": "1", "section": {"flag": null}})),
        node("2", &[], json!({"uid": "2", "section": null})),
    ];
    let report = refused(&input(&tasks, &json!({}), &nodes));
    assert_eq!(report.problems[0].location.nodes, ["2"]);
}

/// A misspelled path counts as unchanged, so that its task would never run.
#[test]
fn similar_paths_are_suggested() {
    let nodes =
        [node("1", &[], json!({"uid": "1", "disks": {"sda": 1}})), node("2", &[], json!({"uid": "2"}))];
    let common = json!({"configs": {"nova": {"cpu": 8}}, "nodes": [{"label": "a"}]});
    let warnings = |condition: &str| -> Vec<String> {
        let tasks = [shell("t", json!({"condition": {"yaql_exp": condition}}))];
        let (_, report) = plan(&input(&tasks, &common, &nodes)).unwrap();
        report.warnings().map(ToString::to_string).collect()
    };
    let expected = |path: &str, best: &str| {
        vec![format!(
            "task `t`, condition: `{path}` is in no state, so it never changes (did you mean `{best}`?)"
        )]
    };
    assert_eq!(warnings("changed($.confgs.nova)"), expected("$.confgs", "$.configs"));
    assert_eq!(warnings("changed($.configs.novaa)"), expected("$.configs.novaa", "$.configs.nova"));
    assert_eq!(warnings("changed($.configs['novaa'].cpu)"), expected("$.configs.novaa", "$.configs.nova"));
    assert_eq!(warnings("changedAny($.configs.nova, $.disk.sda)"), expected("$.disk", "$.disks"));
    assert_eq!(warnings("old($.disks.sdaa) = 1"), expected("$.disks.sdaa", "$.disks.sda"));
    let twice = "changed($.confgs.nova) or changed($.confgs.neutron)";
    assert_eq!(warnings(twice), expected("$.confgs", "$.configs"));
    for condition in [
        "changed($.configs.neutron)",
        "changed($.disks.sda)",
        "changed($.get(confgs))",
        "changed($.configs.nova.cpu)",
        "changed($.nodes.where($.label = a))",
        "changed($.something)",
    ] {
        assert_eq!(warnings(condition), Vec::<String>::new(), "{condition}");
    }
}

/// A node with `primary-controller` does not have `controller`, which surprises authors of graphs.
#[test]
fn roles_that_leave_out_their_primary_node_are_reported() {
    let warnings = |roles: Json, other: &str| -> Vec<String> {
        let tasks = [
            task("setup", json!({"type": "shell", "roles": roles})),
            task(other, json!({"type": "shell", "roles": ["primary-controller"]})),
        ];
        let input = input(&tasks, &json!({}), &nodes());
        let (_, report) = plan(&input).unwrap();
        let hidden = report.warnings().filter(|warning| warning.code == codes::HIDDEN_BY_PRIMARY);
        hidden.map(ToString::to_string).collect()
    };
    let expected = "task `setup`, roles, on node 1: `controller` leaves out node 1, which has `primary-controller` \
                    instead (write `[primary-controller, controller]` to include the primary node)";
    assert_eq!(warnings(json!(["controller"]), "other"), [expected]);
    assert_eq!(warnings(json!("controller"), "other"), [expected]);
    for roles in [
        json!(["controller", "primary-controller"]),
        json!(["/(primary-)?controller/"]),
        json!("*"),
        json!(["compute"]),
    ] {
        assert_eq!(warnings(roles.clone(), "other"), Vec::<String>::new(), "{roles}");
    }
    for other in ["primary-setup", "primary_setup"] {
        assert_eq!(warnings(json!(["controller"]), other), Vec::<String>::new(), "a pair of tasks");
    }
}
