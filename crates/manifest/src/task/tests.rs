use serde_json::json;
use stoker_diagnostics::Severity;
use stoker_model::Task;

use super::*;
use crate::graph::read_task;

use crate::Format;

/// Returns the problems of a valid task with one additional field, without the task prefix.
fn problems(field: &str) -> Vec<String> {
    let text = format!("id: a\ntype: shell\n{field}\n");
    let problems = read_task(&text, Format::Yaml).problems;
    problems
        .iter()
        .map(|problem| {
            format!("{}: {}", problem.location.path, problem.message.trim_start_matches("task `a`: "))
        })
        .collect()
}

fn assert_valid(fields: &[&str]) {
    for field in fields {
        assert_eq!(problems(field), Vec::<String>::new(), "{field}");
    }
}

fn assert_problem(field: &str, expected: &str) {
    assert_eq!(problems(field), [expected], "{field}");
}

fn read(text: &str) -> Task {
    let result = read_task(text, Format::Yaml);
    assert_eq!(result.problems, [], "{text}");
    result.value.unwrap()
}

#[test]
fn ids_are_literal_text() {
    let messages = |text: &str| {
        let problems = read_task(text, Format::Yaml).problems;
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(messages("type: shell"), "id: `id` is missing (line 1, column 1)");
    assert_eq!(
        messages("{type: shell, task_name: a}"),
        "id: `id` is missing (line 1, column 2; use `id` instead of `task_name`)"
    );
    assert_eq!(
        messages("{id: '', type: shell}"),
        "id: task ``: must have 1 to 255 characters, got 0 (line 1, column 6)"
    );
    assert_eq!(
        messages("{id: 12, type: shell}"),
        "id: must be text, got an integer (line 1, column 6; put it in quotes)"
    );
    assert_eq!(
        messages("{id: {yaql_exp: $.a}, type: shell}"),
        "id: `id` cannot be computed (line 1, column 7; ids are needed before expressions are evaluated; write the id as text)"
    );
    assert_eq!(messages("{id: a, task_name: a, db_id: 7, type: shell}"), "");
    assert_eq!(
        messages("{id: a, task_name: b, type: shell}"),
        "task_name: task `a`: `id` and `task_name` are two names of one field but have different values (line 1, column 20; remove one of them)"
    );
    assert_eq!(messages("[]"), "must be a task, which is a map with `id`, got a list (line 1, column 1)");
    assert_eq!(messages("id: a"), "", "a lower layer may set the type");
}

#[test]
fn unknown_types_are_rejected() {
    for name in stoker_model::TaskType::NAMES {
        assert!(read_task(&format!("{{id: a, type: {name}}}"), Format::Yaml).value.is_some(), "{name}");
    }
    let problems = read_task("{id: a, type: pupet}", Format::Yaml).problems;
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `puppet`?"));
    assert!(problems[0].message.contains("must be `puppet`, `shell`"));
    assert!(read_task("{id: a, type: upload_filez}", Format::Yaml).value.is_none());
}

#[test]
fn versions_have_three_numbers() {
    assert_valid(&["version: 2.1.0", "version: 10.0.12"]);
    assert_problem("version: 2.1", "version: must be text, got a float");
    for version in ["1x2x3", "1.2", "1.2.3.4", "1..3", "v1.2.3", "1.2.a", ""] {
        assert_problem(
            &format!("version: '{version}'"),
            &format!("version: must be three numbers as in `2.1.0`, got `{version}`"),
        );
    }
}

#[test]
fn placement_fields_are_names_or_lists() {
    for field in ["role", "roles", "groups", "tags"] {
        assert_valid(&[
            &format!("{field}: controller"),
            &format!("{field}: [a, '/b.*/']"),
            &format!("{field}: []"),
            &format!("{field}: '*'"),
            &format!("{field}: [a, {{yaql_exp: $.b}}]"),
        ]);
        assert_problem(
            &format!("{field}: {{a: b}}"),
            &format!("{field}: must be a name or a list of names, got a map"),
        );
        assert_problem(
            &format!("{field}: ~"),
            &format!("{field}: must be a name or a list of names, got null"),
        );
        assert_problem(&format!("{field}: [a, 1]"), &format!("{field}[1]: must be text, got an integer"));
    }
}

#[test]
fn on_drift_is_a_literal_word() {
    assert_valid(&["on_drift: repair", "on_drift: report", "on_drift: ignore"]);
    for value in ["always", "{yaql_exp: $.a}", "true"] {
        assert_eq!(problems(&format!("on_drift: {value}")).len(), 1, "{value}");
    }
}

#[test]
fn name_fields_are_lists() {
    for field in ["requires", "required_for", "tasks", "reexecute_on", "refresh_on"] {
        assert_valid(&[
            &format!("{field}: [a, b]"),
            &format!("{field}: []"),
            &format!("{field}: [a, {{yaql_exp: $.b}}]"),
            &format!("{field}: {{yaql_exp: $.b}}"),
        ]);
        assert_problem(&format!("{field}: a"), &format!("{field}: must be a list, got text"));
        assert_problem(&format!("{field}: ~"), &format!("{field}: must be a list, got null"));
        assert_problem(&format!("{field}: [[a]]"), &format!("{field}[0]: must be text, got a list"));
        assert_problem(
            &format!("{field}: ['']"),
            &format!("{field}[0]: must have 1 to 255 characters, got 0"),
        );
    }
}

#[test]
fn relations_are_checked() {
    for field in ["cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by"] {
        assert_valid(&[
            &format!("{field}: [{{name: a}}, {{name: /b/, role: self, policy: any}}]"),
            &format!("{field}: [{{name: a, role: ~}}, {{name: b, role: [x, y], tags: z}}]"),
            &format!("{field}: {{yaql_exp: $.b}}"),
            &format!("{field}: [{{yaql_exp: $.b}}]"),
            &format!(
                "{field}: [{{name: {{yaql_exp: $.b}}, role: {{yaql_exp: $.c}}, policy: {{yaql_exp: $.d}}}}]"
            ),
        ]);
        assert_problem(&format!("{field}: [a]"), &format!("{field}[0]: must be a map, got text"));
        assert_problem(&format!("{field}: [{{role: a}}]"), &format!("{field}[0].name: `name` is missing"));
        assert_problem(
            &format!("{field}: [{{name: a, policy: some}}]"),
            &format!("{field}[0].policy: must be `all` or `any`, got `some`"),
        );
        assert_problem(&format!("{field}: {{name: a}}"), &format!("{field}: must be a list, got a map"));
        assert_problem(
            &format!("{field}: [{{name: a, rolle: b}}]"),
            &format!("{field}[0].rolle: unknown key `rolle`"),
        );
    }
}

#[test]
fn parameters_and_strategy_are_checked() {
    assert_valid(&[
        "parameters: {}",
        "parameters: {anything: [1, {b: ~}]}",
        "parameters: {yaql_exp: $.x}",
        "parameters: {strategy: {type: parallel}}",
        "parameters: {strategy: {type: one_by_one, amount: 3}}",
        "parameters: {strategy: {type: one-by-one}}",
        "parameters: {strategy: {type: parallel, amount: 0}}",
        "parameters: {strategy: {type: {yaql_exp: $.x}, amount: {yaql_exp: $.y}}}",
        "parameters: {strategy: {yaql_exp: $.x}}",
    ]);
    assert_problem("parameters: []", "parameters: must be a map, got a list");
    assert_problem("parameters: ~", "parameters: must be a map, got null");
    assert_problem("parameters: {strategy: parallel}", "parameters.strategy: must be a map, got text");
    assert_problem("parameters: {strategy: {amount: 1}}", "parameters.strategy.type: `type` is missing");
    assert_problem(
        "parameters: {strategy: {type: serial}}",
        "parameters.strategy.type: must be `parallel`, `one_by_one` or `one-by-one`, got `serial`",
    );
    assert_problem(
        "parameters: {strategy: {type: parallel, amount: '3'}}",
        "parameters.strategy.amount: must be an integer, got text",
    );
    assert_problem(
        "parameters: {strategy: {type: parallel, amount: -1}}",
        "parameters.strategy.amount: must be at least 0, got -1",
    );
    assert_problem("parameters: {1: x}", "parameters: a key must be text, `1` is an integer");
}

#[test]
fn other_fields_are_checked() {
    assert_valid(&[
        "condition: true",
        "condition: false",
        "condition: ~",
        "condition: 'x'",
        "condition: {yaql_exp: $.x}",
    ]);
    assert_problem("condition: 1", "condition: must be true, false, text or an expression, got an integer");
    assert_problem("condition: [true]", "condition: must be true, false, text or an expression, got a list");
    for text in
        ["'yaql_exp: {changed($.x)}'", "'yaql_exp: changed($.x)'", "|\n  yaql_exp: $.x", "' yaql_exp:'"]
    {
        assert_problem(
            &format!("condition: {text}"),
            "condition: text that begins with `yaql_exp:` is not an expression",
        );
    }
    assert_problem(
        "condition: {yaql_exp: {changed($.x)}}",
        "condition.yaql_exp: must be an expression string, got a map",
    );
    assert_valid(&["fail_on_error: false", "fail_on_error: {yaql_exp: $.x}"]);
    assert_problem("fail_on_error: 'false'", "fail_on_error: must be true or false, got text");
    for value in ["0", "3", "-1", "'3'", "2%", "' -10% '", "'-1 '", "~", "+5%"] {
        assert_valid(&[&format!("fault_tolerance: {value}")]);
    }
    for value in ["2.5%", "abc", "%", "1 2", "--1", "5%%", "99999999999999999999"] {
        assert_problem(
            &format!("fault_tolerance: '{value}'"),
            &format!("fault_tolerance: must be a number or a percentage such as `10%`, got `{value}`"),
        );
    }
    assert_problem(
        "fault_tolerance: 2.5",
        "fault_tolerance: must be a number or a percentage such as `10%`, got a float",
    );
    assert_valid(&["test_pre: {cmd: x}", "test_post: {}"]);
    assert_problem("test_pre: x", "test_pre: must be a map, got text");
    assert_valid(&["anything: {else: [1]}", "skipped: true", "since: 2016-01-02"]);
    assert_problem("anything: .nan", "anything: `.nan` cannot be represented as a JSON number");
}

#[test]
fn stage_numbers_are_plain_decimals() {
    for stage in ["post_deployment", "pre_deployment/0", "a/100", "a/-99.9", "a/+.5", "a/0.0", "my stage/7"] {
        assert_valid(&[&format!("stage: '{stage}'")]);
    }
    for stage in ["", "/1", "a/", "a/x", "a/1/2", "a/1e3", "a/inf", "a/nan", "a/ 5", "a/1.", "a/.", "a/-"] {
        assert_problem(
            &format!("stage: '{stage}'"),
            &format!("stage: must be `name` or `name/number`, got `{stage}`"),
        );
    }
}

#[test]
fn expressions_are_checked_in_all_fields() {
    assert_problem(
        "condition: {yaql_exp: '$.a +'}",
        "condition.yaql_exp: invalid expression: unexpected end of statement",
    );
    for field in [
        "version: {yaql_exp: '('}",
        "requires: [{yaql_exp: '('}]",
        "cross-depends: [{name: {yaql_exp: '('}}]",
        "parameters: {a: [{b: {yaql_exp: '('}}]}",
        "parameters: {strategy: {type: parallel, amount: {yaql_exp: '('}}}",
        "test_pre: {cmd: {yaql_exp: '('}}",
        "own: [{yaql_exp: '('}]",
    ] {
        assert!(
            problems(field)[0].contains(".yaql_exp: invalid expression: "),
            "{field}: {:?}",
            problems(field)
        );
    }
    assert_valid(&["parameters: {regex: {yaql_exp: '('}}"]);
    assert_problem(
        "condition: {yaql_exp: 1}",
        "condition.yaql_exp: must be an expression string, got an integer",
    );
    assert_problem(
        "condition: {yaql_exp: $.a, other: 1}",
        "condition: `yaql_exp` must be the only key of its map, but `other` is also present",
    );
}

#[test]
fn expression_errors_are_reported_with_location() {
    let text = "id: a\ntype: shell\nparameters:\n  data:\n    yaql_exp: >\n      $.a and\n      $.b +* 2\n";
    let problems = read_task(text, Format::Yaml).problems;
    let span = problems[0].location.span.unwrap();
    assert_eq!((span.start.line, span.start.column, span.slice(text)), (7, 12, "*"), "{problems:?}");
    assert_eq!(problems[0].location.path, "parameters.data.yaql_exp");
    let text = r#"{"id": "a", "type": "shell", "condition": {"yaql_exp": "\u0024.a\n+* 2"}}"#;
    let span = read_task(text, Format::Json).problems[0].location.span.unwrap();
    assert_eq!((span.start.column, span.slice(text)), (68, "*"));
}

#[test]
fn conflicting_spellings_are_rejected() {
    assert_valid(&[
        "role: [a]\nroles: [a]",
        "role: a\nroles: [a]",
        "cross-depends: [{name: b}]\ncross_depends: [{name: b}]",
        "cross_depended_by: []\ncross-depended-by: []",
    ]);
    assert_problem(
        "role: [a]\nroles: [b]",
        "roles: `role` and `roles` are two names of one field but have different values",
    );
    assert_problem(
        "cross_depends: []\ncross-depends: [{name: b}]",
        "cross-depends: `cross_depends` and `cross-depends` are two names of one field but have different values",
    );
    let task = read("{id: a, type: shell, role: x, roles: [x]}");
    assert_eq!(task.fields["roles"], json!("x"), "the first spelling takes precedence");
}

#[test]
fn misspelled_field_is_a_warning() {
    let result = read_task("{id: a, type: shell, requries: [b]}", Format::Yaml);
    assert_eq!(result.value.unwrap().fields["requries"], json!(["b"]));
    assert_eq!(result.problems.len(), 1);
    assert_eq!(result.problems[0].severity, Severity::Warning);
    assert_eq!(result.problems[0].help.as_deref(), Some("did you mean `requires`?"));
}

#[test]
fn all_problems_of_a_task_name_it() {
    let text = "id: ntp\ntype: pupet\nversion: 2\nrequires: x\ncondition:\n  yaql_exp: '$.'\n";
    let problems = read_task(text, Format::Yaml).problems;
    let lines: Vec<u32> = problems.iter().map(|problem| problem.location.span.unwrap().start.line).collect();
    assert_eq!(lines, [2, 3, 4, 6]);
    assert!(problems.iter().all(|problem| problem.message.starts_with("task `ntp`: ")));
}

#[test]
fn rendering_keeps_all_fields() {
    let task = read(
        "{id: a, type: shell, role: '*', condition: false, requires: [], cross-depends: [], parameters: {}, own: ~}",
    );
    assert_eq!(
        serde_json::Value::Object(render(&task)).to_string(),
        json!({
            "id": "a", "task_name": "a", "type": "shell", "roles": "*", "role": "*", "condition": false,
            "requires": [], "cross_depends": [], "cross-depends": [], "parameters": {}, "own": null,
        })
        .to_string()
    );
    let listed = read("{id: a, type: shell, version: 2.0.0, roles: ['*']}");
    assert_eq!(render(&listed)["role"], json!(["*"]));
    assert_eq!(render(&listed)["version"], json!("2.0.0"));
}

#[test]
fn rendered_task_can_be_uploaded_again() {
    let task = read("{id: a, type: shell, role: [x], cross-depended-by: [{name: b}], stage: a/1}");
    let mut answer = render(&task);
    answer.insert("db_id".to_owned(), json!(12));
    let again = read_task(&serde_json::Value::Object(answer).to_string(), Format::Json).value.unwrap();
    assert_eq!(again, task);
}
