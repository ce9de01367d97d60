//! Diagrams of task definitions.

use serde_json::{Value as Json, json};
use stoker_model::Task;
use stoker_pictures::{DefinitionFilter, Dot, draw_definitions};

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

fn draw(filter: &DefinitionFilter) -> String {
    Dot(&draw_definitions(&tasks(), filter).expect("a drawing")).to_string()
}

#[test]
fn all_tasks_are_drawn() {
    insta::assert_snapshot!(draw(&DefinitionFilter::default()));
}

#[test]
fn filters_select_tasks() {
    insta::assert_snapshot!(draw(&DefinitionFilter {
        tasks: Some(vec!["net".into()]),
        ..DefinitionFilter::default()
    }));
    insta::assert_snapshot!(draw(&DefinitionFilter {
        parents_for: Some("net".into()),
        ..DefinitionFilter::default()
    }));
    let remove = vec!["group".into(), "stage".into(), "skipped".into()];
    insta::assert_snapshot!(draw(&DefinitionFilter { remove, ..DefinitionFilter::default() }));
}

#[test]
fn unknown_names_have_fuel_messages() {
    let check = |filter: DefinitionFilter, expected: &str| {
        assert_eq!(draw_definitions(&tasks(), &filter).expect_err("a wrong name").to_string(), expected);
    };
    let selected = Some(vec!["net".into(), "a".into(), "b".into()]);
    check(
        DefinitionFilter { tasks: selected, ..DefinitionFilter::default() },
        "Tasks a, b are not present in deployment graph",
    );
    check(
        DefinitionFilter { parents_for: Some("a".into()), ..DefinitionFilter::default() },
        "Task a is not present in graph",
    );
    let remove = vec!["group".into(), "shell".into(), "x".into()];
    check(DefinitionFilter { remove, ..DefinitionFilter::default() }, "Task types shell, x do not exist");
}
