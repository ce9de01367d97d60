//! `tasks.yaml` and `deployment_tasks.yaml`.

use super::{GRAPH, STAGE, cases, with};

#[test]
fn stage_tasks_are_checked() {
    let task =
        |fields: &str| format!("- {{role: [a], type: shell, parameters: {{cmd: x, timeout: 1}}, {fields}}}");
    let stage = |stage: &str| task(&format!("stage: {stage}"));
    for (version, text, expected) in [
        (2, stage("pre_deployment/5"), vec![]),
        (1, stage("pre_deployment/5"), vec!["stage-postfix-not-allowed [0].stage"]),
        (
            2,
            task("stage: pre_deployment, condition: 'yaql_exp: $.x'"),
            vec!["expression-syntax [0].condition"],
        ),
        (2, stage("~"), vec!["stage-missing [0].stage"]),
        (2, task("condition: 'true'"), vec!["stage-missing [0].stage"]),
        (2, stage("5"), vec!["stage-not-string [0].stage"]),
        (2, stage("deploy"), vec!["stage-unknown [0].stage"]),
        (2, stage("post_deployment/1e3"), vec!["stage-bad-postfix [0].stage"]),
        (2, stage(&format!("post_deployment/{}", "9".repeat(400))), vec!["stage-postfix-range [0].stage"]),
        (2, stage("post_deployment/7000"), vec!["?stage-reserved [0].stage"]),
        (2, task("stage: pre_deployment, condition: 'a ='"), vec!["expression-syntax [0].condition"]),
        (2, "a: 1".to_owned(), vec!["field-type "]),
        (2, "[5]".to_owned(), vec!["field-type [0]"]),
    ] {
        assert_eq!(with(version, STAGE, &text), expected, "{version} {text}");
    }
    let task_with = |role: &str, kind: &str, parameters: &str| {
        format!("- {{role: {role}, type: {kind}, stage: pre_deployment, parameters: {parameters}}}")
    };
    for (version, text, expected) in [
        (2, task_with("master", "shell", "{cmd: x, timeout: 0}"), vec![]),
        (2, task_with("[]", "reboot", "{timeout: 0}"), vec![]),
        (1, task_with("'*'", "reboot", "{timeout: 0}"), vec!["task-type-unknown [0].type"]),
        (2, task_with("controller", "reboot", "{timeout: 0}"), vec!["role-format [0].role"]),
        (2, task_with("{a: 1}", "reboot", "{timeout: 0}"), vec!["role-format [0].role"]),
        (2, task_with("[1]", "reboot", "{timeout: 0}"), vec!["field-type [0].role[0]"]),
        (2, task_with("'*'", "shell", "{cmd: x}"), vec!["field-required [0].parameters.timeout"]),
        (2, task_with("'*'", "shell", "{cmd: x, timeout: -1}"), vec!["field-min [0].parameters.timeout"]),
        (2, task_with("'*'", "shell", "{cmd: x, timeout: 1.0}"), vec!["field-type [0].parameters.timeout"]),
        (2, task_with("'*'", "shell", "{cmd: x, timeout: true}"), vec!["field-type [0].parameters.timeout"]),
        (
            3,
            task_with("'*'", "shell", "{cmd: x, timeout: 1, retries: -1}"),
            vec!["field-min [0].parameters.retries"],
        ),
        (2, task_with("'*'", "shell", "{cmd: x, timeout: 1, retries: -1}"), vec![]),
        (3, task_with("'*'", "shell", "{timeout: 1}"), vec!["field-required [0].parameters.cmd"]),
        (
            4,
            task_with("'*'", "puppet", "{timeout: 1}"),
            vec![
                "field-required [0].parameters.puppet_manifest",
                "field-required [0].parameters.puppet_modules",
            ],
        ),
        (2, task_with("'*'", "shell", "x"), vec!["field-type [0].parameters"]),
    ] {
        assert_eq!(with(version, STAGE, &text), expected, "{version} {text}");
    }
}

