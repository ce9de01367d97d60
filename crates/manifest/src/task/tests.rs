use serde_json::json;
use stoker_model::Task;

use super::*;
use crate::graph::read_task;
use crate::{Format, Severity};

/// The problems of a task whose id and type are right and which has one more field, without path and introduction.
fn problems(field: &str) -> Vec<String> {
    let text = format!("id: a\ntype: shell\n{field}\n");
    let found = read_task(&text, Format::Yaml).problems;
    found
        .iter()
        .map(|problem| format!("{}: {}", problem.path, problem.message.trim_start_matches("task `a`: ")))
        .collect()
}

fn good(fields: &[&str]) {
    for field in fields {
        assert_eq!(problems(field), Vec::<String>::new(), "{field}");
    }
}

fn bad(field: &str, expected: &str) {
    assert_eq!(problems(field), [expected], "{field}");
}

fn read(text: &str) -> Task {
    let judged = read_task(text, Format::Yaml);
    assert_eq!(judged.problems, [], "{text}");
    judged.value.unwrap()
}

#[test]
fn ids_are_text_and_written_out() {
    let found = |text: &str| {
        let found = read_task(text, Format::Yaml).problems;
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(found("type: shell"), "id: `id` is missing (line 1, column 1)");
    assert_eq!(
        found("{type: shell, task_name: a}"),
        "id: `id` is missing (line 1, column 2; call it `id`, not `task_name`)"
    );
    assert_eq!(
        found("{id: '', type: shell}"),
        "id: task ``: must have 1 to 255 characters, this has 0 (line 1, column 6)"
    );
    assert_eq!(
        found("{id: 12, type: shell}"),
        "id: must be text, this is an integer (line 1, column 6; put it in quotes)"
    );
    assert_eq!(
        found("{id: {yaql_exp: $.a}, type: shell}"),
        "id: `id` cannot be computed (line 1, column 7; tasks are known by their ids before anything is computed: write it out)"
    );
    assert_eq!(found("{id: a, task_name: a, db_id: 7, type: shell}"), "");
    assert_eq!(
        found("{id: a, task_name: b, type: shell}"),
        "task_name: task `a`: `id` and `task_name` are one field and say different things (line 1, column 20; remove one of them)"
    );
    assert_eq!(
        found("[]"),
        "must be a task, which is a map with `id` and `type`, this is a list (line 1, column 1)"
    );
    assert_eq!(found("id: a"), "type: task `a`: `type` is missing (line 1, column 1)");
}

#[test]
fn types_are_a_closed_list() {
    for name in stoker_model::TaskType::NAMES {
        assert!(read_task(&format!("{{id: a, type: {name}}}"), Format::Yaml).value.is_some(), "{name}");
    }
    let found = read_task("{id: a, type: pupet}", Format::Yaml).problems;
    assert_eq!(found[0].help.as_deref(), Some("did you mean `puppet`?"));
    assert!(found[0].message.contains("must be `puppet`, `shell`"));
    assert!(read_task("{id: a, type: upload_filez}", Format::Yaml).value.is_none());
}

#[test]
fn versions_are_three_numbers() {
    good(&["version: 2.1.0", "version: 10.0.12"]);
    bad("version: 2.1", "version: must be text, this is a float");
    for version in ["1x2x3", "1.2", "1.2.3.4", "1..3", "v1.2.3", "1.2.a", ""] {
        bad(
            &format!("version: '{version}'"),
            &format!("version: must be three numbers as in `2.1.0`, this is `{version}`"),
        );
    }
}

#[test]
fn places_are_names_or_lists_of_names() {
    for field in ["role", "roles", "groups", "tags"] {
        good(&[
            &format!("{field}: controller"),
            &format!("{field}: [a, '/b.*/']"),
            &format!("{field}: []"),
            &format!("{field}: '*'"),
            &format!("{field}: [a, {{yaql_exp: $.b}}]"),
        ]);
        bad(
            &format!("{field}: {{a: b}}"),
            &format!("{field}: must be a name or a list of names, this is a map"),
        );
        bad(&format!("{field}: ~"), &format!("{field}: must be a name or a list of names, this is null"));
        bad(&format!("{field}: [a, 1]"), &format!("{field}[1]: must be text, this is an integer"));
    }
}

#[test]
fn names_are_in_lists() {
    for field in ["requires", "required_for", "tasks", "reexecute_on", "refresh_on"] {
        good(&[
            &format!("{field}: [a, b]"),
            &format!("{field}: []"),
            &format!("{field}: [a, {{yaql_exp: $.b}}]"),
            &format!("{field}: {{yaql_exp: $.b}}"),
        ]);
        bad(&format!("{field}: a"), &format!("{field}: must be a list, this is text"));
        bad(&format!("{field}: ~"), &format!("{field}: must be a list, this is null"));
        bad(&format!("{field}: [[a]]"), &format!("{field}[0]: must be text, this is a list"));
        bad(&format!("{field}: ['']"), &format!("{field}[0]: must have 1 to 255 characters, this has 0"));
    }
}

#[test]
fn relations() {
    for field in ["cross-depends", "cross_depends", "cross-depended-by", "cross_depended_by"] {
        good(&[
            &format!("{field}: [{{name: a}}, {{name: /b/, role: self, policy: any}}]"),
            &format!("{field}: [{{name: a, role: ~}}, {{name: b, role: [x, y], tags: z}}]"),
            &format!("{field}: {{yaql_exp: $.b}}"),
            &format!("{field}: [{{yaql_exp: $.b}}]"),
            &format!(
                "{field}: [{{name: {{yaql_exp: $.b}}, role: {{yaql_exp: $.c}}, policy: {{yaql_exp: $.d}}}}]"
            ),
        ]);
        bad(&format!("{field}: [a]"), &format!("{field}[0]: must be a map, this is text"));
        bad(&format!("{field}: [{{role: a}}]"), &format!("{field}[0].name: `name` is missing"));
        bad(
            &format!("{field}: [{{name: a, policy: some}}]"),
            &format!("{field}[0].policy: must be `all` or `any`, this is `some`"),
        );
        bad(&format!("{field}: {{name: a}}"), &format!("{field}: must be a list, this is a map"));
        bad(&format!("{field}: [{{name: a, rolle: b}}]"), &format!("{field}[0].rolle: unknown key `rolle`"));
    }
}

#[test]
fn parameters_and_strategy() {
    good(&[
        "parameters: {}",
        "parameters: {anything: [1, {b: ~}]}",
        "parameters: {yaql_exp: $.x}",
        "parameters: {strategy: {type: parallel}}",
        "parameters: {strategy: {type: one_by_one, amount: 3}}",
        "parameters: {strategy: {type: parallel, amount: 0}}",
        "parameters: {strategy: {type: {yaql_exp: $.x}, amount: {yaql_exp: $.y}}}",
        "parameters: {strategy: {yaql_exp: $.x}}",
    ]);
    bad("parameters: []", "parameters: must be a map, this is a list");
    bad("parameters: ~", "parameters: must be a map, this is null");
    bad("parameters: {strategy: parallel}", "parameters.strategy: must be a map, this is text");
    bad("parameters: {strategy: {amount: 1}}", "parameters.strategy.type: `type` is missing");
    bad(
        "parameters: {strategy: {type: serial}}",
        "parameters.strategy.type: must be `parallel` or `one_by_one`, this is `serial`",
    );
    bad(
        "parameters: {strategy: {type: parallel, amount: '3'}}",
        "parameters.strategy.amount: must be an integer, this is text",
    );
    bad(
        "parameters: {strategy: {type: parallel, amount: -1}}",
        "parameters.strategy.amount: must be at least 0, this is -1",
    );
    bad("parameters: {1: x}", "parameters: a key must be text, `1` is an integer");
}

#[test]
fn other_fields() {
    good(&[
        "condition: true",
        "condition: false",
        "condition: ~",
        "condition: 'x'",
        "condition: {yaql_exp: $.x}",
    ]);
    bad("condition: 1", "condition: must be true, false, text or an expression, this is an integer");
    bad("condition: [true]", "condition: must be true, false, text or an expression, this is a list");
    good(&["fail_on_error: false", "fail_on_error: {yaql_exp: $.x}"]);
    bad("fail_on_error: 'false'", "fail_on_error: must be true or false, this is text");
    for value in ["0", "3", "-1", "'3'", "2%", "' -10% '", "'-1 '", "~", "+5%"] {
        good(&[&format!("fault_tolerance: {value}")]);
    }
    for value in ["2.5%", "abc", "%", "1 2", "--1", "5%%", "99999999999999999999"] {
        bad(
            &format!("fault_tolerance: '{value}'"),
            &format!("fault_tolerance: must be a number or a percentage such as `10%`, this is `{value}`"),
        );
    }
    bad(
        "fault_tolerance: 2.5",
        "fault_tolerance: must be a number or a percentage such as `10%`, this is a float",
    );
    good(&["test_pre: {cmd: x}", "test_post: {}"]);
    bad("test_pre: x", "test_pre: must be a map, this is text");
    good(&["anything: {else: [1]}", "skipped: true", "since: 2016-01-02"]);
    bad("anything: .nan", "anything: `.nan` cannot be kept as a number");
}

#[test]
fn stages_have_plain_decimals() {
    for stage in ["post_deployment", "pre_deployment/0", "a/100", "a/-99.9", "a/+.5", "a/0.0", "my stage/7"] {
        good(&[&format!("stage: '{stage}'")]);
    }
    for stage in ["", "/1", "a/", "a/x", "a/1/2", "a/1e3", "a/inf", "a/nan", "a/ 5", "a/1.", "a/.", "a/-"] {
        bad(
            &format!("stage: '{stage}'"),
            &format!("stage: must be `name` or `name/number`, this is `{stage}`"),
        );
    }
}

#[test]
fn expressions_are_compiled_wherever_they_stand() {
    bad(
        "condition: {yaql_exp: '$.a +'}",
        "condition.yaql_exp: not an expression: unexpected end of statement",
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
            problems(field)[0].contains(".yaql_exp: not an expression: "),
            "{field}: {:?}",
            problems(field)
        );
    }
    good(&["parameters: {regex: {yaql_exp: '('}}"]);
    bad(
        "condition: {yaql_exp: 1}",
        "condition.yaql_exp: must be an expression, which is text, this is an integer",
    );
    bad(
        "condition: {yaql_exp: $.a, other: 1}",
        "condition: `yaql_exp` stands alone, `other` beside it would be lost",
    );
}

