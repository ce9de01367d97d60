use serde_json::json;
use stoker_diagnostics::{Severity, summarize};
use stoker_model::NodeStatus;

use super::*;

fn body(text: &str) -> GraphBody {
    let result = read(text, Format::Yaml);
    assert_eq!(result.problems, [], "{text}");
    result.value.unwrap()
}

fn problems(text: &str) -> Vec<String> {
    let result = read(text, Format::Yaml);
    assert_eq!(result.value, None, "{text}");
    result.problems.iter().map(ToString::to_string).collect()
}

fn assert_problem(text: &str, expected: &str) {
    assert_eq!(problems(text).join("\n"), expected, "{text}");
}

#[test]
fn list_is_read_as_tasks() {
    let graph = body("- {id: a, type: shell}\n- {id: b, type: stage}\n");
    let names: Vec<_> = graph.tasks.unwrap().into_iter().map(|task| task.name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((graph.name, graph.graph_type), (FieldUpdate::Absent, None));
    assert_eq!(body("[]").tasks, Some(Vec::new()));
}

#[test]
fn map_is_read_as_graph() {
    assert_eq!(body("{}"), GraphBody::default());
    let graph = body(
        "{id: 4, relations: [], name: n, node_filter: $.online, on_success: {}, type: my-graph, model: cluster,
          model_id: 3, tasks: []}",
    );
    assert_eq!(graph.name, FieldUpdate::Value("n".to_owned()));
    assert_eq!(graph.on_success, FieldUpdate::Value(JsonMap::new()));
    assert_eq!(graph.on_error, FieldUpdate::Absent);
    assert_eq!(graph.graph_type.as_ref().unwrap().as_str(), "my-graph");
    assert_eq!(graph.owner, Some(Owner::new(OwnerKind::Cluster, 3)));
    assert_eq!(graph.tasks, Some(Vec::new()));
}

#[test]
fn update_changes_only_given_fields() {
    let mut metadata =
        GraphMetadata { name: Some("old".into()), node_filter: Some("$.a".into()), ..Default::default() };
    let tasks = body("{node_filter: ~, on_stop: {node_attributes: {}}}").apply(&mut metadata);
    assert_eq!(tasks, None);
    assert_eq!(metadata.name.as_deref(), Some("old"));
    assert_eq!(metadata.node_filter, None);
    assert_eq!(serde_json::Value::Object(metadata.on_stop.unwrap()), json!({"node_attributes": {}}));
    assert_eq!(body("{}").into_parts(), (GraphMetadata::default(), Vec::new()));
}

#[test]
fn effect_of_a_changed_definition_is_one_of_two() {
    let mut metadata = GraphMetadata::default();
    body("{on_definition_change: keep}").apply(&mut metadata);
    assert_eq!(metadata.on_definition_change, Some(OnDefinitionChange::Keep));
    body("{on_definition_change: rerun}").apply(&mut metadata);
    assert_eq!(metadata.on_definition_change, Some(OnDefinitionChange::Rerun));
    body("{on_definition_change: ~}").apply(&mut metadata);
    assert_eq!(metadata.on_definition_change, None);
    assert_problem(
        "{on_definition_change: kepe}",
        "on_definition_change: must be `rerun` or `keep`, got `kepe` (line 1, column 24; did you mean `keep`?)",
    );
}

#[test]
fn single_task_is_a_list_of_one() {
    assert_eq!(body("{tasks: {id: a, type: shell}}").tasks.unwrap().len(), 1);
    assert_problem("{tasks: {type: shell}}", "tasks.id: `id` is missing (line 1, column 10)");
}

#[test]
fn invalid_graphs_are_rejected() {
    assert_problem("", "Empty request received");
    assert_problem("text", "must be a list of tasks or a map with `tasks`, got text (line 1, column 1)");
    assert_problem("{tasks: ~}", "tasks: must be a list of tasks, got null (line 1, column 9)");
    assert_problem("[a]", "[0]: must be a task, which is a map with `id`, got text (line 1, column 2)");
    assert_problem("{nmae: a}", "nmae: unknown key `nmae` (line 1, column 2; did you mean `name`?)");
    assert_problem(
        "{extra: a}",
        "extra: unknown key `extra` (line 1, column 2; known keys: name, node_filter, on_definition_change, on_success, on_error, on_stop, \
         tasks, type, model, model_id, relations, id)",
    );
    assert_problem("{name: 1}", "name: must be text, got an integer (line 1, column 8; put it in quotes)");
    assert_problem(
        "{type: a b}",
        "type: `a b` is not a valid graph type: it must have 1 to 255 letters, digits, `-` or `_` (line 1, column 8)",
    );
    assert_problem("{model: cluster}", "model_id: `model` requires `model_id` (line 1, column 2)");
    assert_problem(
        "{relations: [{type: x}]}",
        "relations[0].model_id: `model_id` is missing (line 1, column 15)",
    );
    assert!(problems("{model: node, model_id: 0}")[0].contains("must be `release`, `cluster` or `plugin`"));
    assert!(problems("{name: a, name: b}")[0].starts_with("key `name` is given twice"));
}

#[test]
fn node_filters_are_checked_as_expressions() {
    assert_eq!(body("{node_filter: ''}").node_filter, FieldUpdate::Value(String::new()));
    assert_eq!(body("{node_filter: ' '}").node_filter, FieldUpdate::Value(" ".to_owned()));
    assert!(problems("{node_filter: '$.a ='}")[0].starts_with("node_filter: invalid expression: "));
    assert!(
        problems(&format!("{{node_filter: '{}'}}", "x".repeat(4097)))[0].contains("0 to 4096 characters")
    );
}

