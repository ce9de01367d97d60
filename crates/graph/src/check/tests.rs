use serde_json::json;
use stoker_model::{Json, MergeMode, Task};

use super::*;
use crate::{Layer, MergeRules, Source, merge};

/// Returns the findings of a graph given as `{name: fields}`; the default task type is `shell`.
fn check_graph(scope: Scope, places: Option<&[&str]>, graph: &Json) -> Vec<String> {
    let tasks: Vec<Task> = graph
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, fields)| {
            let mut fields = fields.as_object().unwrap().clone();
            fields.entry("type").or_insert(json!("shell"));
            Task { name: name.clone(), fields }
        })
        .collect();
    let layers = [Layer::of_tasks(Source::Release, &tasks)];
    let places: Option<Vec<String>> = places.map(|names| names.iter().map(ToString::to_string).collect());
    let options = GraphCheckOptions { roles_and_tags: places.as_deref(), ..GraphCheckOptions::new(scope) };
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    findings
        .iter()
        .map(|finding| format!("{}{finding}", if finding.is_error() { "! " } else { "" }))
        .collect()
}

fn findings_of(graph: &Json) -> Vec<String> {
    check_graph(Scope::Merged, None, graph)
}

const REMOVE_ONE: &str = "(remove one of these dependencies)";
const POSSIBLE: &str = "(it occurs if a node has several of these roles; remove one of these dependencies)";

#[test]
fn valid_graph_has_no_findings() {
    let graph = json!({
        "start": {"type": "stage"}, "end": {"type": "stage", "requires": ["start"]},
        "a": {"roles": ["x"], "requires": ["start"], "required_for": ["end"]},
        "b": {"roles": "*", "requires": ["a"], "cross_depends": [{"name": "/a/"}, {"name": "end", "role": null}]},
        "g": {"type": "group", "roles": ["y"], "tasks": ["c"]}, "c": {},
    });
    // `b` is after `end`, which is after `a`: no cycle.
    assert_eq!(findings_of(&graph), Vec::<String>::new());
}

#[test]
fn task_names_and_types_are_checked() {
    assert_eq!(
        findings_of(
            &json!({"/a/": {"roles": "*"}, "a b": {"roles": "*"}, "c": {"type": "pupet", "roles": "*"},
            "d": {"type": {"yaql_exp": "$.x"}, "roles": "*"}, "e": {"type": "role", "roles": "*"}})
        ),
        [
            "! task `/a/`, id: a name between slashes is read as a pattern, so no relation can refer to this task",
            "task `a b`, id: the name contains whitespace or control characters",
            "! task `c`, type: unknown task type `pupet` (did you mean `puppet`?)",
            "task `e`, type: type `role` is supported for legacy data only and is never executed",
        ]
    );
}

#[test]
fn dangling_names_are_reported() {
    let graph = json!({
        "upload": {"roles": "*", "requires": ["uplaod-config", "/nothing/", "/(/", {"yaql_exp": "$.x"}]},
        "upload-config": {"roles": "*", "cross_depends": [{"name": "zzz"}], "required_for": ["upload-config"]},
        "g": {"type": "group", "roles": "*", "tasks": ["upload", "uploda"]},
    });
    assert_eq!(
        findings_of(&graph),
        [
            "task `upload`, requires[0]: task `uplaod-config` does not exist, so the dependency has no effect (did you mean `upload-config`?)",
            "task `upload`, requires[1]: no task matches `/nothing/`, so the dependency has no effect",
            "! task `upload`, requires[2]: invalid pattern `/(/`: missing ), unterminated subpattern at position 0",
            "task `upload-config`, required_for[0]: the task depends on itself, which has no effect",
            "task `upload-config`, cross_depends[0].name: task `zzz` does not exist, so the dependency has no effect",
            "! task `g`, tasks[1]: the group lists `uploda`, which is not a task (did you mean `upload`?)",
        ]
    );
    let in_layer = check_graph(Scope::Layer, None, &graph);
    assert_eq!(
        in_layer,
        [
            "task `upload`, requires[0]: task `uplaod-config` does not exist in this layer (did you mean `upload-config`?)",
            "task `upload`, requires[1]: task `/nothing/` does not exist in this layer (it may be defined in another layer)",
            "! task `upload`, requires[2]: invalid pattern `/(/`: missing ), unterminated subpattern at position 0",
            "task `upload-config`, required_for[0]: the task depends on itself, which has no effect",
            "task `upload-config`, cross_depends[0].name: task `zzz` does not exist in this layer (it may be defined in another layer)",
            "task `g`, tasks[1]: task `uploda` does not exist in this layer (did you mean `upload`?)",
        ]
    );
}