#[test]
fn a_mistake_in_an_expression_is_shown_where_it_is() {
    let text = "id: a\ntype: shell\nparameters:\n  data:\n    yaql_exp: >\n      $.a and\n      $.b +* 2\n";
    let found = read_task(text, Format::Yaml).problems;
    let span = found[0].span.unwrap();
    assert_eq!((span.start.line, span.start.column, span.slice(text)), (7, 12, "*"), "{found:?}");
    assert_eq!(found[0].path, "parameters.data.yaql_exp");
    let text = r#"{"id": "a", "type": "shell", "condition": {"yaql_exp": "\u0024.a\n+* 2"}}"#;
    let span = read_task(text, Format::Json).problems[0].span.unwrap();
    assert_eq!((span.start.column, span.slice(text)), (68, "*"));
}

#[test]
fn two_spellings_of_one_field_must_agree() {
    good(&[
        "role: [a]\nroles: [a]",
        "role: a\nroles: [a]",
        "cross-depends: [{name: b}]\ncross_depends: [{name: b}]",
        "cross_depended_by: []\ncross-depended-by: []",
    ]);
    bad("role: [a]\nroles: [b]", "roles: `role` and `roles` are one field and say different things");
    bad(
        "cross_depends: []\ncross-depends: [{name: b}]",
        "cross-depends: `cross_depends` and `cross-depends` are one field and say different things",
    );
    let task = read("{id: a, type: shell, role: x, roles: [x]}");
    assert_eq!(task.fields["roles"], json!("x"), "the first stays");
}

