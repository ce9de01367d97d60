//! Sequences of graphs.

use serde_json::json;

use crate::harness::{Fuel, release};

#[test]
fn sequence_is_created_updated_and_deleted() {
    let fuel = Fuel::with_cluster();
    let created = fuel.json("sequence create -r 1 -n all -t verify default");
    assert_eq!(created, json!({"id": 1, "release_id": 1, "name": "all"}));
    assert_eq!(fuel.json("sequence show 1")["graphs"], "verify, default");
    for owner in ["-r 1", "-e 1"] {
        assert_eq!(fuel.json(&format!("sequence list {owner}")), json!([created]));
    }
    let updated = fuel.json("sequence update 1 -n some -t default");
    assert_eq!(updated, json!({"id": 1, "name": "some"}));
    assert_eq!(fuel.json("sequence show 1")["graphs"], "default");
    assert_eq!(fuel.json("sequence update 1 --name other")["name"], "other");

    for format in ["json", "yaml"] {
        fuel.ok(&format!("sequence download 1 --file back.{format}"));
        fuel.rejected_with(
            409,
            "Sequence with name \"other\" already exist for release 1.",
            &format!("sequence upload -r 1 --file back.{format}"),
        );
    }
    assert!(fuel.ok("sequence download 1").contains("name: other\n"));
    assert_eq!(fuel.ok("sequence delete 1"), "Sequence with id 1 was deleted\n");
    // A downloaded sequence can be uploaded again, including its IDs.
    let uploaded = fuel.json("sequence upload -r 1 --file back.yaml");
    assert_eq!(uploaded["name"], "other");
    let id = uploaded["id"].as_i64().unwrap();
    assert_eq!(fuel.json(&format!("sequence show {id}"))["graphs"], "default");
}

#[test]
fn sequence_runs_its_graphs_in_order() {
    let fuel = Fuel::with_cluster();
    fuel.ok("sequence create -r 1 -n all -t verify default");
    for option in ["", "--dry-run", "--noop", "--force", "--trace"] {
        let task = fuel.finish(&format!("sequence execute 1 -e 1 {option}"));
        assert_eq!(task["status"], "ready", "{option}: {task}");
    }
    let types = fuel.column("task list -n deployment", "graph_type");
    assert_eq!(types[..2], [json!("verify"), json!("default")]);
    assert_eq!(types.len(), 8, "{types:?}");
    assert_eq!(
        fuel.column("task list -n dry_run_deployment", "graph_type"),
        [json!("verify"), json!("default")]
    );
    assert!(fuel.ok("sequence execute 1 -e 1 --dry-run --format json").contains("\"dry_run\": true"));
}

#[test]
fn deployment_runs_the_deploy_changes_sequence() {
    let fuel = Fuel::with_cluster();
    fuel.ok("sequence create -r 1 -n deploy-changes -t verify default");
    let task = fuel.finish("env deploy 1");
    assert_eq!(task["status"], "ready", "{task}");
    assert_eq!(fuel.column("task list -n deployment", "graph_type"), [json!("verify"), json!("default")]);
}

#[test]
fn invalid_sequences_are_rejected() {
    let fuel = Fuel::with_cluster();
    fuel.create("releases", &release("Other", "newton-10.0"));
    fuel.ok("sequence create -r 2 -n others -t default");
    fuel.ok("sequence create -r 1 -n empty -t nothing");
    fuel.write("graphless.yaml", "name: x\n");
    fuel.write("strange.yaml", "name: x\ngraphs: [{type: default}]\ncolour: red\n");
    for (status, text, line) in [
        (409, "already exist", "sequence create -r 2 -n others -t default"),
        (404, "Release not found", "sequence create -r 9 -n x -t default"),
        (400, "graphs", "sequence upload -r 1 --file graphless.yaml"),
        (400, "colour", "sequence upload -r 1 --file strange.yaml"),
        (404, "Sequence not found", "sequence show 9"),
        (404, "Sequence not found", "sequence download 9"),
        (404, "Sequence not found", "sequence update 9 -n x"),
        (404, "Sequence not found", "sequence delete 9"),
        (404, "Sequence not found", "sequence execute 9 -e 1"),
        (404, "Cluster not found", "sequence execute 1 -e 9"),
        (404, "is not found for cluster", "sequence execute 1 -e 1"),
        (400, "There are no deployment tasks for graph type 'nothing'", "sequence execute 2 -e 1"),
        (404, "Release not found", "sequence list -r 9"),
        (404, "Cluster not found", "sequence list -e 9"),
    ] {
        fuel.rejected_with(status, text, line);
    }
    assert_eq!(fuel.run("sequence list").code, 2);
    assert!(fuel.rejected("sequence upload -r 1 --file graphless.txt").contains("No serializer"));
}
