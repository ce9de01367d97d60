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
    let warnings = plan["warnings"].to_string();
    assert!(warnings.contains("confgure") && warnings.contains("did you mean `configure`?"), "{warnings}");
    assert!(warnings.contains("\"line\":17"), "{warnings}");
    assert!(!stdout.contains("fresh") && !stdout.contains("stale"), "secrets are masked");
}

#[test]
fn summary_groups_equal_reasons() {
    let (code, stdout, stderr) = plan("graph.yaml", &[]);
    assert_eq!(code, 0);
    assert!(
        stdout.contains(
            "run  configure on 1, 2\n       `$.debug` is new: the task has never succeeded on this node"
        ),
        "{stdout}"
    );
    assert!(stdout.contains("3 to run, 1 to skip"), "{stdout}");
    assert!(stderr.contains("graph.yaml:17"), "{stderr}");
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
    let (code, stdout, stderr) = plan(&["--old", &old]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(
        stdout.contains("       cmd:\n         - debug false (secret)\n         + debug true (secret)\n"),
        "{stdout}"
    );
    let (code, stdout, _) = plan(&["--old", &new, "--detailed-exitcode"]);
    assert_eq!(code, 0);
    assert!(
        stdout.starts_with("No changes: 2 nodes match their configuration\nPlan: 0 to run, 2 to skip"),
        "{stdout}"
    );
    let (_, stdout, _) = plan(&["--old", &old, "--show", "summary"]);
    assert!(stdout.starts_with("Plan: 2 to run, 0 to skip"), "{stdout}");
    let (_, stdout, _) = plan(&["--old", &new, "--show", "all"]);
    assert!(stdout.starts_with("skip t on 1, 2\n"), "{stdout}");
}

#[test]
fn exit_code_tells_changes_and_warnings() {
    let (_folder, changed) = rendering_graph();
    assert_eq!(changed(&["--detailed-exitcode", "--warnings-as-errors"]).0, 2);
    assert_eq!(changed(&["--detailed-exitcode", "--output", "json"]).0, 2);
    // The graph of these tests has a reference to a task that does not exist.
    let (code, stdout, stderr) = plan("graph.yaml", &["--warnings-as-errors"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("3 to run") && stderr.contains("`--warnings-as-errors`"), "{stderr}");
    assert_eq!(plan("graph.yaml", &["--detailed-exitcode"]).0, 2);
    assert_eq!(plan("wrong/graph.yaml", &["--detailed-exitcode"]).0, 1);
    assert_eq!(plan("absent.yaml", &["--detailed-exitcode"]).0, 1);
    assert_eq!(plan("graph.yaml", &["--detailed-exitcode", "--only-task", "join"]).0, 1);
    assert_eq!(plan("graph.yaml", &["--show", "most", "--detailed-exitcode"]).0, 1);
}

#[test]
fn planning_errors_have_locations() {
    let (code, stdout, stderr) = plan("wrong/graph.yaml", &["--output", "json"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    for part in ["a@1 → b@1 → a@1", "task `a`, condition, on nodes 1, 2", "absent", "graph.yaml:6"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

#[test]
fn help() {
    insta::assert_snapshot!(run(&["plan", "--help"], ""));
}

#[test]
fn plan_is_rendered_as_diagram() {
    let render = |more: &[&str]| {
        let (code, stdout, _) = plan("graph.yaml", more);
        assert_eq!(code, 0, "{more:?}");
        stdout
    };
    let dot = render(&["--output", "dot"]);
    assert!(dot.contains("\"Task[configure/1]\" -> \"Task[join/2]\";"), "{dot}");
    assert!(dot.contains("\"Task[deploy_start/sync]\" [fillcolor=magenta, style=filled];"), "{dot}");
    let parents = render(&["--output", "dot", "--parents-of", "join", "--only-node", "2"]);
    assert!(parents.contains("Task[configure/2]") && !parents.contains("deploy_start"), "{parents}");
    let running = render(&["--output", "mermaid", "--runs-only"]);
    assert!(running.starts_with("flowchart LR\n") && !running.contains("deploy_start"), "{running}");
    let tasks = render(&["--output", "dot", "--graph", "tasks", "--only-task", "join"]);
    assert!(tasks.contains("\"configure\" [color=gray95];"), "{tasks}");
    assert!(render(&["--output", "svg"]).ends_with("</svg>\n"));
}

#[test]
fn invalid_diagram_options_are_rejected() {
    let check = |more: &[&str], expected: &str| {
        let (code, stdout, stderr) = plan("graph.yaml", more);
        assert_eq!((code, stdout.as_str()), (2, ""), "{more:?}");
        assert!(stderr.contains(expected), "{stderr}");
    };
    check(&["--only-task", "join"], "use `--only-tasks`");
    check(&["--runs-only", "--output", "json"], "needs a diagram format");
    check(&["--output", "svg", "--graph", "tasks", "--runs-only"], "conflicts with `--graph tasks`");
    check(&["--output", "svg", "--only-task", "joni"], "the plan has no task `joni`");
    check(&["--output", "dot", "--graph", "tasks", "--parents-of", "x"], "Task x is not present in graph");
    check(&["--output", "picture"], "possible values: text, json, yaml, dot, svg, mermaid");
}

#[test]
fn durations_give_an_estimate() {
    let folder = stoker_testkit::TempFolder::new();
    let file = folder.path().join("durations.json");
    let path = file.to_str().unwrap();
    let check = |text: &str, expected_code: i32, expected: &str| {
        std::fs::write(&file, text).unwrap();
        let (code, stdout, stderr) = plan("graph.yaml", &["--durations", path]);
        assert_eq!(code, expected_code, "{stderr}");
        assert!(format!("{stdout}{stderr}").contains(expected), "{stdout}{stderr}");
    };
    let chain = "critical path: 2 tasks, 3.5 s\n     2.0 s  configure@2\n     1.5 s  join@2";
    check(
        r#"{"configure": {"1": 1000, "2": 2000}, "join": 1500}"#,
        0,
        &format!("estimated duration: 3.5 s\n{chain}"),
    );
    check(r#"{"configure": 1000}"#, 0, "; 1 of 3 task durations is unknown");
    check("{}", 0, "estimated duration: 1 min 0 s; 3 of 3 task durations are unknown");
    check("[1]", 3, "expected a map from tasks to milliseconds");
    check(r#"{"configure": "fast"}"#, 3, "the duration of `configure` must be a number of milliseconds");
    check(r#"{"configure": {"1": -1}}"#, 3, "the duration of `configure` must be a number of milliseconds");
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
    let (code, _, stderr) = plan(&["--helpers", helpers.to_str().unwrap()]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("error[helper-state]"), "{stderr}");
    assert!(stderr.contains("helpers.yaml:4:19"), "{stderr}");
    assert!(stderr.contains("pass a path from `$`"), "{stderr}");
    std::fs::write(&helpers, text.replace("$document.", "$.").replace("[document]", "[]")).unwrap();
    assert_eq!(plan(&["--helpers", helpers.to_str().unwrap()]).0, 0);
}
