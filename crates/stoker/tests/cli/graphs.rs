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

    // Without a type, the command asks for confirmation; everything but yes cancels.
    for answer in ["", "n\n", "no way\n"] {
        cli.run_with("graph upload --env 1 --file tasks.yaml", answer).fails(1, &["not confirmed", "--yes"]);
    }
    assert_eq!(cli.run("graph download --env 1 --cluster -o json").json(), json!([]));
    cli.run_with("graph upload --env 1 --file tasks.yaml", "y\n").ok();
    cli.run("graph upload --env 1 --cluster --file tasks.yaml --yes").ok();
    let output = cli.run("graph upload --env 1 --type usecase1 --file tasks.yaml").ok();
    assert!(output.starts_with("stored 1 task of type `usecase1`"), "{output}");
    cli.run_with("graph upload --release 1 --type usecase1 --file -", &TASKS.replace("hello", "world")).ok();

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
    cli.run("graph download --release 1 --type nothing").fails(1, &["nothing"]);

    // Download to a file and upload it again.
    let output = cli.run("graph download --env 1 --all --type usecase1 --file all.yaml");
    assert_eq!((output.out.as_str(), output.err.contains("wrote 2 tasks")), ("", true));
    assert!(cli.read("all.yaml").starts_with("- id: world\n"));
    cli.run("graph download --env 1 --file /nonexist/x").fails(4, &["cannot write `/nonexist/x`"]);
    cli.run("settings download --env 1 --file /nonexist/x").fails(4, &["cannot write `/nonexist/x`"]);
    cli.run("graph upload --env 1 --type again --file all.yaml").ok();
    let reuploaded = cli.run("graph download --env 1 --type again -o json").json();
    assert_eq!(reuploaded, merged);
    cli.run("graph download --env 1 --type again --file all.json").ok();
    assert_eq!(serde_json::from_str::<Json>(&cli.read("all.json")).unwrap(), merged);

    let graphs = cli.run("graph list --env 1 --output json").json();
    let types: Vec<&str> =
        graphs.as_array().unwrap().iter().map(|graph| graph["type"].as_str().unwrap()).collect();
    assert_eq!(types.iter().filter(|name| **name == "usecase1").count(), 2);
    let cluster_graphs = cli.run("graph list --env 1 --cluster --type usecase1 --output json").json();
    assert_eq!(cluster_graphs.as_array().unwrap().len(), 1);
    cli.run("graph list --env 9").fails(1, &["cluster not found"]);

    cli.run("graph delete --env 1 --type usecase1").ok();
    cli.run("graph delete --env 1 --type usecase1").fails(1, &["usecase1"]);
    cli.run("graph delete --env 1").fails(1, &["not confirmed"]);
}

#[test]
fn invalid_file_is_rejected_with_locations() {
    let cli = CliFixture::with_cluster();
    cli.write(
        "bad.yaml",
        "- id: a\n  type: shel\n- id: b\n  type: shell\n  condition: {yaql_exp: '$.a +'}\n",
    );
    let output = cli.run("graph upload --env 1 --type bad --file bad.yaml");
    let err = output.fails(3, &["bad.yaml:2:9", "did you mean `shell`?", "bad.yaml:5", "^^^^"]);
    assert_eq!(err.matches("error[").count(), 2, "{err}");
    cli.run("graph download --env 1 --cluster --type bad -o json").ok();
    assert_eq!(cli.run("graph download --env 1 --type bad -o json").json(), json!([]));
    cli.run("graph check --file bad.yaml").fails(3, &["bad.yaml:2:9"]);
    cli.write("loop.yaml", "- {id: a, type: stage, requires: [b]}\n- {id: b, type: stage, requires: [a]}\n");
    cli.run("graph check --file loop.yaml").fails(1, &["a → b → a", "invalid graph"]);
    let output = cli.run("graph check --env 1");
    assert!(output.err.contains("the graph is valid"), "{}", output.err);
    assert_eq!(cli.run("graph check --release 1 --output json").json(), json!([]));
}

#[test]
fn files_below_a_folder_form_one_graph() {
    let cli = CliFixture::with_cluster();
    cli.write("many/b/tasks.yaml", "- &x {id: b, type: stage, requires: [a]}\n");
    cli.write("many/a/deep/tasks.yaml", "- &x {id: a, type: stage}\n");
    cli.write("many/a/other.yaml", "]");
    cli.run("graph upload --release 1 --type many --dir many").ok();
    let tasks = cli.run("graph download --release 1 --type many --output json").json();
    assert_eq!(ids(&tasks), ["a", "b"]);
    cli.write("many/c/tasks.yaml", "- {id: a, type: stage}\n- {id: c, type: shel}\n");
    let words = [
        "many/c/tasks.yaml:1",
        "already defined in `many/a/deep/tasks.yaml`",
        "many/c/tasks.yaml:2",
        "did you mean",
    ];
    cli.run("graph upload --release 1 --type many --dir many").fails(3, &words);
    cli.run("graph upload --release 1 --dir many/a").fails(1, &["not confirmed"]);
}