#[test]
fn stage_relations_to_tasks_are_reported() {
    assert_eq!(
        findings_of(
            &json!({"s": {"type": "stage", "requires": ["a"], "required_for": ["b"]}, "a": {"roles": "*"}, "b": {"roles": "*"}})
        ),
        [
            "task `s`, requires[0]: `requires` of a stage applies to stages only, and `a` is not a stage (write `required_for: [s]` in `a` instead)",
            "task `s`, required_for[0]: `required_for` of a stage applies to stages only, and `b` is not a stage (write `requires: [s]` in `b` instead)",
        ]
    );
}

/// Findings of a task with this condition and command.
fn state_findings(condition: &str, command: &str) -> Vec<String> {
    findings_of(&json!({"a": {
        "roles": "*", "condition": {"yaql_exp": condition}, "parameters": {"cmd": {"yaql_exp": command}},
    }}))
}

#[test]
fn changes_of_other_things_than_state_are_reported() {
    for (condition, text) in [
        ("let(x => $.nodes) -> changed($x)", "`changed($x)` is never true: `$x` is not read from the state"),
        ("changed(1)", "`changed(1)` is never true: `1` is not read from the state"),
        ("changedAny($.a, 'b')", "`changedAny('b')` is never true: `'b'` is not read from the state"),
        (
            "let(x => $.nodes) -> changed($x.where($.role = db))",
            "`changed($x.where($.role = db))` is never true: `$x.where($.role = db)` is not read from the state",
        ),
        ("changed($node.a)", "`changed($node.a)` is never true: `$node.a` is not read from the state"),
        ("changed($common.a.where($.b))", "is never true: `$common.a.where($.b)` is not read from the state"),
        ("let(x => $.nodes) -> added($x)", "`added($x)` never finds a difference: `$x` is not read"),
        ("let(x => $.nodes) -> $.a or old($x)", "`old($x)` has the new value: `$x` is not read"),
    ] {
        let findings = state_findings(condition, "1");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains(text), "{findings:?}");
    }
    for condition in [
        "changed($)",
        "let(x => 1) -> changed($.a.where($.b = $x))",
        "changed(old($.x))",
        "changed([1, 2].where($ > old($.x)))",
    ] {
        assert_eq!(state_findings(condition, "1"), [""; 0], "{condition}");
    }
}

#[test]
fn conditions_that_are_never_true_on_a_first_run_are_reported() {
    for condition in [
        "deleted($.users)",
        "old($.x) = 1",
        "1 = (old($.x))",
        "not old($.x)",
        "$.a and deleted($.users)",
        "deleted($.a) or old($.b) = 2",
        "not not deleted($.a)",
        "false",
    ] {
        let findings = state_findings(condition, "1");
        assert!(
            findings.len() == 1 && findings[0].contains("never true on a first run"),
            "{condition}: {findings:?}"
        );
    }
    for condition in
        ["changed($.a)", "deleted($.a) or changed($.a)", "not deleted($.a)", "old($.x) != 1", "$.a"]
    {
        assert_eq!(state_findings(condition, "1"), [""; 0], "{condition}");
    }
}

#[test]
fn unobserved_inputs_are_reported() {
    let findings = state_findings("changed($.a.b)", "$.c.d + $.e + $.get(f) + $node.g + $.a.b.c + $.a");
    let text = "parameters read `$.c.d`, `$.e`, `$.f` and 1 more, but the condition observes only `$.a.b`: the task does \
                not run when they change";
    assert!(findings.len() == 1 && findings[0].contains(text), "{findings:?}");
    for (condition, command) in [
        ("changed($.a)", "$.a.b"),
        ("changed($.a.b)", "$.a"),
        ("changed($)", "$.x"),
        ("changed($.a) or inputsChanged()", "$.x"),
        ("$.x", "$.y"),
        ("changed($.nodes)", "$.nodes.where($.role = 'db').select($.ip)"),
        ("changedAny($.a, $.b)", "$.a + $.b"),
        ("def(f, $) -> f(changed($.a))", "$.x"),
    ] {
        assert_eq!(state_findings(condition, command), [""; 0], "{condition}, {command}");
    }
}

