//! Upload and download of graphs of all three owners.

use serde_json::{Value, json};

use crate::harness::Fuel;

const TASKS: &str = "
- id: first
  type: shell
  version: 2.1.0
  role: ['controller']
  parameters: {cmd: 'true', timeout: 60}
- id: second
  type: shell
  version: 2.1.0
  role: '*'
  requires: [first]
  cross-depends: [{name: first, role: controller}]
  condition: {yaql_exp: 'changed($.cluster.name)'}
  parameters: {cmd: {yaql_exp: '$.cluster.name'}, timeout: 60}
";

fn ids(tasks: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// Creates a plugin with a graph and enables it as users of the client do.
fn enable_plugin(fuel: &Fuel) {
    let plugin = json!({
        "name": "extra", "title": "Extra", "version": "1.0.0", "package_version": "4.0.0", "fuel_version": ["10.0"],
        "releases": [{"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"],
                      "deployment_scripts_path": "scripts/", "repository_path": "repository"}],
        "attributes_metadata": {"level": {"type": "text", "value": "high", "label": "Level"}},
    });
    let id = fuel.create("plugins", &plugin);
    fuel.ok("env settings download 1 -f json");
    let mut settings = fuel.read_json("environment_1/settings.json");
    let metadata = &mut settings["editable"]["extra"]["metadata"];
    assert_eq!((&metadata["class"], &metadata["enabled"]), (&json!("plugin"), &json!(false)));
    metadata["enabled"] = json!(true);
    metadata["chosen_id"] = json!(id);
    fuel.write("environment_1/settings.json", &settings.to_string());
    fuel.ok("env settings upload 1 -f json");
}

#[test]
fn main_workflow_with_the_executable() {
    let fuel = Fuel::with_cluster();
    fuel.write("tasks.yaml", TASKS);
    let run = |args: &[&str]| {
        let output = fuel.program(&[], args);
        assert_eq!(output.code, 0, "{args:?}: {output:?}");
        output.stdout
    };
    let output = run(&["graph", "upload", "--env", "1", "--graph-type", "usecase1", "--file", "tasks.yaml"]);
    assert_eq!(output, "Deployment graph was successfully uploaded.\n");
    run(&["graph", "download", "--env", "1", "--all", "--graph-type", "usecase1", "--file", "all.yaml"]);
    assert!(fuel.read("all.yaml").contains("yaql_exp: changed($.cluster.name)"));
    let output = run(&["graph", "execute", "--env", "1", "--graph-types", "usecase1", "--nodes", "1", "2"]);
    assert_eq!(output, "Deployment task with id 1 for the environment 1 has been started.\n");
    assert_eq!(
        fuel.wait_for_end(1)["status"],
        "error",
        "the second task runs a program with the name of the cluster"
    );
    let history: Value = serde_json::from_str(&run(&["task", "history", "show", "1", "-f", "json"])).unwrap();
    let first = history.as_array().unwrap().iter().find(|row| row["task_name"] == "first").unwrap();
    assert_eq!((&first["node_id"], &first["status"]), (&json!("1"), &json!("ready")));
}

#[test]
fn graph_of_each_owner_is_uploaded_listed_downloaded_and_deleted() {
    let fuel = Fuel::with_cluster();
    enable_plugin(&fuel);
    fuel.write("tasks.yaml", TASKS);
    fuel.write(
        "plugin.yaml",
        "- {id: third, type: shell, version: 2.1.0, role: '*', parameters: {cmd: 'true', timeout: 60}}",
    );
    fuel.write(
        "graph.yaml",
        "name: with a name\ntasks:\n- {id: first, type: skipped, role: [compute]}\non_success: {node_attributes: {status: ready}}",
    );
    for (owner, file) in [("-r 1", "tasks.yaml"), ("-p 1", "plugin.yaml"), ("-e 1", "graph.yaml")] {
        let line = format!("graph upload {owner} -t custom -f {file}");
        // The first upload creates the graph, the second replaces it.
        for _ in 0..2 {
            assert_eq!(fuel.ok(&line), "Deployment graph was successfully uploaded.\n");
        }
    }

    let graphs = fuel.json("graph list");
    let custom: Vec<&Value> = graphs
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["relations"].as_str().unwrap().contains("custom"))
        .collect();
    assert_eq!(custom.len(), 3, "{graphs}");
    let env_relations = fuel.column("graph list -e 1", "relations");
    assert_eq!(env_relations.len(), 7, "each owner has a default graph: {env_relations:?}");
    for (filter, relation, n) in [
        ("--cluster", "as \"custom\" to cluster(ID=1)", 2),
        ("--plugins", "as \"custom\" to plugin(ID=1)", 2),
        ("--release", "as \"custom\" to release(ID=1)", 3),
    ] {
        for env in ["-e 1", ""] {
            let relations = fuel.column(&format!("graph list {env} {filter}"), "relations");
            assert_eq!(relations.len(), n, "{filter}: {relations:?}");
            assert!(relations.contains(&json!(relation)), "{filter}: {relations:?}");
        }
    }
    assert_eq!(fuel.column("graph list -e 1 --cluster", "name"), [json!(null), json!("with a name")]);
    assert_eq!(fuel.column("graph list -e 1 --plugins", "tasks"), [json!(""), json!("third")]);
    assert_eq!(fuel.column("graph list -e 1 --plugins --cluster", "tasks").len(), 4);

    for (layer, expected) in [
        ("--all", vec!["first", "second", "third"]),
        ("--cluster", vec!["first"]),
        ("--plugins", vec!["third"]),
        ("--release", vec!["first", "second"]),
    ] {
        let name = layer.trim_start_matches('-');
        let output = fuel.ok(&format!("graph download -e 1 {layer} -t custom --format json"));
        let file = format!("{name}_graph_1.json");
        assert_eq!(output, format!("Tasks were downloaded to {}\n", fuel.path(&file)));
        assert_eq!(ids(&fuel.read_json(&file)), expected, "{layer}");
    }
    let merged = fuel.read_json("all_graph_1.json");
    let first = merged.as_array().unwrap().iter().find(|task| task["id"] == "first").unwrap();
    assert_eq!(
        (&first["type"], &first["parameters"]["cmd"]),
        (&json!("skipped"), &json!("true")),
        "merged by attribute"
    );
    // The default type is `default`; an unknown type has no tasks.
    fuel.ok("graph download -e 1 --all --format json --file default.json");
    assert_eq!(ids(&fuel.read_json("default.json")), ["install", "prepare"]);
    fuel.ok("graph download -e 1 --all -t nobodys --format json --file none.json");
    assert_eq!(fuel.read_json("none.json"), json!([]));

    for (owner, noun) in [("-e 1", "environment"), ("-r 1", "release"), ("-p 1", "plugin")] {
        let line = format!("graph delete {owner} -t custom");
        assert_eq!(fuel.ok(&line), format!("Deployment graph 'custom' for {noun} with id 1 was deleted.\n"));
        fuel.rejected_with(404, "Graph with type: custom is not defined", &line);
    }
    assert_eq!(fuel.column("graph list", "relations").len(), 4);
}

