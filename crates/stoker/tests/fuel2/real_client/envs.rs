//! Environments: lifecycle, nodes, settings.

use serde_json::{Value, json};

use crate::harness::{Fuel, release, until};

#[test]
fn environment_is_created_shown_renamed_and_deleted() {
    let fuel = Fuel::new();
    fuel.create("releases", &release("Shop", "newton-10.0"));
    let created = fuel.json("env create demo -r 1");
    let expected = [
        ("id", json!(1)),
        ("name", json!("demo")),
        ("status", json!("new")),
        ("release_id", json!(1)),
        ("is_customized", json!(false)),
    ];
    for (field, value) in &expected {
        assert_eq!(&created[*field], value, "{created}");
    }
    fuel.ok("env create 'with a name of its own' -r 1 -nst tun");
    let output = fuel.run("env create gre --release 1 --net-segmentation-type gre");
    assert!(output.code == 0 && output.stderr.contains("deprecated"), "{output:?}");
    assert_eq!(fuel.json("env show 1"), created);
    assert_eq!(
        fuel.column("env list", "name"),
        [json!("demo"), json!("with a name of its own"), json!("gre")]
    );
    assert_eq!(fuel.column("env list -s name", "name")[0], "demo");

    assert_eq!(fuel.json("env update 1 -n renamed")["name"], "renamed");
    assert_eq!(fuel.json("env update 1")["name"], "renamed");
    fuel.rejected_with(409, "a cluster with this name already exists", "env update 1 --name gre");
    assert_eq!(fuel.ok("env delete 2"), "Environment with id 2 was deleted\n");
    assert_eq!(fuel.ok("env delete --force 3"), "Environment with id 3 was deleted\n");
    until("the environments are deleted", || (fuel.column("env list", "id") == [json!(1)]).then_some(()));
}

#[test]
fn invalid_environments_are_rejected() {
    let fuel = Fuel::new();
    fuel.create("releases", &release("Shop", "newton-10.0"));
    let mut other = release("Closed", "newton-10.0");
    other["state"] = json!("unavailable");
    fuel.create("releases", &other);
    fuel.ok("env create demo -r 1");
    for (status, text, line) in [
        (409, "a cluster with this name already exists", "env create demo -r 1"),
        (400, "Invalid release ID", "env create other -r 9"),
        (403, "", "env create other -r 2"),
        (400, "name", "env create '' -r 1"),
        (404, "Cluster not found", "env show 9"),
        (404, "Cluster not found", "env update 9 -n x"),
        (404, "Cluster not found", "env delete 9"),
        (404, "Cluster not found", "env settings download 9 -f yaml"),
        (404, "Cluster not found", "env add nodes -e 9 -n 1 -r controller"),
        (404, "Cluster not found", "env remove nodes -e 9 -n 1"),
    ] {
        fuel.rejected_with(status, text, line);
    }
    for line in ["env create demo", "env show demo", "env create x -r 1 -nst nonsense"] {
        assert_eq!(fuel.run(line).code, 2, "{line}");
    }
    assert_eq!(fuel.column("env list", "id"), [json!(1)]);
}