#[test]
fn inputs_that_the_condition_of_a_group_does_not_observe_are_reported() {
    let findings = |group: Json, extra: Json| {
        let mut graph = json!({
            "g": {"type": "group", "roles": "*", "tasks": ["a"], "condition": {"yaql_exp": "changed($.a)"}},
            "a": {"version": "3.0.0", "parameters": {"cmd": {"yaql_exp": "$.a + $.b"}}},
        });
        for (task, fields) in [("g", group), ("a", extra)] {
            for (name, value) in fields.as_object().unwrap() {
                graph[task][name] = value.clone();
            }
        }
        findings_of(&graph)
    };
    let text = "task `g`, condition: parameters of the member `a` read `$.b`, but the condition observes only `$.a`: it \
                does not run when they change";
    let none = || json!({});
    for extra in [none(), json!({"condition": {"yaql_exp": "inputsChanged()"}})] {
        let findings = findings(none(), extra);
        assert!(findings.len() == 1 && findings[0].contains(text), "{findings:?}");
    }
    for (group, extra) in [
        (json!({"condition": {"yaql_exp": "changedAny($.a, $.b)"}}), none()),
        (json!({"condition": {"yaql_exp": "$.a"}}), none()),
        (json!({"condition": true}), none()),
        (none(), json!({"roles": ["db"]})),
        (none(), json!({"parameters": {"cmd": {"yaql_exp": "$.a"}}})),
    ] {
        assert_eq!(findings(group.clone(), extra.clone()), [""; 0], "{group} {extra}");
    }
    let other = json!({
        "a": {"parameters": {"cmd": {"yaql_exp": "$.b"}}},
        "g": {"type": "group", "roles": "*", "tasks": ["a"], "condition": {"yaql_exp": "changed($.a)"}},
        "h": {"type": "group", "roles": ["db"], "tasks": ["a"]},
    });
    assert_eq!(findings_of(&other), [""; 0], "another group places it without a condition");
}

#[test]
fn bare_words_and_unknown_functions_are_reported() {
    let graph = json!({"a": {"roles": "*", "condition": {"yaql_exp": "$.x = True or\n  lenn($.y) > 1"}}});
    let bare_word = "task `a`, condition.yaql_exp: `True` is the text \"True\" here, line 1, column 7 of the expression \
                 (write `true`, or put it in quotes if the text is meant)";
    assert_eq!(findings_of(&graph), [bare_word], "without a library, calls are not checked");
    let tasks = [Task { name: "a".to_owned(), fields: graph["a"].as_object().unwrap().clone() }];
    let library = Library::standard();
    let options = GraphCheckOptions { library: Some(&library), ..GraphCheckOptions::new(Scope::Layer) };
    let layers = [Layer::of_tasks(Source::Release, &tasks)];
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    let calls: Vec<String> = findings
        .iter()
        .filter(|finding| finding.code == codes::UNKNOWN_FUNCTION && !finding.is_error())
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        calls,
        [
            "task `a`, condition.yaql_exp: there is no function `lenn`, line 2, column 3 of the expression (did you mean \
          `len`?)"
        ]
    );
}

#[test]
fn invalid_expressions_are_reported_with_location() {
    assert_eq!(
        findings_of(&json!({"a": {"roles": "*", "condition": {"yaql_exp": "$.a +* 1"},
            "parameters": {"x": [{"yaql_exp": "$.a and\n("}], "regex": {"yaql_exp": "("}}}})),
        [
            "! task `a`, condition.yaql_exp: invalid expression: unexpected '*', column 6 of the expression",
            "! task `a`, parameters.x[0].yaql_exp: invalid expression: unexpected end of statement, line 2, column 2 of the expression",
        ]
    );
}