#[test]
fn downloaded_graph_can_be_uploaded() {
    let fuel = Fuel::with_cluster();
    fuel.write("tasks.yaml", TASKS);
    fuel.ok("graph upload --release 1 --graph-type custom --file tasks.yaml");
    for format in ["json", "yaml"] {
        fuel.ok(&format!(
            "graph download --env 1 --all --graph-type custom --file back.yaml --format {format}"
        ));
        fuel.ok("graph upload --env 1 --graph-type custom --file back.yaml");
        fuel.ok("graph download --env 1 --cluster --graph-type custom --file again.json --format json");
        fuel.ok("graph download --env 1 --release --graph-type custom --file first.json --format json");
        assert_eq!(fuel.read_json("again.json"), fuel.read_json("first.json"), "{format}");
    }
}

/// Every layer of every real graph keeps the rows of its tasks when a download is uploaded again.
#[test]
fn uploading_a_downloaded_layer_keeps_every_row() {
    let fuel = Fuel::with_cluster();
    enable_plugin(&fuel);
    fuel.write("override.yaml", "- {id: third, type: shell, role: '*', parameters: {cmd: 'true'}}");
    let mut graphs = vec![("custom".to_owned(), fuel.path("override.yaml"))];
    for name in ["default-graph", "provision__tasks", "deletion__tasks", "net-verification__tasks"] {
        let path = stoker_testkit::real_data(&format!("fuel-library/{name}.yaml"));
        graphs.extend(path.map(|path| (name.replace("__", "-"), path.display().to_string())));
    }
    for (owner, layer, collection) in [
        ("-r 1", "--release", "releases/1"),
        ("-e 1", "--cluster", "clusters/1"),
        ("-p 1", "--plugins", "plugins/1"),
    ] {
        for (graph_type, file) in &graphs {
            fuel.ok(&format!("graph upload {owner} -t {graph_type} -f {file}"));
            let rows = || {
                let graph = format!("/api/v1/{collection}/deployment_graphs/{graph_type}");
                let id = fuel.rest.expect(200, "GET", &graph, None)["id"].clone();
                fuel.rest.expect(200, "GET", &format!("/api/v1/graphs/{id}/tasks"), None)
            };
            let before = rows();
            for format in ["json", "yaml"] {
                fuel.ok(&format!(
                    "graph download -e 1 {layer} -t {graph_type} --file layer.{format} --format {format}"
                ));
                fuel.ok(&format!("graph upload {owner} -t {graph_type} -f layer.{format}"));
                assert_eq!(rows(), before, "{layer} {graph_type} {format}");
            }
        }
    }
}

#[test]
fn folder_is_uploaded_as_one_graph() {
    let fuel = Fuel::with_cluster();
    fuel.write("tree/metadata.yaml", "name: from a directory\nnode_filter: $.status != 'error'\n");
    fuel.write("tree/a/tasks.yaml", TASKS);
    fuel.write("tree/b/deep/tasks.yaml", "- {id: deep, type: stage}");
    fuel.write("tree/c/tasks.yaml", "");
    fuel.ok("graph upload -e 1 -t folder -d tree");
    let rows = fuel.json("graph list -e 1 --cluster");
    assert_eq!(
        (&rows[1]["name"], &rows[1]["tasks"]),
        (&json!("from a directory"), &json!("deep, first, second"))
    );
    fuel.write("bare/tasks.yaml", TASKS);
    fuel.ok("graph upload -e 1 -t folder --dir bare");
    let rows = fuel.json("graph list -e 1 --cluster");
    assert_eq!(rows[1]["tasks"], "first, second");
}