#[test]
fn callbacks_are_checked() {
    assert_eq!(CALLBACK_STATUSES[..8], *NodeStatus::NAMES);
    for key in ["on_success", "on_error", "on_stop"] {
        body(&format!(
            "{key}: {{node_attributes: {{status: deleted, pending_addition: false, pending_deletion: true, \
             error_msg: x, error_type: deploy}}}}"
        ));
        assert!(problems(&format!("{key}: []"))[0].contains("must be a map"));
        assert!(problems(&format!("{key}: {{node_attributes: ~}}"))[0].contains("must be a map, got null"));
        for attribute in
            ["status: x", "pending_addition: 1", "pending_deletion: x", "error_msg: 1", "error_type: x"]
        {
            let name = attribute.split(':').next().unwrap();
            let messages = problems(&format!("{key}: {{node_attributes: {{{attribute}}}}}"));
            assert!(
                messages[0].starts_with(&format!("{key}.node_attributes.{name}: must be ")),
                "{messages:?}"
            );
        }
    }
    let result = read("{on_stop: {node_atributes: {}}}", Format::Yaml);
    assert!(result.value.is_some(), "an unknown key is a warning");
    assert_eq!(result.problems[0].help.as_deref(), Some("did you mean `node_attributes`?"));
}

#[test]
fn duplicate_tasks_are_reported_individually_and_in_summary() {
    let text = "tasks:\n- {id: b, type: shell}\n- {id: a, type: shell}\n- {id: b, type: shell}\n- {id: a, type: shell}\n- {id: b, type: nope}\n";
    let problems = read(text, Format::Yaml).problems;
    let messages: Vec<String> = problems
        .iter()
        .map(|problem: &Diagnostic| format!("{}: {}", problem.location.path, problem.message))
        .collect();
    assert_eq!(messages[0], "tasks: Tasks duplication found: a, b");
    assert_eq!(messages[1], "tasks[2].id: duplicate task `b` on line 4, first defined on line 2");
    assert_eq!(messages[2], "tasks[3].id: duplicate task `a` on line 5, first defined on line 3");
    assert_eq!(messages[3], "tasks[4].id: duplicate task `b` on line 6, first defined on line 2");
    assert!(messages[4].starts_with("tasks[4].type: task `b`: must be "));
    assert!(summarize(&problems).contains("Tasks duplication found: a, b"));
}

#[test]
fn problems_of_all_tasks_are_reported() {
    let text = "- {id: a, type: 1}\n- 3\n- {type: shell}\n- {id: d, type: shell, requires: 1, condition: {yaql_exp: '('}}\n";
    let paths: Vec<String> =
        read(text, Format::Yaml).problems.into_iter().map(|problem| problem.location.path).collect();
    assert_eq!(paths, ["[0].type", "[1]", "[2].id", "[3].requires", "[3].condition.yaql_exp"]);
}

#[test]
fn tasks_are_read_alone_and_inside_a_document() {
    assert_eq!(read_tasks("[{id: a, type: shell}]", Format::Yaml).value.unwrap().len(), 1);
    assert_eq!(read_tasks("{id: a, type: shell}", Format::Yaml).value.unwrap().len(), 1);
    assert!(read_tasks("~", Format::Yaml).into_result().is_err());
    let text = "graphs: [{type: x, tasks: [{id: a, type: no}]}]";
    let node = crate::parse(text, Format::Yaml).unwrap();
    let mut problems = Diagnostics::default();
    let graphs = node.get("graphs").unwrap();
    problems.in_key("graphs", |problems| {
        problems.in_item(0, |problems| read_node(&graphs.as_seq().unwrap()[0], text, problems))
    });
    assert_eq!(problems.into_vec()[0].location.path, "graphs[0].tasks[0].type");
}

#[test]
fn bare_words_are_reported_with_location() {
    let text = "- id: a\n  type: shell\n  condition:\n    yaql_exp: >\n      $.debug = True and\n      $.x.get(y, None)\n";
    let result = read_tasks(text, Format::Yaml);
    assert!(result.value.is_some());
    let messages: Vec<String> = result
        .problems
        .iter()
        .map(|problem| {
            format!(
                "{}: {} {}",
                problem.location.span.unwrap_or_default().start,
                problem.code,
                problem.message
            )
        })
        .collect();
    assert_eq!(
        messages,
        [
            "5:17: manifest-bare-word task `a`: `True` is the text \"True\" here",
            "6:18: manifest-bare-word task `a`: `None` is the text \"None\" here",
        ]
    );
    assert!(result.problems.iter().all(|problem| problem.severity == Severity::Warning));
}

#[test]
fn lines_of_tasks_and_fields() {
    let text = "tasks:\n- id: a\n  type: shell\n  role: x\n  cross-depends:\n  - {name: b}\n- {id: b, type: stage}\n- 7\n";
    let node = parse_with(text, Format::Yaml, &ParseOptions::default()).node.unwrap();
    let lines = task_lines(&node);
    let line = |task: &str, field: &str| lines.get(task)?.get(field).copied();
    assert_eq!(lines.len(), 2);
    assert_eq!((line("a", ""), line("a", "roles"), line("a", "cross_depends")), (Some(2), Some(4), Some(5)));
    assert_eq!((line("b", ""), line("b", "type"), line("b", "requires")), (Some(7), Some(7), None));
    let list = parse_with("- {id: c}\n", Format::Yaml, &ParseOptions::default()).node.unwrap();
    assert_eq!(task_lines(&list)["c"][""], 1);
}