#[test]
fn unknown_roles_and_tags_are_reported() {
    let graph = json!({
        "a": {"roles": ["compute", "primary-controller", "*", "master"]},
        "b": {"tags": ["primary-contoller", "/comp.*/", "/^zzz/", "/(/"]},
        "c": {"groups": "cmpute", "cross_depends": [{"name": "a", "role": "self"}, {"name": "a", "role": ["x"]}]},
        "s": {"type": "stage", "roles": ["ignored"]},
    });
    let existing: &[&str] = &["compute", "controller"];
    assert_eq!(
        check_graph(Scope::Merged, Some(existing), &graph),
        [
            "task `b`, tags[0]: no node can have the role or tag `primary-contoller` (did you mean `primary-controller`?)",
            "task `b`, tags[2]: no role or tag matches `/^zzz/`",
            "! task `b`, tags[3]: invalid pattern `/(/`: missing ), unterminated subpattern at position 0",
            "task `c`, groups: no node can have the role or tag `cmpute` (did you mean `compute`?)",
            "task `c`, cross_depends[1].role[0]: no node can have the role or tag `x`",
        ]
    );
    assert_eq!(findings_of(&graph).len(), 1, "without a list of roles only the pattern is reported");
}

#[test]
fn unplaced_tasks_are_reported() {
    let graph = json!({
        "a": {}, "b": {"roles": []}, "c": {"type": "skipped"}, "s": {"type": "stage"}, "d": {"roles": {"yaql_exp": "$.x"}},
        "e": {"tags": null, "roles": "x"}, "f": {"roles": [], "groups": ["x"]}, "g": {"type": "group", "tasks": []},
    });
    let nowhere: Vec<String> = findings_of(&graph).iter().map(|text| text[..8].to_owned()).collect();
    assert_eq!(nowhere, ["task `a`", "task `b`", "task `e`", "task `g`"]);
    assert_eq!(check_graph(Scope::Layer, None, &graph), Vec::<String>::new());
}

#[test]
fn cycles_on_one_node_are_errors() {
    assert_eq!(
        findings_of(
            &json!({"a": {"roles": ["x"], "requires": ["c"]}, "b": {"roles": ["x"], "requires": ["a"]},
            "c": {"roles": ["x", "y"], "requires": ["b"]}})
        ),
        [format!("! dependency cycle: a → b → c → a, on a node with `x` {REMOVE_ONE}")]
    );
    assert_eq!(
        findings_of(&json!({"a": {"roles": "*", "requires": ["b"]}, "b": {"roles": "*", "requires": ["a"]}})),
        [format!("! dependency cycle: a → b → a, on a node with `*` {REMOVE_ONE}")]
    );
    assert_eq!(
        findings_of(&json!({"a": {"roles": ["x", "y"], "required_for": ["b"]}, "b": {"roles": ["x", "y"], "required_for": ["a"]}})).len(),
        1,
        "one mistake on two roles is one finding"
    );
    assert_eq!(
        findings_of(
            &json!({"a": {"roles": "master", "requires": ["b"]}, "b": {"roles": "master", "requires": ["a"]}})
        ),
        [format!("! dependency cycle: a → b → a, on the master {REMOVE_ONE}")]
    );
}

#[test]
fn tasks_that_cannot_share_a_node_form_no_cycle() {
    for (first, second) in [("x", "primary-x"), ("master", "x"), ("master", "*")] {
        let graph =
            json!({"a": {"roles": [first], "requires": ["b"]}, "b": {"roles": [second], "requires": ["a"]}});
        assert_eq!(findings_of(&graph), Vec::<String>::new(), "{first} {second}");
    }
}

#[test]
fn cycles_that_need_two_roles_on_a_node_are_warnings() {
    let graph = json!({"a": {"roles": ["x"], "requires": ["b"]}, "b": {"roles": ["y"], "requires": ["a"]}});
    assert_eq!(findings_of(&graph), [format!("possible dependency cycle: a → b → a {POSSIBLE}")]);
    let computed = json!({"a": {"roles": {"yaql_exp": "$.x"}, "requires": ["b"]}, "b": {"roles": "y", "requires": ["a"]}});
    assert_eq!(findings_of(&computed).len(), 1);
    let unplaced = json!({"a": {"requires": ["b"]}, "b": {"requires": ["a"]}});
    assert_eq!(
        check_graph(Scope::Layer, None, &unplaced),
        [format!("possible dependency cycle: a → b → a {POSSIBLE}")]
    );
}

