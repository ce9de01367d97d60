//! Rewriting of settings page paths to deployed paths.

use stoker_conditions::rewrite_for_deployment;

#[test]
fn paths_are_rewritten_as_in_fuel() {
    for (from, to) in [
        ("settings:additional_components.ceilometer.value == 1", "settings:ceilometer.enabled == 1"),
        ("settings:additional_components.ceilometer == 1", "settings:ceilometer.enabled == 1"),
        ("settings:common.vms_create.value == 1", "settings:vms_create == 1"),
        ("settings:common.vms_create == 1", "settings:vms_create == 1"),
        ("settings:my.id.value == 2", "settings:my.id == 2"),
        ("settings:common.value.id == 2", "settings:value.id == 2"),
        ("settings:common.value == 2", "settings:value == 2"),
        ("cluster:id == 2", "cluster:id == 2"),
        ("cluster:common.id.value == 2", "cluster:common.id.value == 2"),
        ("settings:a.value.name == null", "settings:a.value.name == null"),
        ("settings:a.value.b.value", "settings:a.value.b"),
        ("settings:value", "settings:value"),
        ("settings:common", "settings:common"),
        ("settings:additional_components", "settings:additional_components"),
        (
            "settings:a.value==true and(settings:common.b.value or 'x')",
            "settings:a==true and(settings:b or 'x')",
        ),
    ] {
        assert_eq!(rewrite_for_deployment(from), to);
    }
}

#[test]
fn only_whole_keys_are_rewritten() {
    for (text, expected) in [
        ("settings:a.valueless", "settings:a.valueless"),
        ("settings:some-value", "settings:some-value"),
        ("settings:additional_components.a-b.value", "settings:a-b.enabled"),
        ("settings:additional_components.a.valueless", "settings:a.enabled.valueless"),
        ("'settings:common.x.value' == settings:a.value", "'settings:common.x.value' == settings:a"),
        ("my_settings:common.x", "my_settings:common.x"),
        ("not a condition >= settings:a.value", "not a condition >= settings:a.value"),
    ] {
        assert_eq!(rewrite_for_deployment(text), expected);
    }
}
