//! Graphs: uploads, downloads of any mix of layers, checks, comparisons.

use serde_json::{Value as Json, json};

use crate::desk::Desk;

const TASKS: &str = "- id: hello\n  type: shell\n  role: web\n  parameters: {cmd: echo hello}\n";

fn ids(tasks: &Json) -> Vec<&str> {
    tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

#[test]
fn graphs_are_uploaded_and_downloaded_in_every_form() {
    let desk = Desk::with_cluster();
    desk.write("tasks.yaml", TASKS);

    // Without a type it is asked for; a yes is a yes, and everything else is not.
    for answer in ["", "n\n", "no way\n"] {
        desk.run_with("graph upload --env 1 --file tasks.yaml", answer)
            .fails(1, &["nothing was done", "--yes"]);
    }
    assert_eq!(desk.run("graph download --env 1 --cluster -o json").json(), json!([]));
    desk.run_with("graph upload --env 1 --file tasks.yaml", "y\n").ok();
    desk.run("graph upload --env 1 --cluster --file tasks.yaml --yes").ok();
    let stored = desk.run("graph upload --env 1 --type usecase1 --file tasks.yaml").ok();
    assert!(stored.starts_with("stored 1 task of type `usecase1`"), "{stored}");
    desk.run_with("graph upload --release 1 --type usecase1 --file -", &TASKS.replace("hello", "world")).ok();

    let all = desk.run("graph download --env 1 --all --type usecase1 --output json").json();
    assert_eq!(ids(&all), ["world", "hello"]);
    assert_eq!(desk.run("graph download --env 1 --type usecase1 --output json").json(), all);
    let line = "graph download --env 1 --cluster --release --type usecase1 --output json";
    assert_eq!(desk.run(line).json(), all);
    let layers = [("--cluster", "hello"), ("--release", "world")];
    for (layer, task) in layers {
        let tasks = desk.run(&format!("graph download --env 1 {layer} --type usecase1 -o json")).json();
        assert_eq!(ids(&tasks), [task]);
    }
    assert_eq!(desk.run("graph download --env 1 --plugins --type usecase1 -o json").json(), json!([]));
    let release = desk.run("graph download --release 1 --type usecase1 --output json").json();
    assert_eq!(ids(&release), ["world"]);
    desk.run("graph download --release 1 --type nothing").fails(1, &["nothing"]);

    // To a file, and back again.
    let wrote = desk.run("graph download --env 1 --all --type usecase1 --file all.yaml");
    assert_eq!((wrote.out.as_str(), wrote.err.contains("wrote 2 tasks")), ("", true));
    assert!(desk.read("all.yaml").starts_with("- id: world\n"));
    desk.run("graph download --env 1 --file /nonexist/x").fails(4, &["cannot write `/nonexist/x`"]);
    desk.run("settings download --env 1 --file /nonexist/x").fails(4, &["cannot write `/nonexist/x`"]);
    desk.run("graph upload --env 1 --type again --file all.yaml").ok();
    let again = desk.run("graph download --env 1 --type again -o json").json();
    assert_eq!(again, all);
    desk.run("graph download --env 1 --type again --file all.json").ok();
    assert_eq!(serde_json::from_str::<Json>(&desk.read("all.json")).unwrap(), all);

    let listed = desk.run("graph list --env 1 --output json").json();
    let types: Vec<&str> =
        listed.as_array().unwrap().iter().map(|graph| graph["type"].as_str().unwrap()).collect();
    assert_eq!(types.iter().filter(|name| **name == "usecase1").count(), 2);
    let own = desk.run("graph list --env 1 --cluster --type usecase1 --output json").json();
    assert_eq!(own.as_array().unwrap().len(), 1);
    desk.run("graph list --env 9").fails(1, &["cluster not found"]);

    desk.run("graph delete --env 1 --type usecase1").ok();
    desk.run("graph delete --env 1 --type usecase1").fails(1, &["usecase1"]);
    desk.run("graph delete --env 1").fails(1, &["nothing was done"]);
}

#[test]
fn mistakes_in_a_file_are_shown_in_it_and_nothing_is_stored() {
    let desk = Desk::with_cluster();
    desk.write(
        "bad.yaml",
        "- id: a\n  type: shel\n- id: b\n  type: shell\n  condition: {yaql_exp: '$.a +'}\n",
    );
    let said = desk.run("graph upload --env 1 --type bad --file bad.yaml");
    let err = said.fails(3, &["bad.yaml:2:9", "did you mean `shell`?", "bad.yaml:5", "^^^^"]);
    assert_eq!(err.matches("error[").count(), 2, "{err}");
    desk.run("graph download --env 1 --cluster --type bad -o json").ok();
    assert_eq!(desk.run("graph download --env 1 --type bad -o json").json(), json!([]));
    desk.run("graph check --file bad.yaml").fails(3, &["bad.yaml:2:9"]);
    desk.write("loop.yaml", "- {id: a, type: stage, requires: [b]}\n- {id: b, type: stage, requires: [a]}\n");
    desk.run("graph check --file loop.yaml").fails(1, &["a → b → a", "cannot run like this"]);
    let good = desk.run("graph check --env 1");
    assert!(good.err.contains("nothing is wrong"), "{}", good.err);
    assert_eq!(desk.run("graph check --release 1 --output json").json(), json!([]));
}

#[test]
fn files_below_a_folder_make_up_one_graph() {
    let desk = Desk::with_cluster();
    desk.write("many/b/tasks.yaml", "- &x {id: b, type: stage, requires: [a]}\n");
    desk.write("many/a/deep/tasks.yaml", "- &x {id: a, type: stage}\n");
    desk.write("many/a/other.yaml", "]");
    desk.run("graph upload --release 1 --type many --dir many").ok();
    let tasks = desk.run("graph download --release 1 --type many --output json").json();
    assert_eq!(ids(&tasks), ["a", "b"]);
    desk.write("many/c/tasks.yaml", "- {id: a, type: stage}\n- {id: c, type: shel}\n");
    let words =
        ["many/c/tasks.yaml:1", "many/a/deep/tasks.yaml` already", "many/c/tasks.yaml:2", "did you mean"];
    desk.run("graph upload --release 1 --type many --dir many").fails(3, &words);
    desk.run("graph upload --release 1 --dir many/a").fails(1, &["nothing was done"]);
}

#[test]
fn graphs_are_compared_and_shown() {
    let desk = Desk::with_cluster();
    let changed = TASKS.replace("echo hello", "echo good morning");
    desk.write("old.yaml", TASKS);
    desk.write("new.yaml", &format!("{changed}- {{id: more, type: stage}}\n"));
    desk.run("graph upload --env 1 --type t --file old.yaml").ok();
    let told = desk.run("graph diff --env 1 --type t --file new.yaml").ok();
    let words = [
        "~ hello",
        "parameters.cmd: \"echo hello\" → \"echo good morning\"",
        "+ more",
        "1 new, 0 gone, 1 changed",
    ];
    for word in words {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert!(desk.run("graph diff cluster:1/t old.yaml").ok().contains("the same tasks"));
    let compared = desk.run("graph diff env:1/t new.yaml --output json").json();
    assert_eq!(compared["added"][0]["id"], "more");
    desk.run("graph diff env:1/t nowhere.yaml").fails(3, &["nowhere.yaml"]);

    desk.run("graph upload --env 1 --type default --file {examples}/demo/cluster-graph.yaml").ok();
    let shown = desk.run("graph show --env 1").ok();
    assert!(shown.contains("release, cluster"), "{shown}");
    let one = desk.run("graph show --env 1 --task install-shop --output yaml").ok();
    assert!(one.contains("layer: cluster") && !one.contains("install-database\n  task_name"), "{one}");
    desk.run("graph show --env 1 --task no-such-task").fails(1, &["no-such-task"]);
    desk.run("graph show 99").fails(1, &["not found"]);
}

#[test]
fn plugins_have_graphs_too() {
    let desk = Desk::with_cluster().with_plugin();
    desk.write("tasks.yaml", TASKS);
    desk.run("graph upload --plugin 1 --type extra --file tasks.yaml").ok();
    let tasks = desk.run("graph download --plugin 1 --type extra --output json").json();
    assert_eq!(ids(&tasks), ["hello"]);
    let enable = "settings upload 1 --file {examples}/demo/enable.yaml";
    desk.run(enable).ok();
    for layer in ["--plugins", "--plugin", "--plugins --cluster", "--all"] {
        let line = format!("graph download --env 1 {layer} --type extra -o json");
        assert_eq!(ids(&desk.run(&line).json()), ["hello"], "{layer}");
    }
    let shown = desk.run("graph list --env 1 --plugins").ok();
    assert!(shown.contains("plugin 1") && !shown.contains("release 1"), "{shown}");
    desk.run("graph delete --plugin 1 --type extra").ok();
}

#[test]
fn a_plugin_for_another_release_is_said_to_be_one() {
    let desk = Desk::with_cluster().with_plugin_for("elsewhere", "centos", "7.0");
    let err = desk.run("plugin enable elsewhere --env 1").fails(
        1,
        &["plugin 1 `elsewhere` 1.0.0 is not for the release of cluster 1", "it is for centos 7.0"],
    );
    assert!(!err.contains("editable"), "{err}");
}

/// A download has nothing that was not said, and says nothing twice: uploaded again it is the same graph.
#[test]
fn downloads_are_as_somebody_would_write_them() {
    let desk = Desk::with_cluster();
    let text = "- id: hello\n  type: shell\n  roles:\n    - web\n  cross_depends:\n    - name: other\n  parameters:\n    cmd: echo hello\n\
                - id: other\n  type: stage\n  version: 2.0.0\n";
    desk.write("tasks.yaml", text);
    desk.run("graph upload --env 1 --type t --file tasks.yaml").ok();
    assert_eq!(desk.run("graph download --env 1 --type t").ok(), text);
    assert_eq!(desk.run("graph download --env 1 --cluster --type t").ok(), text);
    desk.run("graph download --env 1 --all --cluster").fails(2, &["`--all` is every layer", "leave out"]);
}

/// What many tasks have in common is told once.
#[test]
fn warnings_are_grouped_and_told_in_full_where_wanted() {
    let desk = Desk::with_cluster();
    let task =
        |number: usize| format!("- {{id: t{number}, type: shell, role: nobody, parameters: {{cmd: x}}}}\n");
    desk.write("tasks.yaml", &(0..9).map(task).collect::<String>());
    desk.run("graph upload --env 1 --type t --file tasks.yaml").ok();
    let told = desk.run("graph check --env 1 --type t").err;
    assert_eq!(told.matches("graph-unknown-place").count(), 1, "{told}");
    for word in ["`nobody`", "9 times, in 9 tasks: `t0`", "and 4 more", "it can run; 9 warnings"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(desk.run("graph check --env 1 --type t -v").err.matches("graph-unknown-place").count(), 9);
    assert_eq!(desk.run("graph check --env 1 --type t -o json").json().as_array().unwrap().len(), 9);
}

/// What the server knows better than the file alone is told with the line of the file, also later, by the plan.
#[test]
fn warnings_of_the_server_have_lines() {
    let desk = Desk::with_cluster();
    let text = "- id: hello\n  type: shell\n  version: 2.1.0\n  role: web\n  requires: [nowhere]\n  parameters:\n    cmd: {yaql_exp: noSuchFunction(1)}\n";
    desk.write("mine.yaml", text);
    let told = desk.run("graph upload --env 1 --type t --file mine.yaml").err;
    assert!(told.contains("graph-unknown-function") && told.contains("mine.yaml:6"), "{told}");
    desk.write("mine.yaml", &text.replace("{yaql_exp: noSuchFunction(1)}", "'true'"));
    desk.run("graph upload --env 1 --type t --file mine.yaml").ok();
    let told = desk.run("plan --env 1 --type t").err;
    assert!(told.contains("mine.yaml:5, in the layer `cluster`"), "{told}");
}
