//! Graphs: upload, download of layers, check, diff.

use serde_json::{Value as Json, json};

use crate::fixture::CliFixture;

const TASKS: &str = "- id: hello\n  type: shell\n  role: web\n  parameters: {cmd: echo hello}\n";

fn ids(tasks: &Json) -> Vec<&str> {
    tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

#[test]
fn graphs_are_uploaded_and_downloaded_by_layer() {
    let cli = CliFixture::with_cluster();
    cli.write("tasks.yaml", TASKS);

    // Without a type, the command asks for confirmation; every answer except yes cancels.
    for answer in ["", "n\n", "no way\n"] {
        cli.show_with("graph upload --env 1 --file tasks.yaml", answer);
    }
    assert_eq!(cli.run("graph download --env 1 --cluster -o json").json(), json!([]));
    cli.show_with("graph upload --env 1 --file tasks.yaml", "y\n");
    cli.show("graph upload --env 1 --cluster --file tasks.yaml --yes");
    cli.show("graph upload --env 1 --type usecase1 --file tasks.yaml");
    cli.show_with("graph upload --release 1 --type usecase1 --file -", &TASKS.replace("hello", "world"));
    insta::assert_snapshot!("graph-upload", cli.transcript());

    let merged = cli.run("graph download --env 1 --all --type usecase1 --output json").json();
    assert_eq!(ids(&merged), ["world", "hello"]);
    assert_eq!(cli.run("graph download --env 1 --type usecase1 --output json").json(), merged);
    let line = "graph download --env 1 --cluster --release --type usecase1 --output json";
    assert_eq!(cli.run(line).json(), merged);
    let layers = [("--cluster", "hello"), ("--release", "world")];
    for (layer, task) in layers {
        let tasks = cli.run(&format!("graph download --env 1 {layer} --type usecase1 -o json")).json();
        assert_eq!(ids(&tasks), [task]);
    }
    assert_eq!(cli.run("graph download --env 1 --plugins --type usecase1 -o json").json(), json!([]));
    let release = cli.run("graph download --release 1 --type usecase1 --output json").json();
    assert_eq!(ids(&release), ["world"]);
    cli.show("graph download --env 1 --type usecase1");
    cli.show("graph download --release 1 --type nothing");

    // Download to a file and upload it again.
    cli.show("graph download --env 1 --all --type usecase1 --file all.yaml");
    assert!(cli.read("all.yaml").starts_with("- id: world\n"));
    cli.show("graph download --env 1 --file /nonexist/x");
    cli.show("graph upload --env 1 --type again --file all.yaml");
    let reuploaded = cli.run("graph download --env 1 --type again -o json").json();
    assert_eq!(reuploaded, merged);
    cli.show("graph download --env 1 --type again --file all.json");
    assert_eq!(serde_json::from_str::<Json>(&cli.read("all.json")).unwrap(), merged);
    cli.show("graph download --env 1 --all --cluster");
    insta::assert_snapshot!("graph-download", cli.transcript());

    cli.show("graph list --env 1");
    cli.show("graph list --env 1 --cluster --type usecase1");
    cli.show("graph list --env 9");
    cli.show("graph delete --env 1 --type usecase1");
    cli.show("graph delete --env 1 --type usecase1");
    cli.show("graph delete --env 1");
    insta::assert_snapshot!("graph-list", cli.transcript());
}

/// Every layer of every real graph keeps the rows of its tasks when a download is uploaded again.
#[test]
fn uploading_a_download_keeps_every_row() {
    let cli = CliFixture::with_cluster().with_plugin_for("addon", "Ubuntu", "1.0-10.0");
    let client = cli.server.client();
    let mut graphs = vec![("custom".to_owned(), TASKS.to_owned())];
    let plugin_graphs = stoker_testkit::real_plugin_graphs();
    for (name, path) in stoker_testkit::real_graphs() {
        graphs.push((name, std::fs::read_to_string(path).unwrap()));
    }
    for (owner, path) in
        [("--release 1", "releases/1"), ("--env 1 --cluster", "clusters/1"), ("--plugin 1", "plugins/1")]
    {
        for (graph_type, text) in &graphs {
            // One layer is enough for the graphs of plugins; the tests of REST cover the others.
            if !path.starts_with("plugins") && plugin_graphs.iter().any(|(name, _)| name == graph_type) {
                continue;
            }
            cli.write("tasks.yaml", text);
            let upload = format!("graph upload {owner} --type {graph_type} --file tasks.yaml");
            cli.run(&upload).ok();
            let id = client.expect(
                200,
                "GET",
                &format!("/api/v1/{path}/deployment_graphs/{graph_type}"),
                None,
            )["id"]
                .clone();
            let rows = || client.expect(200, "GET", &format!("/api/v1/graphs/{id}/tasks"), None);
            let before = rows();
            for file in ["again.yaml", "again.json"] {
                cli.run(&format!("graph download {owner} --type {graph_type} --file {file}"));
                cli.run(&format!("graph upload {owner} --type {graph_type} --file {file}"));
                assert_eq!(rows(), before, "{owner} {graph_type} {file}");
            }
        }
    }
}

#[test]
fn invalid_file_is_rejected_with_locations() {
    let cli = CliFixture::with_cluster();
    cli.write(
        "bad.yaml",
        "- id: a\n  type: shel\n- id: b\n  type: shell\n  condition: {yaql_exp: '$.a +'}\n",
    );
    cli.show("graph upload --env 1 --type bad --file bad.yaml");
    assert_eq!(cli.run("graph download --env 1 --type bad -o json").json(), json!([]));
    cli.show("graph check --file bad.yaml");
    cli.write("loop.yaml", "- {id: a, type: stage, requires: [b]}\n- {id: b, type: stage, requires: [a]}\n");
    cli.show("graph check --file loop.yaml");
    cli.show("graph check --env 1");
    cli.show("graph check --release 1 --output json");
    insta::assert_snapshot!("graph-check", cli.transcript());
}

#[test]
fn files_below_a_folder_form_one_graph() {
    let cli = CliFixture::with_cluster();
    cli.write("many/b/tasks.yaml", "- &x {id: b, type: stage, requires: [a]}\n");
    cli.write("many/a/deep/tasks.yaml", "- &x {id: a, type: stage}\n");
    cli.write("many/a/other.yaml", "]");
    cli.show("graph upload --release 1 --type many --dir many");
    let tasks = cli.run("graph download --release 1 --type many --output json").json();
    assert_eq!(ids(&tasks), ["a", "b"]);
    cli.write("many/c/tasks.yaml", "- {id: a, type: stage}\n- {id: c, type: shel}\n");
    cli.show("graph upload --release 1 --type many --dir many");
    cli.show("graph upload --release 1 --dir many/a");
    insta::assert_snapshot!("graph-upload-dir", cli.transcript());
}

#[test]
fn graphs_are_compared_and_shown() {
    let cli = CliFixture::with_cluster();
    let changed = TASKS.replace("echo hello", "echo good morning");
    cli.write("old.yaml", TASKS);
    cli.write("new.yaml", &format!("{changed}- {{id: more, type: stage}}\n"));
    cli.run("graph upload --env 1 --type t --file old.yaml").ok();
    cli.show("graph diff --env 1 --type t --file new.yaml");
    cli.show("graph diff cluster:1/t old.yaml");
    cli.show("graph diff env:1/t new.yaml --output json");
    cli.show("graph diff env:1/t nowhere.yaml");
    insta::assert_snapshot!("graph-diff", cli.transcript());

    cli.run("graph upload --env 1 --type default --file {examples}/demo/cluster-graph.yaml").ok();
    cli.show("graph show --env 1");
    cli.show("graph show --env 1 --task install-shop --output yaml");
    cli.show("graph show --env 1 --task no-such-task");
    cli.show("graph show 99");
    insta::assert_snapshot!("graph-show", cli.transcript());
}

#[test]
fn plugins_have_graphs_too() {
    let cli = CliFixture::with_cluster().with_plugin();
    cli.write("tasks.yaml", TASKS);
    cli.show("graph upload --plugin 1 --type extra --file tasks.yaml");
    let tasks = cli.run("graph download --plugin 1 --type extra --output json").json();
    assert_eq!(ids(&tasks), ["hello"]);
    let enable = "settings upload 1 --file {examples}/demo/enable.yaml";
    cli.run(enable).ok();
    for layer in ["--plugins", "--plugin", "--plugins --cluster", "--all"] {
        let line = format!("graph download --env 1 {layer} --type extra -o json");
        assert_eq!(ids(&cli.run(&line).json()), ["hello"], "{layer}");
    }
    cli.show("graph list --env 1 --plugins");
    cli.show("graph delete --plugin 1 --type extra");
    insta::assert_snapshot!("graph-plugin", cli.transcript());
}

#[test]
fn plugin_for_another_release_is_rejected() {
    let cli = CliFixture::with_cluster().with_plugin_for("elsewhere", "centos", "7.0");
    cli.show("plugin enable elsewhere --env 1");
    insta::assert_snapshot!("plugin-enable", cli.transcript());
}

/// A downloaded graph contains no defaults and no aliases; uploading it again gives the same graph.
#[test]
fn downloads_omit_defaults_and_aliases() {
    let cli = CliFixture::with_cluster();
    let text = "- id: hello\n  type: shell\n  roles:\n    - web\n  cross_depends:\n    - name: other\n  parameters:\n    cmd: echo hello\n\
                - id: other\n  type: stage\n  version: 2.0.0\n";
    cli.write("tasks.yaml", text);
    cli.run("graph upload --env 1 --type t --file tasks.yaml").ok();
    assert_eq!(cli.run("graph download --env 1 --type t").ok(), text);
    assert_eq!(cli.run("graph download --env 1 --cluster --type t").ok(), text);
}

/// Equal warnings of several tasks are grouped.
#[test]
fn equal_warnings_are_grouped_unless_verbose() {
    let cli = CliFixture::with_cluster();
    let task =
        |number: usize| format!("- {{id: t{number}, type: shell, role: nobody, parameters: {{cmd: x}}}}\n");
    cli.write("tasks.yaml", &(0..9).map(task).collect::<String>());
    cli.show("graph upload --env 1 --type t --file tasks.yaml");
    cli.show("graph check --env 1 --type t");
    cli.show("graph check --env 1 --type t -v");
    assert_eq!(cli.run("graph check --env 1 --type t -o json").json().as_array().unwrap().len(), 9);
    insta::assert_snapshot!("graph-warnings", cli.transcript());
}

/// Warnings that only the server can detect have the line in the file, on upload and in plans.
#[test]
fn warnings_of_the_server_have_lines() {
    let cli = CliFixture::with_cluster();
    let text = "- id: hello\n  type: shell\n  version: 2.1.0\n  role: web\n  requires: [nowhere]\n  parameters:\n    cmd: {yaql_exp: noSuchFunction(1)}\n";
    cli.write("mine.yaml", text);
    cli.show("graph upload --env 1 --type t --file mine.yaml");
    cli.write("mine.yaml", &text.replace("{yaql_exp: noSuchFunction(1)}", "'true'"));
    cli.show("graph upload --env 1 --type t --file mine.yaml");
    cli.show("plan --env 1 --type t");
    insta::assert_snapshot!("graph-warning-lines", cli.transcript());
}

/// Everything that can be known without a node is reported, with its line.
#[test]
fn check_of_a_file_finds_mistakes_in_parameters_and_keys() {
    let cli = CliFixture::bare();
    cli.write(
        "tasks.yaml",
        "\
- id: copy
  type: copy_files
  version: 2.1.0
  role: web
  requries: [shell]
  parameters:
    permissions: 644
    files:
      - {src: motd, dst: etc/motd}
- id: shell
  type: shell
  version: 2.1.0
  role: web
  parameters:
    comand: ls
    timeout: soon
    retries: 5000
    cwd: tmp
    retry_interrupted: maybe
- id: puppet
  type: puppet
  version: 2.1.0
  role: web
  parameters: {puppet_manifest: site.pp, timeout: {yaql_exp: $.timeout}}
- id: upload
  type: upload_file
  version: 2.1.0
  role: web
  parameters: {path: motd, data: [1], overwrite: 1}
- {id: partial, type: shell, version: 2.1.0, role: web}
",
    );
    cli.show("graph check --file tasks.yaml");
    insta::assert_snapshot!("graph-check-parameters", cli.transcript());
}

/// The last line counts the warnings of the reader and those of the check.
#[test]
fn check_of_a_file_counts_all_warnings() {
    let cli = CliFixture::bare();
    let condition = "{yaql_exp: 'changed(1) or $.x = True'}";
    cli.write("tasks.yaml", &format!("{TASKS}  condition: {condition}\n  requries: [other]\n"));
    cli.show("graph check --file tasks.yaml");
    insta::assert_snapshot!("graph-check-all-warnings", cli.transcript());
}
