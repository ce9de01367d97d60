use serde_json::json;
use stoker_model::{Json, Task};

use super::*;
use crate::{Layer, MergeRules, Severity, Source, merge};

/// Findings of a graph given as `{name: fields}`; tasks are of type `shell` unless they say otherwise.
fn found_in(scope: Scope, places: Option<&[&str]>, graph: &Json) -> Vec<String> {
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
    let options = CheckOptions { places: places.as_deref(), ..CheckOptions::new(scope) };
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    findings
        .iter()
        .map(|finding| format!("{}{finding}", if finding.severity == Severity::Error { "! " } else { "" }))
        .collect()
}

fn found(graph: &Json) -> Vec<String> {
    found_in(Scope::Whole, None, graph)
}

const REMOVE_ONE: &str = "(each arrow leads from what runs before to what runs after: remove one)";
const PERHAPS: &str =
    "(it depends on which roles are together on a node; remove one of the dependencies to be sure)";

#[test]
fn a_graph_without_mistakes() {
    let graph = json!({
        "start": {"type": "stage"}, "end": {"type": "stage", "requires": ["start"]},
        "a": {"roles": ["x"], "requires": ["start"], "required_for": ["end"]},
        "b": {"roles": "*", "requires": ["a"], "cross_depends": [{"name": "/a/"}, {"name": "end", "role": null}]},
        "g": {"type": "group", "roles": ["y"], "tasks": ["c"]}, "c": {},
    });
    // `b` is after `end`, which is after `a`: fine.
    assert_eq!(found(&graph), Vec::<String>::new());
}

#[test]
fn names_and_types() {
    assert_eq!(
        found(&json!({"/a/": {"roles": "*"}, "a b": {"roles": "*"}, "c": {"type": "pupet", "roles": "*"},
            "d": {"type": {"yaql_exp": "$.x"}, "roles": "*"}, "e": {"type": "role", "roles": "*"}})),
        [
            "! task `/a/`, id: a name between slashes is taken for a pattern, so nothing can refer to this task",
            "task `a b`, id: the name has blanks or control characters",
            "! task `c`, type: there is no type `pupet` (did you mean `puppet`?)",
            "task `e`, type: type `role` is kept for old data, nothing executes it",
        ]
    );
}

#[test]
fn names_that_lead_nowhere() {
    let graph = json!({
        "upload": {"roles": "*", "requires": ["uplaod-config", "/nothing/", "/(/", {"yaql_exp": "$.x"}]},
        "upload-config": {"roles": "*", "cross_depends": [{"name": "zzz"}], "required_for": ["upload-config"]},
        "g": {"type": "group", "roles": "*", "tasks": ["upload", "uploda"]},
    });
    assert_eq!(
        found(&graph),
        [
            "task `upload`, requires[0]: there is no task `uplaod-config`, so it has no effect (did you mean `upload-config`?)",
            "task `upload`, requires[1]: no task matches `/nothing/`, so it has no effect",
            "! task `upload`, requires[2]: `/(/` is no pattern: missing ), unterminated subpattern at position 0",
            "task `upload-config`, required_for[0]: the task names itself, which has no effect",
            "task `upload-config`, cross_depends[0].name: there is no task `zzz`, so it has no effect",
            "! task `g`, tasks[1]: the group lists `uploda`, which is no task (did you mean `upload`?)",
        ]
    );
    let in_layer = found_in(Scope::Layer, None, &graph);
    assert_eq!(
        in_layer,
        [
            "task `upload`, requires[0]: `uplaod-config` is no task of this layer (did you mean `upload-config`?)",
            "task `upload`, requires[1]: `/nothing/` is no task of this layer (it may come from another layer)",
            "! task `upload`, requires[2]: `/(/` is no pattern: missing ), unterminated subpattern at position 0",
            "task `upload-config`, required_for[0]: the task names itself, which has no effect",
            "task `upload-config`, cross_depends[0].name: `zzz` is no task of this layer (it may come from another layer)",
            "task `g`, tasks[1]: `uploda` is no task of this layer (did you mean `upload`?)",
        ]
    );
}

#[test]
fn stages_reach_only_stages() {
    assert_eq!(
        found(
            &json!({"s": {"type": "stage", "requires": ["a"], "required_for": ["b"]}, "a": {"roles": "*"}, "b": {"roles": "*"}})
        ),
        [
            "task `s`, requires[0]: `requires` of a stage reaches only stages, and `a` is none (write `required_for: [s]` in `a` instead)",
            "task `s`, required_for[0]: `required_for` of a stage reaches only stages, and `b` is none (write `requires: [s]` in `b` instead)",
        ]
    );
}

