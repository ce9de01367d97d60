//! State of the wizard after partial answers.

use serde_json::{Value as Json, json};
use stoker_registry::components::Registry;
use stoker_registry::wizard::{
    ControlState, MergedWizard, WizardEvaluation, evaluate, merge_wizards, with_restrictions,
};

/// Returns a wizard with incompatible components.
fn wizard() -> MergedWizard {
    let components = json!([
        {"name": "hypervisor:kvm", "label": "KVM"},
        {"name": "hypervisor:vmware", "label": "vCenter",
         "incompatible": [{"name": "network:core:*"}, {"name": "storage:ceph"}]},
        {"name": "network:ml2", "label": "ML2"},
        {"name": "network:core:contrail", "label": "Contrail"},
        {"name": "storage:ceph", "label": "Ceph"},
    ]);
    let wizard = json!({
        "Compute": {
            "kvm": {"type": "checkbox", "weight": 1, "value": true, "component": "hypervisor:kvm"},
            "vcenter": {"type": "checkbox", "weight": 2, "component": "hypervisor:vmware"},
        },
        "Network": {"manager": {"type": "radio", "value": "ml2", "values": [
            {"data": "contrail", "component": "network:core:contrail"},
            {"data": "ml2", "component": "network:ml2"},
        ]}},
        "Storage": {
            "metadata": {"restrictions": [{"condition": "cluster:mode == 'multinode'", "action": "hide"}]},
            "ceph": {"type": "checkbox", "component": "storage:ceph"},
            "pool": {"type": "text", "restrictions": [{"wizard:Storage.ceph == false": "only with Ceph"}]},
        },
    });
    let mixed = merge_wizards(&wizard, &[]).unwrap();
    let registry = Registry::new(components.as_array().unwrap(), &[]);
    MergedWizard { wizard: with_restrictions(mixed.wizard, &registry), ..mixed }
}

fn evaluated(answers: &Json, mode: &str) -> WizardEvaluation {
    let cluster = json!({"mode": mode});
    evaluate(&wizard(), answers.as_object().unwrap(), &|name| (name == "cluster").then_some(&cluster))
}

fn control<'e>(evaluation: &'e WizardEvaluation, name: &str) -> &'e ControlState {
    evaluation.controls.iter().find(|state| state.control == name).unwrap()
}

#[test]
fn defaults_are_not_restricted() {
    let evaluation = evaluated(&json!({}), "ha");
    let states: Vec<(&str, &Json, bool)> = evaluation
        .controls
        .iter()
        .map(|state| (state.control.as_str(), &state.value, state.effect.is_disabled))
        .collect();
    assert_eq!(
        states,
        [
            ("kvm", &json!(true), false),
            ("vcenter", &json!(false), false),
            ("manager", &json!("ml2"), false),
            ("ceph", &json!(false), false),
            ("pool", &json!(""), true),
        ]
    );
    assert_eq!(evaluation.problems, []);
    assert_eq!(control(&evaluation, "pool").effect.messages, ["only with Ceph"]);
}

#[test]
fn incompatible_answers_are_dropped() {
    let answers = json!({
        "Compute": {"kvm": false, "vcenter": true}, "Network": {"manager": "contrail"}, "Storage": {"ceph": true},
    });
    let evaluation = evaluated(&answers, "ha");
    let manager = control(&evaluation, "manager");
    assert_eq!((&manager.value, &manager.dropped), (&json!("ml2"), &Some(json!("contrail"))));
    assert!(manager.options[0].effect.is_disabled && !manager.options[1].effect.is_disabled);
    assert_eq!(manager.options[0].effect.messages, ["Contrail is not compatible with vCenter"]);
    let ceph = control(&evaluation, "ceph");
    assert_eq!((&ceph.value, &ceph.dropped), (&json!(false), &Some(json!(true))));
    // Later controls see effective values, not the answers.
    assert!(control(&evaluation, "pool").effect.is_disabled);
    assert_eq!(evaluation.answers["Storage"], json!({"ceph": false, "pool": ""}));
}

#[test]
fn hidden_pane_hides_its_controls() {
    let evaluation = evaluated(&json!({"Storage": {"ceph": true}, "Nowhere": {"x": 1}}), "multinode");
    assert!(control(&evaluation, "ceph").effect.is_hidden && control(&evaluation, "pool").effect.is_hidden);
    assert_eq!(control(&evaluation, "ceph").value, json!(false));
    assert_eq!(evaluation.problems.len(), 1);
    assert_eq!(evaluation.problems[0].location.path, "Nowhere.x");
}

#[test]
fn restriction_that_cannot_be_evaluated_has_no_effect() {
    let wizard = json!({"Network": {"manager": {"type": "radio", "values": [
        {"data": "a", "restrictions": ["true"]}, {"data": "b", "restrictions": ["odd:x"]}]}}});
    let mixed = merge_wizards(&wizard, &[]).unwrap();
    let evaluation = evaluate(&mixed, &serde_json::Map::new(), &|_| None);
    assert_eq!(
        evaluation.controls[0].value,
        json!("b"),
        "a restriction that cannot be evaluated has no effect"
    );
    assert_eq!(evaluation.problems.len(), 1, "{:?}", evaluation.problems);
}
