//! Evaluation of cases as JSON documents.

#![expect(clippy::needless_pass_by_value, reason = "keeps the test cases short")]

use serde_json::{Value as Json, json};
use stoker_registry::cases::evaluate_case;

fn check(case: Json, expected: Json) {
    assert_eq!(evaluate_case(&case), expected, "{case}");
}

#[test]
fn decision_reports_conflicts() {
    check(
        json!({
            "kind": "decision", "id": 1, "components": ["hypervisor:vmware:vcenter", {"name": "hypervisor:core:kvm"}],
            "plugins": [
                {"name": "contrail", "provides": [{"name": "networking:core", "compatible_hypervisors": ["core"]}]},
                {"name": "old", "releases": [{"os": "centos", "version": "a-1", "mode": ["ha"]}], "components": ["nonsense"]},
            ],
            "selection": ["hypervisor:vmware:vcenter", "network:core:contrail"],
            "required_types": ["storage"],
            "release": {"operating_system": "Ubuntu", "version": "a-1"},
        }),
        json!({"id": 1, "result": {"compatible": false, "conflicts": [
            {"components": ["hypervisor:vmware:vcenter", "network:core:contrail"], "kind": "incompatible"},
            {"kind": "missing_type", "type": "storage"},
        ]}}),
    );
    check(
        json!({"kind": "decision", "id": "x", "components": ["storage:a"], "selection": ["storage:a"]}),
        json!({"id": "x", "result": {"compatible": true, "conflicts": []}}),
    );
}

#[test]
fn wizard_mix_merges_or_reports_conflicts() {
    let release = json!({"Network": {"manager": {"values": [{"data": "a", "label": "A"}]}}});
    let addition = json!({"Network": {"manager": {"values": [{"data": "b"}]}}});
    check(
        json!({"kind": "wizard_mix", "id": 2, "release_wizard": release, "plugin_wizards": [{"plugin": "p", "wizard": addition}]}),
        json!({"id": 2, "result": {"Network": {"manager": {"values": [{"data": "a", "label": "A"}, {"data": "b"}]}}}}),
    );
    let invalid = json!({"Network": {"manager": {"values": [{"data": "a", "label": "B"}]}}});
    check(
        json!({"kind": "wizard_mix", "id": 3, "release_wizard": release, "plugin_wizards": [{"plugin": "p", "wizard": invalid}]}),
        json!({"id": 3, "error": [{"path": "Network.manager.values[a].label", "kind": "scalar", "plugin": "p"}]}),
    );
}

#[test]
fn stage_order_sorts_or_reports_errors() {
    let plugins = json!([
        {"name": "b", "tasks": [{"stage": "post_deployment/5"}, {"stage": "pre_deployment"}]},
        {"name": "a", "tasks": [{"stage": "post_deployment/5.0"}]},
    ]);
    check(
        json!({"kind": "stage_order", "id": 4, "plugins": plugins}),
        json!({"id": 4, "result": [["b", 1], ["a", 0], ["b", 0]]}),
    );
    let invalid =
        json!([{"name": "b", "package_version": "1.0.0", "tasks": [{"stage": "post_deployment/5"}, {}]}]);
    check(
        json!({"kind": "stage_order", "id": 5, "plugins": invalid}),
        json!({"id": 5, "error": [
            {"plugin": "b", "task": 0, "code": "stage_postfix_not_allowed"},
            {"plugin": "b", "task": 1, "code": "stage_missing"},
        ]}),
    );
    check(
        json!({"kind": "stage_order", "id": 6, "plugins": [{"name": "b"}, {"name": "b", "tasks": [{}]}]}),
        json!({"id": 6, "error": [{"plugin": "b", "task": null, "code": "duplicate_plugin"}]}),
    );
}

#[test]
fn restriction_gen_disables_incompatible_options() {
    let wizard = json!({
        "Compute": {"vcenter": {"type": "checkbox", "component": "hypervisor:vmware"}},
        "Network": {"manager": {"type": "radio", "values": [{"data": "core", "component": "networking:core:contrail"}]}},
    });
    check(
        json!({
            "kind": "restriction_gen", "id": 7, "wizard": wizard,
            "components": [{"name": "hypervisor:vmware", "label": "vCenter"}],
            "plugins": [{"name": "contrail", "provides": [{"name": "networking:core"}]}],
        }),
        json!({"id": 7, "result": {"Network.manager[core]": [{
            "condition": "wizard:Compute.vcenter == true",
            "message": "network:core:contrail is not compatible with vCenter",
            "action": "disable",
        }]}}),
    );
}

#[test]
fn invalid_cases_are_reported() {
    let kinds = "`kind` must be `decision`, `wizard_mix`, `stage_order` or `restriction_gen`";
    check(json!(5), json!({"id": null, "error": kinds}));
    check(json!({"id": 8, "kind": "x"}), json!({"id": 8, "error": kinds}));
    check(
        json!({"id": 8, "kind": "decision", "selection": [5]}),
        json!({"id": 8, "error": "`selection` must be a list of strings"}),
    );
    check(
        json!({"id": 8, "kind": "decision", "plugins": [{}]}),
        json!({"id": 8, "error": "`name` of a plugin is missing"}),
    );
    check(
        json!({"id": 8, "kind": "restriction_gen", "wizard": 5}),
        json!({"id": 8, "error": "`wizard` must be a map"}),
    );
    check(
        json!({"id": 8, "kind": "stage_order", "plugins": {}}),
        json!({"id": 8, "error": "`plugins` must be a list"}),
    );
}

#[test]
fn oversized_cases_are_rejected() {
    let names: Vec<Json> = (0..2001).map(|at| json!(format!("storage:n{at}"))).collect();
    let options: Vec<Json> = (0..251).map(|at| json!({"data": at, "component": "storage:a"})).collect();
    for case in [
        json!({"id": 9, "kind": "decision", "components": names}),
        json!({"id": 9, "kind": "decision", "selection": names}),
        json!({"id": 9, "kind": "decision", "plugins": [{"name": "p", "components": names}]}),
        json!({"id": 9, "kind": "restriction_gen", "wizard": {"Storage": {"a": {"values": options}}}}),
    ] {
        let answer = evaluate_case(&case);
        assert!(answer["error"].as_str().is_some_and(|error| error.contains("the limit is")), "{answer}");
    }
}