#[test]
fn cycles_through_stages_are_errors() {
    let graph = json!({
        "s": {"type": "stage"}, "t": {"type": "stage", "requires": ["s"]},
        "a": {"roles": ["x"], "requires": ["t"], "required_for": ["b"]}, "b": {"roles": ["x"], "required_for": ["s"]},
    });
    assert_eq!(
        findings_of(&graph),
        [format!("! dependency cycle: s → t → a → b → s, on a node with `x` {REMOVE_ONE}")]
    );
    let apart = json!({
        "s": {"type": "stage"},
        "a": {"roles": ["x"], "requires": ["s"], "required_for": ["b"]}, "b": {"roles": ["primary-x"], "required_for": ["s"]},
    });
    assert_eq!(findings_of(&apart), Vec::<String>::new());
    let stages =
        json!({"s": {"type": "stage", "requires": ["t"]}, "t": {"type": "stage", "requires": ["s"]}});
    assert_eq!(findings_of(&stages), [format!("! dependency cycle: s → t → s {REMOVE_ONE}")]);
}

#[test]
fn cycles_across_nodes_are_errors() {
    let graph = json!({
        "a": {"roles": ["x"], "cross_depends": [{"name": "b"}]},
        "b": {"roles": ["y"], "cross_depends": [{"name": "a", "role": ["x"]}]},
    });
    assert_eq!(findings_of(&graph), [format!("! dependency cycle: a → b → a {REMOVE_ONE}")]);
    let mirrored = json!({
        "a": {"roles": ["x"], "cross_depended_by": [{"name": "b"}], "cross_depends": [{"name": "b"}]},
        "b": {"roles": ["y"]},
    });
    assert_eq!(findings_of(&mirrored).len(), 1);
    let elsewhere = json!({
        "a": {"roles": ["x"], "cross_depends": [{"name": "b", "role": "z"}]},
        "b": {"roles": ["y"], "cross_depends": [{"name": "a"}]},
    });
    assert_eq!(findings_of(&elsewhere), [format!("possible dependency cycle: a → b → a {POSSIBLE}")]);
}

#[test]
fn any_policy_makes_a_cycle_only_possible() {
    let graph = json!({
        "a": {"roles": ["x"], "cross_depends": [{"name": "b", "policy": "any"}]},
        "b": {"roles": ["y"], "cross_depends": [{"name": "a"}]},
    });
    assert_eq!(findings_of(&graph), [format!("possible dependency cycle: a → b → a {POSSIBLE}")]);
}

#[test]
fn relation_to_own_name_is_reported() {
    let relation = |role: Json| json!({"a": {"roles": ["x", "primary-y"], "cross_depends": [{"name": "/a/", "role": role}]}});
    let expected = "task `a`, cross_depends[0].name: `/a/` also matches this task on other nodes: instances on two nodes with `x` would \
                    depend on each other (match other tasks only, or set `role: self`)";
    assert_eq!(findings_of(&relation(json!("x"))), [expected]);
    assert_eq!(findings_of(&relation(json!("*"))), [expected]);
    for harmless in [json!("self"), json!("primary-y"), json!("z"), Json::Null] {
        assert_eq!(findings_of(&relation(harmless.clone())), Vec::<String>::new(), "{harmless}");
    }
}

#[test]
fn groups_form_no_cycle_and_place_their_members() {
    let groups = json!({"g": {"type": "group", "roles": "x", "requires": ["h"]}, "h": {"type": "group", "roles": "x", "requires": ["g"]}});
    assert_eq!(findings_of(&groups), Vec::<String>::new());
    let members = json!({
        "g": {"type": "group", "roles": ["x"], "tasks": ["a", "b"]},
        "a": {"requires": ["b"]}, "b": {"requires": ["a"]},
    });
    assert_eq!(
        findings_of(&members),
        [format!("! dependency cycle: a → b → a, on a node with `x` {REMOVE_ONE}")]
    );
}

