//! `stoker plan --offline`: data and text output.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod program;

use std::collections::BTreeSet;

use program::{run, run_bytes};
use serde_json::Value as Json;
use stoker_testkit::real_data;

const FOLDER: &str = "crates/stoker/tests/data/plan";

fn plan(graph: &str, more: &[&str]) -> (i32, String, String) {
    let path = |name: &str| format!("{FOLDER}/{name}");
    let (graph, nodes, tags) = (path(graph), path("new"), path("tags.yaml"));
    let arguments = ["plan", "--offline", "--tasks", &graph, "--nodes", &nodes, "--tags", &tags];
    let output = run_bytes(&[&arguments, more].concat(), b"");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The outputs of several plans as one text, with the path of the test's folder replaced.
#[derive(Default)]
struct Record {
    folder: Option<String>,
    text: String,
}

impl Record {
    fn of(folder: &stoker_testkit::TempFolder) -> Self {
        Self { folder: folder.path().to_str().map(str::to_owned), text: String::new() }
    }

    fn add(&mut self, title: &str, (code, stdout, stderr): &(i32, String, String)) {
        let entry = format!("# {title}\nexit code {code}\n--- stdout\n{stdout}--- stderr\n{stderr}\n");
        self.text.push_str(&match &self.folder {
            Some(folder) => entry.replace(folder, "FOLDER"),
            None => entry,
        });
    }
}

#[test]
fn json_contains_every_instance_with_its_reason() {
    let old = format!("{FOLDER}/old");
    let (code, stdout, stderr) = plan("graph.yaml", &["--old", &old, "--output", "json"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let plan: Json = serde_json::from_str(&stdout).unwrap();
    let instances: Vec<String> = plan["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|instance| {
            let text = |key: &str| instance[key].as_str().unwrap();
            format!("{}@{} {}: {}", text("task"), text("node"), text("action"), text("reason"))
        })
        .collect();
    assert_eq!(
        instances,
        [
            "configure@1 run: `$.debug` has changed: debug changed from false to true",
            "configure@2 run: `$.access` has changed: access.password changed: (secret)",
            "deploy_start@sync skip: a stage is a synchronization point and runs nothing",
            "join@2 run: the task has no condition",
        ]
    );
    let edges: BTreeSet<String> =
        plan["edges"].as_array().unwrap().iter().map(|edge| format!("{} {}", edge[0], edge[1])).collect();
    let expected = [
        r#""configure@1" "join@2""#,
        r#""configure@2" "join@2""#,
        r#""deploy_start@sync" "configure@1""#,
        r#""deploy_start@sync" "configure@2""#,
    ];
    assert_eq!(edges, expected.iter().map(|edge| (*edge).to_owned()).collect());
    let group = &plan["fault_tolerance_groups"][0];
    assert_eq!((group["name"].as_str(), group["fault_tolerance"].as_u64()), (Some("compute"), Some(0)));
    insta::assert_snapshot!(serde_json::to_string_pretty(&plan["warnings"]).unwrap());
    assert!(!stdout.contains("fresh") && !stdout.contains("stale"), "secrets are masked");
}

#[test]
fn summary_groups_equal_reasons() {
    let mut record = Record::default();
    record.add("summary", &plan("graph.yaml", &[]));
    insta::assert_snapshot!(record.text);
}

/// Writes a graph whose task renders the state into its parameters; returns its folder and the arguments of a plan.
fn rendering_graph() -> (stoker_testkit::TempFolder, impl Fn(&[&str]) -> (i32, String, String)) {
    let folder = stoker_testkit::TempFolder::new();
    let graph = "- id: t\n  type: shell\n  version: 3.0.0\n  roles: ['*']\n  \
                 parameters: {cmd: {yaql_exp: \"concat('debug ', str($.debug), ' ', $.access.password)\"}}\n";
    std::fs::write(folder.path().join("graph.yaml"), graph).unwrap();
    let state = |debug: bool, password: &str| format!("debug: {debug}\naccess: {{password: {password}}}\n");
    for (name, one, two) in [
        ("new", state(true, "fresh-password"), state(true, "fresh-password")),
        ("old", state(false, "fresh-password"), state(true, "stale-password")),
    ] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        for (uid, text) in [(1, one), (2, two)] {
            let path = folder.path().join(name).join(format!("{uid}.yaml"));
            std::fs::write(path, format!("uid: '{uid}'\n{text}")).unwrap();
        }
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (graph, nodes) = (path("graph.yaml"), path("new"));
    let run = move |more: &[&str]| {
        let tags = format!("{FOLDER}/tags.yaml");
        let arguments = ["plan", "--offline", "--tasks", &graph, "--nodes", &nodes, "--tags", &tags];
        let output = run_bytes(&[&arguments, more].concat(), b"");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    (folder, run)
}

#[test]
fn inputs_over_both_states_are_compared() {
    let (folder, plan) = rendering_graph();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (old, new) = (path("old"), path("new"));
    let mut record = Record::of(&folder);
    record.add("changed", &plan(&["--old", &old]));
    record.add("unchanged", &plan(&["--old", &new, "--detailed-exitcode"]));
    record.add("summary of changes", &plan(&["--old", &old, "--show", "summary"]));
    record.add("all instances", &plan(&["--old", &new, "--show", "all"]));
    insta::assert_snapshot!(record.text);
}

#[test]
fn exit_code_tells_changes_and_warnings() {
    let (_folder, changed) = rendering_graph();
    assert_eq!(changed(&["--detailed-exitcode", "--warnings-as-errors"]).0, 2);
    assert_eq!(changed(&["--detailed-exitcode", "--output", "json"]).0, 2);
    // The graph of these tests has a reference to a task that does not exist.
    let mut record = Record::default();
    record.add("warnings as errors", &plan("graph.yaml", &["--warnings-as-errors"]));
    insta::assert_snapshot!(record.text);
    assert_eq!(plan("graph.yaml", &["--detailed-exitcode"]).0, 2);
    assert_eq!(plan("wrong/graph.yaml", &["--detailed-exitcode"]).0, 1);
    assert_eq!(plan("absent.yaml", &["--detailed-exitcode"]).0, 1);
    assert_eq!(plan("graph.yaml", &["--detailed-exitcode", "--only-task", "join"]).0, 1);
    assert_eq!(plan("graph.yaml", &["--show", "most", "--detailed-exitcode"]).0, 1);
}

#[test]
fn planning_errors_have_locations() {
    let mut record = Record::default();
    record.add("several errors", &plan("wrong/graph.yaml", &["--output", "json"]));
    insta::assert_snapshot!(record.text);
}

#[test]
fn help() {
    insta::assert_snapshot!(run(&["plan", "--help"], ""));
}

#[test]
fn plan_is_rendered_as_diagram() {
    let mut record = Record::default();
    for more in [
        &["--output", "dot"][..],
        &["--output", "dot", "--parents-of", "join", "--only-node", "2"],
        &["--output", "mermaid", "--runs-only"],
        &["--output", "dot", "--graph", "tasks", "--only-task", "join"],
    ] {
        record.add(&more.join(" "), &plan("graph.yaml", more));
    }
    insta::assert_snapshot!(record.text);
    let (code, stdout, _) = plan("graph.yaml", &["--output", "svg"]);
    assert!(code == 0 && stdout.ends_with("</svg>\n"), "{stdout}");
}

#[test]
fn invalid_diagram_options_are_rejected() {
    let mut record = Record::default();
    for more in [
        &["--only-task", "join"][..],
        &["--runs-only", "--output", "json"],
        &["--output", "svg", "--graph", "tasks", "--runs-only"],
        &["--output", "svg", "--only-task", "joni"],
        &["--output", "dot", "--graph", "tasks", "--parents-of", "x"],
        &["--output", "picture"],
    ] {
        let output = plan("graph.yaml", more);
        assert_eq!((output.0, output.1.as_str()), (2, ""), "{more:?}");
        record.add(&more.join(" "), &output);
    }
    insta::assert_snapshot!(record.text);
}

#[test]
fn durations_give_an_estimate() {
    let folder = stoker_testkit::TempFolder::new();
    let file = folder.path().join("durations.json");
    let path = file.to_str().unwrap();
    let mut record = Record::of(&folder);
    for (durations, code) in [
        (r#"{"configure": {"1": 1000, "2": 2000}, "join": 1500}"#, 0),
        (r#"{"configure": 1000}"#, 0),
        ("{}", 0),
        ("[1]", 3),
        (r#"{"configure": "fast"}"#, 3),
        (r#"{"configure": {"1": -1}}"#, 3),
    ] {
        std::fs::write(&file, durations).unwrap();
        let output = plan("graph.yaml", &["--durations", path, "--show", "summary"]);
        assert_eq!(output.0, code, "{durations}");
        record.add(durations, &output);
    }
    insta::assert_snapshot!(record.text);
}

#[test]
fn real_cluster_has_the_expected_plan() {
    let (Some(graph), Some(tags), Some(node)) = (
        real_data("fuel-library/default-graph.yaml"),
        real_data("expected/plans.json"),
        real_data("nodes/node-126.primary-controller.yaml"),
    ) else {
        return;
    };
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (graph, tags, nodes) = (path(&graph), path(&tags), path(node.parent().unwrap()));
    let arguments =
        ["plan", "--offline", "--tasks", &graph, "--nodes", &nodes, "--tags", &tags, "--output", "json"];
    for (more, n_run) in [(&[][..], 351), (&["--old", nodes.as_str()][..], 22)] {
        let output = run_bytes(&[&arguments, more].concat(), b"");
        let plan: Json = serde_json::from_slice(&output.stdout).unwrap();
        let instances = plan["instances"].as_array().unwrap();
        let run = instances.iter().filter(|instance| instance["action"] == "run").count();
        assert_eq!((instances.len(), run, plan["edges"].as_array().unwrap().len()), (455, n_run, 1330));
    }
}

#[test]
fn helpers_cannot_compare_their_parameters() {
    let (folder, plan) = rendering_graph();
    let helpers = folder.path().join("helpers.yaml");
    let text = "functions:\n  - name: controllersChanged\n    parameters: [document]\n    \
                body: changed($document.nodes.where($.role = controller))\n";
    std::fs::write(&helpers, text).unwrap();
    let mut record = Record::of(&folder);
    record.add("comparison of a parameter", &plan(&["--helpers", helpers.to_str().unwrap()]));
    insta::assert_snapshot!(record.text);
    std::fs::write(&helpers, text.replace("$document.", "$.").replace("[document]", "[]")).unwrap();
    assert_eq!(plan(&["--helpers", helpers.to_str().unwrap()]).0, 0);
}
