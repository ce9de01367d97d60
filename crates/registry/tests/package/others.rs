//! Files other than metadata and tasks.

use super::{SETTINGS, cases, with};

#[test]
fn settings_are_checked() {
    let attribute = |fields: &str| format!("attributes: {{a: {{{fields}}}}}");
    let valid = "type: text, label: A, weight: 1";
    for (fields, expected) in [
        (format!("{valid}, value: x"), vec![]),
        (format!("{valid}, value: {{generator: password}}"), vec![]),
        (format!("{valid}, value: [a, true]"), vec![]),
        (format!("{valid}, value: 5"), vec!["field-type attributes.a.value"]),
        (format!("{valid}, value: ~"), vec!["field-type attributes.a.value"]),
        (format!("{valid}, value: [5]"), vec!["field-type attributes.a.value[0]"]),
        (valid.to_owned(), vec!["field-required attributes.a.value"]),
        (
            "type: 1, label: A, weight: '1', value: x".to_owned(),
            vec!["field-type attributes.a.type", "field-type attributes.a.weight"],
        ),
        (
            format!("{valid}, value: x, values: [{{data: 1, label: x}}]"),
            vec!["field-type attributes.a.values[0].data"],
        ),
        (format!("{valid}, value: x, restrictions: []"), vec!["too-short attributes.a.restrictions"]),
        (
            format!(
                "{valid}, value: x, restrictions: ['a:b', {{'a:b == 1': why}}, {{condition: 'a:b', action: hide}}]"
            ),
            vec![],
        ),
        (
            format!("{valid}, value: x, restrictions: ['a b']"),
            vec!["expression-syntax attributes.a.restrictions[0]"],
        ),
        (
            format!("{valid}, value: x, restrictions: [{{'a:b =': why}}]"),
            vec!["expression-syntax attributes.a.restrictions[0]"],
        ),
        (
            format!("{valid}, value: x, restrictions: [{{condition: 'a:b', action: enable}}]"),
            vec!["field-enum attributes.a.restrictions[0].action"],
        ),
        (
            format!("{valid}, value: x, restrictions: [{{message: x, action: hide}}]"),
            vec!["field-required attributes.a.restrictions[0].condition"],
        ),
        (format!("{valid}, value: x, restrictions: [5]"), vec!["field-type attributes.a.restrictions[0]"]),
        (
            format!("{valid}, value: x, restrictions: ['not a:b == 1']"),
            vec!["?expression-syntax attributes.a.restrictions[0]"],
        ),
    ] {
        assert_eq!(with(4, SETTINGS, &attribute(&fields)), expected, "{fields}");
    }
    assert_eq!(with(4, SETTINGS, "attributes: []"), ["field-type attributes"]);
    assert_eq!(with(4, SETTINGS, "attributes: {a: 1}"), ["field-type attributes.a"]);
    assert_eq!(
        with(4, SETTINGS, "attributes: {metadata: {group: x}}"),
        ["field-enum attributes.metadata.group"]
    );
    assert_eq!(with(3, SETTINGS, "attributes: {metadata: {group: x}}"), Vec::<String>::new());
    assert_eq!(
        with(4, SETTINGS, "attributes: {metadata: {enabled: 1}}"),
        ["field-type attributes.metadata.enabled"]
    );
}

#[test]
fn roles_volumes_and_network_roles_are_checked() {
    cases(
        3,
        "node_roles.yaml",
        &[
            (
                "r: {name: R, description: D, conflicts: '*', limits: {min: 1, max: 'settings:a', overrides: [{condition: 'a:b'}]}}",
                &[],
            ),
            ("r: {description: D}", &["field-required r.name"]),
            ("r b: {name: R, description: D}", &["field-pattern [\"r b\"]"]),
            ("r: {name: R, description: D, conflicts: x}", &["field-type r.conflicts"]),
            (
                "r: {name: R, description: D, has_primary: 1, weight: x}",
                &["field-type r.has_primary", "field-type r.weight"],
            ),
            ("r: {name: R, description: D, limits: {min: 1.5}}", &["field-type r.limits.min"]),
            ("r: {name: R, description: D, limits: {overrides: []}}", &["too-short r.limits.overrides"]),
            (
                "r: {name: R, description: D, limits: {condition: '='}}",
                &["expression-syntax r.limits.condition"],
            ),
            ("[r]", &["field-type "]),
        ],
    );
    cases(
        3,
        "volumes.yaml",
        &[
            (
                "{volumes: [{id: a, type: vg}], volumes_roles_mapping: {r: [{id: os, allocate_size: min}]}}",
                &[],
            ),
            ("{volumes: []}", &["field-required volumes_roles_mapping"]),
            (
                "{volumes: [{id: a}], volumes_roles_mapping: {r: []}}",
                &["field-required volumes[0].type", "too-short volumes_roles_mapping.r"],
            ),
            (
                "{volumes: [], volumes_roles_mapping: {r: [{id: os, allocate_size: x}]}}",
                &["field-enum volumes_roles_mapping.r[0].allocate_size"],
            ),
        ],
    );
    cases(
        3,
        "network_roles.yaml",
        &[
            (
                "[{id: a, default_mapping: b, properties: {subnet: true, gateway: no, vip: [{name: v_1, namespace: h}]}}]",
                &[],
            ),
            (
                "[{id: a, default_mapping: b, properties: {subnet: 1, gateway: no, vip: [{name: V}]}}]",
                &["field-type [0].properties.subnet", "field-pattern [0].properties.vip[0].name"],
            ),
            ("[{id: a}]", &["field-required [0].default_mapping", "field-required [0].properties"]),
        ],
    );
}