#[test]
fn graphs_are_compared_and_shown() {
    let cli = CliFixture::with_cluster();
    let changed = TASKS.replace("echo hello", "echo good morning");
    cli.write("old.yaml", TASKS);
    cli.write("new.yaml", &format!("{changed}- {{id: more, type: stage}}\n"));
    cli.run("graph upload --env 1 --type t --file old.yaml").ok();
    let output = cli.run("graph diff --env 1 --type t --file new.yaml").ok();
    let words = [
        "~ hello",
        "parameters.cmd: \"echo hello\" → \"echo good morning\"",
        "+ more",
        "1 to add, 1 to change, 0 to remove",
    ];
    for word in words {
        assert!(output.contains(word), "{word}: {output}");
    }
    assert!(cli.run("graph diff cluster:1/t old.yaml").ok().contains("no differences"));
    let difference = cli.run("graph diff env:1/t new.yaml --output json").json();
    assert_eq!(difference["added"][0]["id"], "more");
    cli.run("graph diff env:1/t nowhere.yaml").fails(3, &["nowhere.yaml"]);

    cli.run("graph upload --env 1 --type default --file {examples}/demo/cluster-graph.yaml").ok();
    let output = cli.run("graph show --env 1").ok();
    assert!(output.contains("release, cluster"), "{output}");
    let task_yaml = cli.run("graph show --env 1 --task install-shop --output yaml").ok();
    assert!(
        task_yaml.contains("layer: cluster") && !task_yaml.contains("install-database\n  task_name"),
        "{task_yaml}"
    );
    cli.run("graph show --env 1 --task no-such-task").fails(1, &["no-such-task"]);
    cli.run("graph show 99").fails(1, &["not found"]);
}

#[test]
fn plugins_have_graphs_too() {
    let cli = CliFixture::with_cluster().with_plugin();
    cli.write("tasks.yaml", TASKS);
    cli.run("graph upload --plugin 1 --type extra --file tasks.yaml").ok();
    let tasks = cli.run("graph download --plugin 1 --type extra --output json").json();
    assert_eq!(ids(&tasks), ["hello"]);
    let enable = "settings upload 1 --file {examples}/demo/enable.yaml";
    cli.run(enable).ok();
    for layer in ["--plugins", "--plugin", "--plugins --cluster", "--all"] {
        let line = format!("graph download --env 1 {layer} --type extra -o json");
        assert_eq!(ids(&cli.run(&line).json()), ["hello"], "{layer}");
    }
    let output = cli.run("graph list --env 1 --plugins").ok();
    assert!(output.contains("plugin 1") && !output.contains("release 1"), "{output}");
    cli.run("graph delete --plugin 1 --type extra").ok();
}

#[test]
fn plugin_for_another_release_is_rejected() {
    let cli = CliFixture::with_cluster().with_plugin_for("elsewhere", "centos", "7.0");
    let err = cli.run("plugin enable elsewhere --env 1").fails(
        1,
        &[
            "plugin 1 `elsewhere` 1.0.0 does not support the release of cluster 1",
            "supported releases: centos 7.0",
        ],
    );
    assert!(!err.contains("editable"), "{err}");
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
    cli.run("graph download --env 1 --all --cluster")
        .fails(2, &["`--all` conflicts with `--cluster`", "omit `--all`"]);
}

/// Equal warnings of several tasks are grouped.
#[test]
fn equal_warnings_are_grouped_unless_verbose() {
    let cli = CliFixture::with_cluster();
    let task =
        |number: usize| format!("- {{id: t{number}, type: shell, role: nobody, parameters: {{cmd: x}}}}\n");
    cli.write("tasks.yaml", &(0..9).map(task).collect::<String>());
    cli.run("graph upload --env 1 --type t --file tasks.yaml").ok();
    let output = cli.run("graph check --env 1 --type t").err;
    assert_eq!(output.matches("graph-unknown-place").count(), 1, "{output}");
    for word in ["`nobody`", "9 times, in 9 tasks: `t0`", "and 4 more", "the graph is valid; 9 warnings"] {
        assert!(output.contains(word), "{word}: {output}");
    }
    assert_eq!(cli.run("graph check --env 1 --type t -v").err.matches("graph-unknown-place").count(), 9);
    assert_eq!(cli.run("graph check --env 1 --type t -o json").json().as_array().unwrap().len(), 9);
}

/// Warnings that only the server can detect have the line in the file, on upload and in plans.
#[test]
fn warnings_of_the_server_have_lines() {
    let cli = CliFixture::with_cluster();
    let text = "- id: hello\n  type: shell\n  version: 2.1.0\n  role: web\n  requires: [nowhere]\n  parameters:\n    cmd: {yaql_exp: noSuchFunction(1)}\n";
    cli.write("mine.yaml", text);
    let output = cli.run("graph upload --env 1 --type t --file mine.yaml").err;
    assert!(output.contains("graph-unknown-function") && output.contains("mine.yaml:6"), "{output}");
    cli.write("mine.yaml", &text.replace("{yaql_exp: noSuchFunction(1)}", "'true'"));
    cli.run("graph upload --env 1 --type t --file mine.yaml").ok();
    let output = cli.run("plan --env 1 --type t").err;
    assert!(output.contains("mine.yaml:5, layer `cluster`"), "{output}");
}