#[test]
fn words_and_calls_that_expressions_do_not_have() {
    let graph = json!({"a": {"roles": "*", "condition": {"yaql_exp": "$.x = True or\n  lenn($.y) > 1"}}});
    let words = "task `a`, condition.yaql_exp: `True` is the text \"True\" here, line 1, column 7 of the expression \
                 (write `true`, or put it in quotes if the text is meant)";
    assert_eq!(found(&graph), [words], "nothing is said of calls when nobody says what can be called");
    let tasks = [Task { name: "a".to_owned(), fields: graph["a"].as_object().unwrap().clone() }];
    let library = Library::standard();
    let options = CheckOptions { library: Some(&library), ..CheckOptions::new(Scope::Layer) };
    let layers = [Layer::of_tasks(Source::Release, &tasks)];
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    let calls: Vec<String> = findings
        .iter()
        .filter(|finding| finding.code == codes::UNKNOWN_FUNCTION && finding.severity == Severity::Warning)
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
fn expressions_with_their_place() {
    assert_eq!(
        found(&json!({"a": {"roles": "*", "condition": {"yaql_exp": "$.a +* 1"},
            "parameters": {"x": [{"yaql_exp": "$.a and\n("}], "regex": {"yaql_exp": "("}}}})),
        [
            "! task `a`, condition.yaql_exp: not an expression: unexpected '*', column 6 of the expression",
            "! task `a`, parameters.x[0].yaql_exp: not an expression: unexpected end of statement, line 2, column 2 of the expression",
        ]
    );
}

#[test]
fn places_that_do_not_exist() {
    let graph = json!({
        "a": {"roles": ["compute", "primary-controller", "*", "master"]},
        "b": {"tags": ["primary-contoller", "/comp.*/", "/^zzz/", "/(/"]},
        "c": {"groups": "cmpute", "cross_depends": [{"name": "a", "role": "self"}, {"name": "a", "role": ["x"]}]},
        "s": {"type": "stage", "roles": ["ignored"]},
    });
    let known: &[&str] = &["compute", "controller"];
    assert_eq!(
        found_in(Scope::Whole, Some(known), &graph),
        [
            "task `b`, tags[0]: no node can have the role or tag `primary-contoller` (did you mean `primary-controller`?)",
            "task `b`, tags[2]: no role or tag matches `/^zzz/`",
            "! task `b`, tags[3]: `/(/` is no pattern: missing ), unterminated subpattern at position 0",
            "task `c`, groups: no node can have the role or tag `cmpute` (did you mean `compute`?)",
            "task `c`, cross_depends[1].role[0]: no node can have the role or tag `x`",
        ]
    );
    assert_eq!(found(&graph).len(), 1, "without a list only the pattern is wrong");
}

#[test]
fn tasks_that_run_nowhere() {
    let graph = json!({
        "a": {}, "b": {"roles": []}, "c": {"type": "skipped"}, "s": {"type": "stage"}, "d": {"roles": {"yaql_exp": "$.x"}},
        "e": {"tags": null, "roles": "x"}, "f": {"roles": [], "groups": ["x"]}, "g": {"type": "group", "tasks": []},
    });
    let nowhere: Vec<String> = found(&graph).iter().map(|text| text[..8].to_owned()).collect();
    assert_eq!(nowhere, ["task `a`", "task `b`", "task `e`", "task `g`"]);
    assert_eq!(found_in(Scope::Layer, None, &graph), Vec::<String>::new());
}

#[test]
fn circles_on_one_node_are_errors() {
    assert_eq!(
        found(&json!({"a": {"roles": ["x"], "requires": ["c"]}, "b": {"roles": ["x"], "requires": ["a"]},
            "c": {"roles": ["x", "y"], "requires": ["b"]}})),
        [format!("! tasks wait for each other: a → b → c → a, on a node with `x` {REMOVE_ONE}")]
    );
    assert_eq!(
        found(&json!({"a": {"roles": "*", "requires": ["b"]}, "b": {"roles": "*", "requires": ["a"]}})),
        [format!("! tasks wait for each other: a → b → a, on a node with `*` {REMOVE_ONE}")]
    );
    assert_eq!(
        found(&json!({"a": {"roles": ["x", "y"], "required_for": ["b"]}, "b": {"roles": ["x", "y"], "required_for": ["a"]}})).len(),
        1,
        "one mistake on two roles is one finding"
    );
    assert_eq!(
        found(
            &json!({"a": {"roles": "master", "requires": ["b"]}, "b": {"roles": "master", "requires": ["a"]}})
        ),
        [format!("! tasks wait for each other: a → b → a, on the master {REMOVE_ONE}")]
    );
}

#[test]
fn circles_of_tasks_that_never_meet_are_none() {
    for (first, second) in [("x", "primary-x"), ("master", "x"), ("master", "*")] {
        let graph =
            json!({"a": {"roles": [first], "requires": ["b"]}, "b": {"roles": [second], "requires": ["a"]}});
        assert_eq!(found(&graph), Vec::<String>::new(), "{first} {second}");
    }
}

#[test]
fn circles_that_need_two_roles_on_a_node_are_warnings() {
    let graph = json!({"a": {"roles": ["x"], "requires": ["b"]}, "b": {"roles": ["y"], "requires": ["a"]}});
    assert_eq!(found(&graph), [format!("tasks may wait for each other: a → b → a {PERHAPS}")]);
    let computed = json!({"a": {"roles": {"yaql_exp": "$.x"}, "requires": ["b"]}, "b": {"roles": "y", "requires": ["a"]}});
    assert_eq!(found(&computed).len(), 1);
    let unplaced = json!({"a": {"requires": ["b"]}, "b": {"requires": ["a"]}});
    assert_eq!(
        found_in(Scope::Layer, None, &unplaced),
        [format!("tasks may wait for each other: a → b → a {PERHAPS}")]
    );
}

#[test]
fn circles_through_stages() {
    let graph = json!({
        "s": {"type": "stage"}, "t": {"type": "stage", "requires": ["s"]},
        "a": {"roles": ["x"], "requires": ["t"], "required_for": ["b"]}, "b": {"roles": ["x"], "required_for": ["s"]},
    });
    assert_eq!(
        found(&graph),
        [format!("! tasks wait for each other: s → t → a → b → s, on a node with `x` {REMOVE_ONE}")]
    );
    let apart = json!({
        "s": {"type": "stage"},
        "a": {"roles": ["x"], "requires": ["s"], "required_for": ["b"]}, "b": {"roles": ["primary-x"], "required_for": ["s"]},
    });
    assert_eq!(found(&apart), Vec::<String>::new());
    let stages =
        json!({"s": {"type": "stage", "requires": ["t"]}, "t": {"type": "stage", "requires": ["s"]}});
    assert_eq!(found(&stages), [format!("! tasks wait for each other: s → t → s {REMOVE_ONE}")]);
}

#[test]
fn circles_across_nodes_are_errors_wherever_the_tasks_are() {
    let graph = json!({
        "a": {"roles": ["x"], "cross_depends": [{"name": "b"}]},
        "b": {"roles": ["y"], "cross_depends": [{"name": "a", "role": ["x"]}]},
    });
    assert_eq!(found(&graph), [format!("! tasks wait for each other: a → b → a {REMOVE_ONE}")]);
    let mirrored = json!({
        "a": {"roles": ["x"], "cross_depended_by": [{"name": "b"}], "cross_depends": [{"name": "b"}]},
        "b": {"roles": ["y"]},
    });
    assert_eq!(found(&mirrored).len(), 1);
    let elsewhere = json!({
        "a": {"roles": ["x"], "cross_depends": [{"name": "b", "role": "z"}]},
        "b": {"roles": ["y"], "cross_depends": [{"name": "a"}]},
    });
    assert_eq!(found(&elsewhere), [format!("tasks may wait for each other: a → b → a {PERHAPS}")]);
}

#[test]
fn a_choice_makes_a_circle_possible_only() {
    let graph = json!({
        "a": {"roles": ["x"], "cross_depends": [{"name": "b", "policy": "any"}]},
        "b": {"roles": ["y"], "cross_depends": [{"name": "a"}]},
    });
    assert_eq!(found(&graph), [format!("tasks may wait for each other: a → b → a {PERHAPS}")]);
}

#[test]
fn a_task_that_waits_for_itself_elsewhere() {
    let relation = |role: Json| json!({"a": {"roles": ["x", "primary-y"], "cross_depends": [{"name": "/a/", "role": role}]}});
    let expected = "task `a`, cross_depends[0].name: `/a/` also means this task on other nodes: two nodes with `x` would \
                    wait for each other (name other tasks only, or say `role: self`)";
    assert_eq!(found(&relation(json!("x"))), [expected]);
    assert_eq!(found(&relation(json!("*"))), [expected]);
    for harmless in [json!("self"), json!("primary-y"), json!("z"), Json::Null] {
        assert_eq!(found(&relation(harmless.clone())), Vec::<String>::new(), "{harmless}");
    }
}

#[test]
fn groups_are_never_run_and_place_their_members() {
    let groups = json!({"g": {"type": "group", "roles": "x", "requires": ["h"]}, "h": {"type": "group", "roles": "x", "requires": ["g"]}});
    assert_eq!(found(&groups), Vec::<String>::new());
    let members = json!({
        "g": {"type": "group", "roles": ["x"], "tasks": ["a", "b"]},
        "a": {"requires": ["b"]}, "b": {"requires": ["a"]},
    });
    assert_eq!(
        found(&members),
        [format!("! tasks wait for each other: a → b → a, on a node with `x` {REMOVE_ONE}")]
    );
}

#[test]
fn findings_say_which_layer_set_the_field() {
    let release = [Task {
        name: "a".into(),
        fields: json!({"type": "shell", "roles": "*"}).as_object().unwrap().clone(),
    }];
    let plugin = [Task { name: "a".into(), fields: json!({"requires": ["b"]}).as_object().unwrap().clone() }];
    let source = Source::Plugin { name: "p".into(), version: "1.0.0".into() };
    let layers = [Layer::of_tasks(source.clone(), &plugin), Layer::of_tasks(Source::Release, &release)];
    let options = CheckOptions::new(Scope::Whole);
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    assert_eq!(findings[0].source, Some(source));
}
