//! Tasks as they are written.

use serde_json::{Value as Json, json};
use stoker_model::Task;
use stoker_pictures::{Dot, Filter, definitions};

fn tasks() -> Vec<Task> {
    let task = |name: &str, fields: Json| Task {
        name: name.to_owned(),
        fields: fields.as_object().cloned().unwrap_or_default(),
    };
    vec![
        task("start", json!({"type": "stage"})),
        task("end", json!({"type": "stage", "requires": ["start"]})),
        task("primary-x", json!({"type": "group", "tasks": ["hiera"]})),
        task("x", json!({"type": "group"})),
        task("off", json!({"type": "skipped", "requires": ["start"]})),
        task("hiera", json!({"type": "puppet", "requires": ["start"], "required_for": ["end", "nobody"]})),
        task(
            "net",
            json!({
                "type": "shell", "stage": "start", "groups": ["/(primary-)?x/", "gone"], "requires": ["hiera"],
                "cross_depends": [{"name": "off"}], "required_for": {"yaql_exp": "[end]"},
            }),
        ),
    ]
}

fn drawn(filter: &Filter) -> String {
    Dot(&definitions(&tasks(), filter).expect("a drawing")).to_string()
}

#[test]
fn the_whole_graph() {
    insta::assert_snapshot!(drawn(&Filter::default()));
}

#[test]
fn filters() {
    insta::assert_snapshot!(drawn(&Filter { tasks: Some(vec!["net".into()]), ..Filter::default() }));
    insta::assert_snapshot!(drawn(&Filter { parents_for: Some("net".into()), ..Filter::default() }));
    let remove = vec!["group".into(), "stage".into(), "skipped".into()];
    insta::assert_snapshot!(drawn(&Filter { remove, ..Filter::default() }));
}

#[test]
fn wrong_names_are_told_in_the_words_that_clients_know() {
    let check = |filter: Filter, expected: &str| {
        assert_eq!(definitions(&tasks(), &filter).expect_err("a wrong name"), expected);
    };
    let chosen = Some(vec!["net".into(), "a".into(), "b".into()]);
    check(Filter { tasks: chosen, ..Filter::default() }, "Tasks a, b are not present in deployment graph");
    check(Filter { parents_for: Some("a".into()), ..Filter::default() }, "Task a is not present in graph");
    let remove = vec!["group".into(), "shell".into(), "x".into()];
    check(Filter { remove, ..Filter::default() }, "Task types shell, x do not exist");
}