#[test]
fn components_are_checked() {
    cases(
        4,
        "components.yaml",
        &[
            (
                "[{name: 'network:a', label: A, weight: 5, default: true, bind: ['settings:a'], compatible: [{name: 'hypervisor:*'}]}]",
                &[],
            ),
            ("[{label: A}]", &["field-required [0].name"]),
            ("[{name: 'network:', label: A}]", &["component-name [0].name"]),
            ("[{name: 'network:a', label: A, more: 1}]", &["unexpected-field [0].more"]),
            (
                "[{name: 'network:a', label: A, incompatible: [{name: 'network:'}]}]",
                &["component-pattern [0].incompatible[0].name"],
            ),
            (
                "[{name: 'network:a', label: A, incompatible: [{name: 'storage:a', description: x}]}]",
                &["?unexpected-field [0].incompatible[0].description"],
            ),
            (
                "[{name: 'network:a', label: A, requires: [{name: 'storage:a'}, {any_of: {items: ['storage:b']}}]}]",
                &["requires-mixed [0].requires"],
            ),
            (
                "[{name: 'network:a', label: A, requires: [{some_of: {items: ['storage:b']}}]}]",
                &["requires-predicate [0].requires[0]"],
            ),
            (
                "[{name: 'network:a', label: A, requires: [{any_of: {items: ['storage']}}]}]",
                &["component-pattern [0].requires[0].any_of.items[0]"],
            ),
            (
                "[{name: 'network:a', label: A, requires: [{one_of: {items: ['storage:*'], message: x}, none_of: {items: []}}]}]",
                &[],
            ),
            ("[{name: 'network:a', label: A, requires: []}]", &[]),
            (
                "[{name: 'network:a', label: A, bind: ['settings:a.b.value', ['cluster:mode', x], {'cluster:net_segment_type': tun}]}]",
                &[],
            ),
            (
                "[{name: 'network:a', label: A, bind: ['other:x', ['cluster:name', x], {'settings:': 1}, [a, b, c], 5]}]",
                &[
                    "?bind-target [0].bind[0]",
                    "?bind-target [0].bind[1]",
                    "?bind-target [0].bind[2]",
                    "?bind-target [0].bind[3]",
                    "?bind-target [0].bind[4]",
                ],
            ),
        ],
    );
}

#[test]
fn interface_and_node_attributes_are_checked() {
    let valid = "type: text, label: A";
    for file in ["nic_config.yaml", "bond_config.yaml"] {
        assert_eq!(with(5, file, &format!("a: {{{valid}, value: ''}}")), Vec::<String>::new());
        assert_eq!(with(5, file, &format!("a: {{{valid}}}")), ["field-required a.value"]);
        assert_eq!(with(5, file, "metadata: {weight: 1}"), ["field-required metadata.label"]);
        assert_eq!(with(5, file, "metadata_x: {label: x}"), ["unexpected-field metadata_x"]);
        assert_eq!(with(4, file, "metadata_x: 1"), Vec::<String>::new());
    }
    let section = format!("s: {{metadata: {{label: S}}, a: {{{valid}, value: '', restrictions: ['x y']}}}}");
    assert_eq!(with(5, "node_config.yaml", &section), ["expression-syntax s.a.restrictions[0]"]);
    assert_eq!(with(5, "node_config.yaml", "s: 1"), ["field-type s"]);
}

#[test]
fn wizards_are_checked() {
    cases(
        1,
        "wizard_metadata.yaml",
        &[
            (
                "Network: {manager: {values: [{data: mesh, label: Mesh, bind: [{'settings:a.b': true}], restrictions: ['wizard:A.b']}]}, encrypt: ~}",
                &[],
            ),
            ("[Network]", &["wizard-shape "]),
            ("Network: [x]", &["wizard-shape Network"]),
            ("Network: {manager: 1}", &["wizard-shape Network.manager"]),
            ("Network: {manager: {type: knob}}", &["wizard-shape Network.manager.type"]),
            ("Network: {manager: {values: {a: 1}}}", &["wizard-shape Network.manager.values"]),
            ("Network: {manager: {values: [{label: x}]}}", &["wizard-shape Network.manager.values[0]"]),
            (
                "Network: {manager: {values: [{data: a}, {data: a}, {data: 1}, {data: '1'}]}}",
                &["not-unique Network.manager.values[1].data"],
            ),
            ("Network: {manager: {bind: 5}}", &["wizard-shape Network.manager.bind"]),
            (
                "Network: {manager: {bind: 'cluster:net_segment_type', values: [{data: a, bind: ['cluster:moon', {'wizard:A.b': 1}, {'wizard:A': 1}]}]}}",
                &[
                    "?bind-target Network.manager.values[0].bind[0]",
                    "?bind-target Network.manager.values[0].bind[2]",
                ],
            ),
            (
                "Network: {manager: {restrictions: ['Compute.vcenter == true', {some_restriction: why}, {condition: other_word}]}}",
                &[
                    "?restriction-placeholder Network.manager.restrictions[1]",
                    "?restriction-placeholder Network.manager.restrictions[2].condition",
                ],
            ),
            (
                "Network: {manager: {restrictions: ['a b']}}",
                &["expression-syntax Network.manager.restrictions[0]"],
            ),
        ],
    );
}