#[test]
fn nodes_are_added_and_removed() {
    let fuel = Fuel::new();
    fuel.create("releases", &release("Shop", "newton-10.0"));
    fuel.ok("env create demo -r 1");
    for number in 1..=4 {
        fuel.discover(number);
    }
    let output = fuel.ok("env add nodes -e 1 -n 1 2 -r compute");
    assert_eq!(output, "Nodes [1, 2] were added to the environment 1 with roles ['compute']\n");
    fuel.ok("env add nodes --env 1 --nodes 3 --roles controller");
    let node = fuel.json("node show 3");
    assert_eq!((&node["cluster"], &node["pending_addition"]), (&json!(1), &json!(true)));
    assert_eq!(node["pending_roles"], json!(["controller"]));
    for (status, text, line) in [
        (400, "Nodes with ids 9 were not found.", "env add nodes -e 1 -n 4 9 -r compute"),
        (400, "nonsense", "env add nodes -e 1 -n 4 -r nonsense"),
        (400, "conflict", "env add nodes -e 1 -n 4 -r controller compute"),
        (400, "Nodes [4] are not members of cluster 1", "env remove nodes -e 1 -n 1 4"),
    ] {
        fuel.rejected_with(status, text, line);
    }
    assert_eq!(fuel.column("node list -e 1", "id"), [json!(1), json!(2), json!(3)]);
    assert_eq!(fuel.ok("env remove nodes -e 1 -n 1"), "Nodes were removed from the environment with id=1\n");
    assert_eq!(fuel.column("node list -e 1", "id"), [json!(2), json!(3)]);
    fuel.ok("env remove nodes -e 1 --nodes-all");
    assert!(fuel.rejected("env remove nodes -e 1 --nodes-all").contains("doesn't have nodes to remove"));
}

#[test]
fn settings_are_downloaded_and_uploaded() {
    let fuel = Fuel::with_cluster();
    for format in ["json", "yaml"] {
        let output = fuel.ok(&format!("env settings download 1 -f {format} -d ."));
        let path = fuel.path(&format!("environment_1/settings.{format}"));
        assert_eq!(
            output,
            format!("Configuration of settings for the environment with id 1 was stored in {path}\n")
        );
        let output = fuel.ok(&format!("env settings upload 1 -f {format} -d ."));
        assert_eq!(
            output,
            format!("Configuration of settings for the environment with id 1 was loaded from {path}\n")
        );
    }
    let mut settings = fuel.read_json("environment_1/settings.json");
    settings["editable"]["common"]["debug"]["value"] = json!(true);
    fuel.write("environment_1/settings.json", &settings.to_string());
    fuel.ok("env settings upload 1 -f json --force");
    fuel.ok("env settings download 1 -f json");
    let settings: Value = fuel.read_json("environment_1/settings.json");
    assert_eq!(settings["editable"]["common"]["debug"]["value"], json!(true));

    fuel.write("environment_1/settings.json", "{\"editable\": {\"common\": {\"debug\": {\"value\": 7}}}}");
    fuel.rejected_with(400, "debug", "env settings upload 1 -f json");
    fuel.write("environment_1/settings.json", "[]");
    assert!(fuel.rejected("env settings upload 1 -f json").starts_with("400 "));
    fuel.write("environment_9/settings.json", "{}");
    fuel.rejected_with(404, "Cluster not found", "env settings upload 9 -f json");
    assert!(
        fuel.rejected("env settings upload 1 -f json -d elsewhere").contains("Could not read configuration")
    );
}

#[test]
fn virtual_machines_need_a_graph() {
    let fuel = Fuel::with_cluster();
    fuel.rejected_with(400, "no deployment tasks for graph type 'spawn_vms'", "env spawn-vms 1");
    fuel.rejected_with(404, "Cluster not found", "env spawn-vms 9");
}

#[test]
fn extensions_are_listed_enabled_and_disabled() {
    let fuel = Fuel::with_cluster();
    // The server defines no extensions; releases define their names.
    assert_eq!(fuel.json("extension list"), json!([]));
    let name = "volume_manager";
    fuel.rejected_with(400, "No such extensions: nope", "env extension enable 1 -E nope");
    let output = fuel.ok(&format!("env extension enable 1 -E {name}"));
    assert!(output.contains(name), "{output}");
    assert!(fuel.json("env extension show 1")["extensions"].as_str().unwrap().contains(name));
    fuel.ok(&format!("env extension disable 1 -E {name}"));
    assert!(!fuel.json("env extension show 1")["extensions"].as_str().unwrap().contains(name));
    fuel.rejected_with(400, "nonsense", "env extension disable 1 -E nonsense");
    for line in ["env extension show 9", "env extension enable 9 -E x", "env extension disable 9 -E x"] {
        fuel.rejected_with(404, "Cluster not found", line);
    }
}