#[test]
fn graph_tasks_of_version_4_are_checked() {
    cases(
        4,
        GRAPH,
        &[
            ("[]", &[]),
            ("{id: a, type: stage}", &["field-type "]),
            ("- {type: stage}", &["field-required [0].id"]),
            ("- {id: a b, type: stage}", &["field-pattern [0].id"]),
            ("- {id: '*', type: stage}", &[]),
            ("- {id: a}", &["?field-required [0].type"]),
            ("- {id: a, type: master_shell, role: x}", &["task-type-unknown [0].type"]),
            ("- {id: a, type: nothing, role: x}", &["task-type-unknown [0].type"]),
            ("- {id: a, type: puppet}", &["?field-required [0]"]),
            ("- {id: a, type: puppet, role: x/y}", &["role-format [0].role"]),
            ("- {id: a, type: puppet, role: ['/(/']}", &["role-format [0].role[0]"]),
            ("- {id: a, type: puppet, role: ['/x|y/', '*', master]}", &[]),
            ("- {id: a, type: puppet, role: {yaql_exp: '$.x'}}", &[]),
            ("- {id: a, type: puppet, role: {yaql_exp: '$.'}}", &["expression-syntax [0].role.yaql_exp"]),
            ("- {id: a, type: stage, requires: x}", &["field-type [0].requires"]),
            (
                "- {id: a, type: stage, cross-depends: [{role: x}]}",
                &["field-required [0].cross-depends[0].name"],
            ),
            (
                "- {id: a, type: stage, cross-depends: [{name: x, policy: y}]}",
                &["field-enum [0].cross-depends[0].policy"],
            ),
            ("- {id: a, type: stage, version: '1x2x3'}", &["field-pattern [0].version"]),
            ("- {id: a, type: stage, stage: deploy}", &["stage-unknown [0].stage"]),
            ("- {id: a, type: stage, stage: pre_deployment/x}", &["stage-bad-postfix [0].stage"]),
            ("- {id: a, type: stage, stage: 5}", &["stage-not-string [0].stage"]),
            ("- {id: a, type: stage, reexecute_on: [x]}", &["field-enum [0].reexecute_on[0]"]),
            ("- {id: a, type: stage, condition: 'settings:a.b = 1'}", &["expression-syntax [0].condition"]),
            (
                "- {id: a, type: group, role: x, parameters: {strategy: {amount: 1}}}",
                &["field-required [0].parameters.strategy.type"],
            ),
            ("- {id: a, type: stage, condition: ' yaql_exp: $.x'}", &["expression-syntax [0].condition"]),
            ("[{id: a, type: stage}, {id: a, type: stage}]", &["duplicate-id [1].id"]),
        ],
    );
}

#[test]
fn parameters_of_graph_tasks_are_checked() {
    let check = |kind: &str, parameters: &str, expected: &[&str]| {
        let text = format!("- {{id: a, type: {kind}, role: x, parameters: {parameters}}}");
        assert_eq!(with(5, GRAPH, &text), expected, "{text}");
    };
    check(
        "puppet",
        "{puppet_manifest: a, puppet_modules: b, timeout: -5}",
        &["field-min [0].parameters.timeout"],
    );
    check(
        "puppet",
        "{puppet_manifest: '', puppet_modules: b, timeout: 5}",
        &["too-short [0].parameters.puppet_manifest"],
    );
    check(
        "puppet",
        "{puppet_manifest: a, puppet_modules: {yaql_exp: '$.x'}, timeout: '5'}",
        &["field-type [0].parameters.timeout"],
    );
    check("shell", "{timeout: 5}", &["field-required [0].parameters.cmd"]);
    check("shell", "{cmd: {yaql_exp: '1 +'}}", &["expression-syntax [0].parameters.cmd.yaql_exp"]);
    check("copy_files", "{files: []}", &["too-short [0].parameters.files"]);
    check("copy_files", "{files: [{src: a}]}", &["field-required [0].parameters.files[0].dst"]);
    check(
        "copy_files",
        "{files: [{src: a, dst: b}], permissions: '0888'}",
        &["field-pattern [0].parameters.permissions"],
    );
    check("copy_files", "{files: [{src: a, dst: b}], dir_permissions: '0755'}", &[]);
    check("sync", "{src: a}", &["field-required [0].parameters.dst"]);
    check("upload_file", "{path: a, data: {a: 1}}", &["field-type [0].parameters.data"]);
    check("upload_file", "{path: a, data: {yaql_exp: '$.x'}}", &[]);
    for kind in ["copy_files", "sync", "upload_file"] {
        let text = format!("- {{id: a, type: {kind}, role: x}}");
        assert_eq!(with(5, GRAPH, &text), ["field-required [0].parameters"]);
    }
}

#[test]
fn graph_tasks_of_version_3_are_checked() {
    cases(
        3,
        GRAPH,
        &[
            ("- {id: '*', type: stage}", &["field-pattern [0].id"]),
            ("- {id: a, type: shell}", &["field-required [0].role"]),
            ("- {id: a, type: puppet}", &[]),
            ("- {id: a, type: shell, role: compute}", &["role-format [0].role"]),
            ("- {id: a, type: shell, role: master}", &[]),
            ("- {id: a, type: stage, reexecute_on: [x]}", &[]),
            (
                "- {id: a, type: group, role: [x], parameters: {strategy: {type: some}}}",
                &["field-enum [0].parameters.strategy.type"],
            ),
            ("- {id: a, type: group, role: [x], parameters: {strategy: {type: one_by_one}}}", &[]),
        ],
    );
}