#[test]
fn findings_name_the_layer_that_set_the_field() {
    let release = [Task {
        name: "a".into(),
        fields: json!({"type": "shell", "roles": "*"}).as_object().unwrap().clone(),
    }];
    let plugin = [Task { name: "a".into(), fields: json!({"requires": ["b"]}).as_object().unwrap().clone() }];
    let source = Source::Plugin { name: "p".into(), version: "1.0.0".into() };
    let layers = [Layer::of_tasks(source.clone(), &plugin), Layer::of_tasks(Source::Release, &release)];
    let options = GraphCheckOptions::new(Scope::Merged);
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    let layer = findings[0].location.provenance.as_ref().and_then(|provenance| provenance.layer.as_deref());
    assert_eq!(layer.and_then(Source::of_label), Some(source));
}

#[test]
fn placement_that_replaces_another_field_is_reported() {
    let task = |fields: Json| [Task { name: "a".into(), fields: fields.as_object().unwrap().clone() }];
    let findings = |release: Json, cluster: Json| -> Vec<String> {
        let (release, cluster) = (task(release), task(cluster));
        let layers = [Layer::of_tasks(Source::Release, &release), Layer::of_tasks(Source::Cluster, &cluster)];
        let options = GraphCheckOptions::new(Scope::Merged);
        check(&merge(&layers, MergeRules::default()), &options).iter().map(ToString::to_string).collect()
    };
    let help = "(`role`, `roles`, `groups` and `tags` are one attribute when layers are merged: list every role and tag of the task in the later layer)";
    for (release, cluster, expected) in [
        (json!({"tags": ["x"]}), json!({"roles": ["y"]}), "roles: `roles` of the cluster replaces `tags`"),
        (
            json!({"roles": ["x"]}),
            json!({"groups": ["y"]}),
            "groups: `groups` of the cluster replaces `roles`",
        ),
        (json!({"groups": ["x"]}), json!({"tags": ["y"]}), "tags: `tags` of the cluster replaces `groups`"),
    ] {
        let mut release = release;
        release["type"] = json!("shell");
        let expected = format!("task `a`, {expected} of the release {help}");
        assert_eq!(findings(release, cluster), [expected]);
    }
    for (release, cluster) in [
        (json!({"type": "shell", "roles": ["x"]}), json!({"roles": ["y"]})),
        (json!({"type": "shell", "tags": ["x"], "roles": ["y"]}), json!({"tags": ["z"]})),
        (json!({"type": "shell", "tags": ["x"], "roles": ["y"]}), json!({"requires": []})),
        (json!({"type": "shell", "roles": []}), json!({"groups": ["y"]})),
    ] {
        assert_eq!(findings(release.clone(), cluster), Vec::<String>::new(), "{release}");
    }
}

#[test]
fn task_without_type_is_an_error_that_names_its_layers() {
    let task =
        |name: &str, fields: Json| Task { name: name.into(), fields: fields.as_object().unwrap().clone() };
    let release = [task("install", json!({"type": "shell", "roles": "*"}))];
    let cluster = [task("instal", json!({"roles": "*"})), task("install", json!({"retries": 2}))];
    let plugin_tasks = [task("other", json!({"roles": "*"}))];
    let plugin = Source::Plugin { name: "p".to_owned(), version: "1.0.0".to_owned() };
    let findings = |layers: &[Layer<'_>], scope: Scope, mode: MergeMode| -> Vec<String> {
        let merged = merge(layers, MergeRules { mode, ..MergeRules::default() });
        let findings = check(&merged, &GraphCheckOptions::new(scope));
        findings.iter().map(|finding| format!("{} {finding}", finding.severity.as_str())).collect()
    };
    let layers = [
        Layer::of_tasks(Source::Release, &release),
        Layer::of_tasks(Source::Cluster, &cluster),
        Layer::of_tasks(plugin, &plugin_tasks),
    ];
    let everywhere = [
        "error task `instal`, type: `type` is missing in every layer that defines the task: the cluster (did you mean task `install`?)",
        "error task `other`, type: `type` is missing in every layer that defines the task: plugin `p` 1.0.0 (set `type`; it may be omitted only where a lower layer defines the task)",
    ];
    assert_eq!(findings(&layers, Scope::Merged, MergeMode::Attributes), everywhere);
    let replaced = findings(&layers, Scope::Merged, MergeMode::Replace);
    assert!(
        replaced[0].starts_with("error task `install`, type: `type` is missing in the cluster, which replaces the whole task (merge mode `replace`)"),
        "{replaced:?}"
    );
    assert_eq!(
        findings(&layers[1..2], Scope::Layer, MergeMode::Attributes)[0],
        "warning task `instal`, type: `type` is missing, so a lower layer must define the task"
    );
    assert_eq!(
        findings(&[Layer::of_tasks(Source::Release, &cluster)], Scope::Layer, MergeMode::Attributes)[0],
        "error task `instal`, type: `type` is missing, and no layer is below the release that could set it"
    );
}