#[test]
fn a_slip_is_a_warning() {
    let judged = read_task("{id: a, type: shell, requries: [b]}", Format::Yaml);
    assert_eq!(judged.value.unwrap().fields["requries"], json!(["b"]));
    assert_eq!(judged.problems.len(), 1);
    assert_eq!(judged.problems[0].severity, Severity::Warning);
    assert_eq!(judged.problems[0].help.as_deref(), Some("did you mean `requires`?"));
}

#[test]
fn every_problem_of_a_task_is_told_with_its_name() {
    let text = "id: ntp\ntype: pupet\nversion: 2\nrequires: x\ncondition:\n  yaql_exp: '$.'\n";
    let found = read_task(text, Format::Yaml).problems;
    let lines: Vec<u32> = found.iter().map(|problem| problem.span.unwrap().start.line).collect();
    assert_eq!(lines, [2, 3, 4, 6]);
    assert!(found.iter().all(|problem| problem.message.starts_with("task `ntp`: ")));
}

#[test]
fn nothing_given_is_lost_in_an_answer() {
    let task = read(
        "{id: a, type: shell, role: '*', condition: false, requires: [], cross-depends: [], parameters: {}, own: ~}",
    );
    assert_eq!(
        serde_json::Value::Object(render(&task)).to_string(),
        json!({
            "id": "a", "task_name": "a", "type": "shell", "roles": "*", "role": "*", "condition": false,
            "requires": [], "cross_depends": [], "cross-depends": [], "parameters": {}, "own": null,
            "version": "1.0.0"
        })
        .to_string()
    );
    let listed = read("{id: a, type: shell, version: 2.0.0, roles: ['*']}");
    assert_eq!(render(&listed)["role"], json!(["*"]));
    assert_eq!(render(&listed)["version"], json!("2.0.0"));
}

#[test]
fn an_answer_can_be_uploaded_again() {
    let task = read("{id: a, type: shell, role: [x], cross-depended-by: [{name: b}], stage: a/1}");
    let mut answer = render(&task);
    answer.insert("db_id".to_owned(), json!(12));
    let again = read_task(&serde_json::Value::Object(answer).to_string(), Format::Json).value.unwrap();
    let mut expected = task.fields;
    expected.insert("version".to_owned(), json!("1.0.0"));
    assert_eq!(again.fields, expected);
}
