use serde_json::json;
use stoker_model::{Graph, GraphMetadata, Json, Owner, TASK_FIELDS, Task};

use crate::fixture::{Fixture, commit, graph_type, release, task};

async fn graph_of(fixture: &Fixture, tasks: &[Task]) -> Graph {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let graph = writing.graph_create(owner, &graph_type("t"), &none, tasks).await.unwrap();
    commit(writing).await;
    graph
}

async fn update(fixture: &Fixture, graph: &Graph, tasks: &[Task]) -> Graph {
    let mut writing = fixture.change().await;
    let changed =
        writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(tasks)).await.unwrap();
    commit(writing).await;
    // The returned graph equals the stored one, including the order of tasks.
    assert_eq!(fixture.read().await.graph_get(graph.id).await.unwrap().as_ref(), Some(&changed));
    changed
}

fn row(graph: &Graph, name: &str) -> i64 {
    graph.tasks.iter().find(|stored| stored.task.name == name).unwrap().id.0
}

/// Generates values that are easily confused: absent, null, false, zero and empty are all different.
fn falsy() -> Vec<Json> {
    vec![
        json!(null),
        json!(false),
        json!(true),
        json!(0),
        json!(-0.0),
        json!(0.1),
        json!(1),
        json!(1.0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(5e-324),
        json!(0.300_000_000_000_000_04),
        json!(""),
        json!(" "),
        json!("null"),
        json!("ä\u{0}\u{1F600}\u{7f}\\\"'"),
        json!([]),
        json!([null]),
        json!({}),
        json!({"yaql_exp": "changed($.x)"}),
        json!({"": {"b": [{}], "a": null}}),
    ]
}

async fn all_values_of_all_fields_round_trip(fixture: &Fixture) {
    let own = ["tags", "fail_on_error", "fault_tolerance", "own field", "_custom", "task_name", "position"];
    let fields: Vec<&str> = TASK_FIELDS.iter().map(|spelling| spelling.canonical).chain(own).collect();
    let mut tasks = vec![task("nothing", json!({}))];
    for (number, value) in falsy().into_iter().enumerate() {
        for field in &fields {
            tasks.push(task(&format!("{field} {number}"), json!({(*field): value})));
        }
        let all = fields.iter().map(|field| ((*field).to_owned(), value.clone())).collect();
        tasks.push(Task { name: format!("all {number}"), fields: all });
    }
    let graph = graph_of(fixture, &tasks).await;
    let read = fixture.read().await.graph_get(graph.id).await.unwrap().unwrap();
    for (stored, expected) in read.tasks.iter().zip(&tasks) {
        // Compare as text too, because 0.0 and -0.0 are equal as values.
        assert_eq!(stored.task, *expected);
        for (name, value) in &expected.fields {
            assert_eq!(stored.task.fields[name].to_string(), value.to_string(), "{}", expected.name);
        }
    }
    assert_eq!(read.tasks.len(), tasks.len());
    // Uploading the same tasks again writes nothing.
    assert_eq!(update(fixture, &graph, &tasks).await, graph);
}

async fn changed_task_gets_a_new_row(fixture: &Fixture) {
    let of = |name: &str, value: Json| task(name, json!({"type": "puppet", "condition": value}));
    let first = [of("a", json!(1)), of("b", json!(1)), of("c", json!(1))];
    let graph = graph_of(fixture, &first).await;
    let second = [of("a", json!(1)), of("b", json!(2)), of("c", json!(1))];
    let changed = update(fixture, &graph, &second).await;
    assert_eq!(changed.generation, 2);
    assert_eq!([row(&changed, "a"), row(&changed, "c")], [row(&graph, "a"), row(&graph, "c")]);
    assert!(row(&changed, "b") > row(&graph, "c"));
    // Absent, null and false are different contents.
    let mut before = changed;
    for fields in [json!({"type": "puppet"}), json!({"type": "puppet", "condition": null})] {
        let third = [of("a", json!(1)), task("b", fields), of("c", json!(1))];
        let after = update(fixture, &before, &third).await;
        assert!(row(&after, "b") > row(&before, "b"));
        assert_eq!([row(&after, "a"), row(&after, "c")], [row(&graph, "a"), row(&graph, "c")]);
        // Repeating the update writes nothing.
        assert_eq!(update(fixture, &after, &third).await.generation, after.generation);
        before = after;
    }
}

async fn reordering_keeps_task_rows(fixture: &Fixture) {
    let tasks: Vec<Task> = (0..150).map(|n| task(&format!("t{n}"), json!({"n": n}))).collect();
    let graph = graph_of(fixture, &tasks).await;
    let reversed: Vec<Task> = tasks.iter().rev().cloned().collect();
    let turned = update(fixture, &graph, &reversed).await;
    assert_eq!(turned.generation, 2);
    for name in ["t0", "t77", "t149"] {
        assert_eq!(row(&turned, name), row(&graph, name));
    }
    // Insert at the front, in the middle and at the end.
    let mut more = reversed.clone();
    more.insert(0, task("front", json!({})));
    more.insert(75, task("middle", json!({})));
    more.push(task("end", json!({})));
    more.swap(10, 140);
    let grown = update(fixture, &turned, &more).await;
    assert_eq!(row(&grown, "t77"), row(&graph, "t77"));
    let fewer: Vec<Task> = more.iter().step_by(3).cloned().collect();
    let shrunk = update(fixture, &grown, &fewer).await;
    assert_eq!(shrunk.tasks.len(), fewer.len());
}

on_both![all_values_of_all_fields_round_trip, changed_task_gets_a_new_row, reordering_keeps_task_rows,];