#[test]
fn fields_without_effect_are_reported() {
    let graph = json!({
        "a": {"roles": "*", "skipped": true}, "b": {"roles": "*", "stage": "post_deployment/100"},
        "c": {"roles": "*", "fault_tolerance": 1, "tasks": ["a"]},
        "d": {"roles": "*", "version": "1.0.0", "cross_depends": [{"name": "a"}]},
        "valid": {"roles": "*", "skipped": false, "stage": null, "fault_tolerance": null, "tasks": [], "version": "1.0.0"},
        "group": {"type": "group", "roles": "*", "fault_tolerance": 1, "tasks": ["a"]},
        "computed": {"type": {"yaql_exp": "$.x"}, "roles": "*", "fault_tolerance": 1},
        "cross": {"roles": "*", "version": "2.0.0", "cross_depends": [{"name": "a"}]},
        "unversioned": {"roles": "*", "cross_depends": [{"name": "a"}]},
    });
    assert_eq!(
        findings_of(&graph),
        [
            "task `a`, skipped: `skipped` has no effect (write `type: skipped` instead)",
            "task `b`, stage: `stage` has no effect outside of plugins (depend on the tasks of the stage instead, for example `requires: [post_deployment_start]` and `required_for: [post_deployment_end]`)",
            "task `c`, fault_tolerance: `fault_tolerance` has no effect: the task is not a group (set it in a task with `type: group`, or remove `fault_tolerance`)",
            "task `c`, tasks: `tasks` has no effect: the task is not a group (set it in a task with `type: group`, or remove `tasks`)",
            "task `d`, version: `version: 1.0.0` has no effect: the task has `cross_depends`, which is honoured (write `version: 2.0.0`, or remove `cross_depends`)",
        ]
    );
}

#[test]
fn fields_that_are_never_executed_are_noted_once() {
    let graph = json!({
        "config": {"roles": "*"},
        "a": {"roles": "*", "refresh_on": ["config", "keystone_config"], "test_pre": {"cmd": "true"}},
        "b": {"roles": "*", "refresh_on": ["keystone_config", "nova_paste_api_ini"], "reexecute_on": ["deploy_changes"]},
        "c": {"roles": "*", "reexecute_on": ["deploy_changes"], "test_post": {"cmd": "true"}},
        "none": {"roles": "*", "refresh_on": [], "reexecute_on": [], "test_pre": null, "test_post": {}},
    });
    let of_fields = [
        "task `b`, reexecute_on: `reexecute_on` is not executed (in 2 tasks) (use `condition` with `changed()`, or `inputsChanged()`)",
        "task `a`, test_pre: `test_pre` is not executed (in 1 task) (add a task that runs before)",
        "task `c`, test_post: `test_post` is not executed (in 1 task) (add a task that runs after)",
    ];
    let of_triggers = "task `a`, refresh_on: entries of `refresh_on` that name no task trigger nothing: \
                       `keystone_config`, `nova_paste_api_ini` (in 2 tasks) (name the task that writes the configuration)";
    assert_eq!(findings_of(&graph), [&of_fields[..], &[of_triggers]].concat());
    assert_eq!(check_graph(Scope::Layer, None, &graph), of_fields, "other layers may define the triggers");
}
