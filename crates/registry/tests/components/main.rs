//! Compatibility of components.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod advice;
mod enabling;
mod laws;
mod oracle;
mod real;

use serde_json::{Value as Json, json};
use stoker_model::CompatibilityTarget;
use stoker_registry::components::{
    ComponentConflict, PluginComponents, Registry, Selection, newest_supported,
};

/// Creates a plugin with these declarations.
fn plugin<'a>(name: &'a str, provides: &'a Json, components: &'a Json) -> PluginComponents<'a> {
    let list = |value: &'a Json| value.as_array().map_or(&[][..], Vec::as_slice);
    PluginComponents {
        name,
        version: "1.0.0",
        releases: None,
        provides: list(provides),
        components: list(components),
    }
}

fn registry(release: &Json, plugins: &[PluginComponents<'_>]) -> Registry {
    Registry::new(release.as_array().unwrap(), &newest_supported(plugins, None))
}

/// Conflicts in serialized form.
fn conflicts(registry: &Registry, selection: &[&str]) -> Vec<String> {
    let decision = registry.check_selection(Selection { components: selection, required_types: &[] });
    assert_eq!(decision.to_json()["compatible"], json!(decision.is_compatible()));
    decision.conflicts.iter().map(|finding| finding.to_json().to_string()).collect()
}

fn incompatible(one: &str, other: &str) -> Vec<String> {
    vec![json!({"components": [one, other], "kind": "incompatible"}).to_string()]
}

fn pair(release: &Json, provides: &Json, one: &str, other: &str) -> bool {
    let registry = registry(release, &[plugin("p", provides, &json!([]))]);
    let (forth, back) = (conflicts(&registry, &[one, other]), conflicts(&registry, &[other, one]));
    assert_eq!(forth, back, "symmetric");
    !forth.is_empty()
}

#[test]
fn incompatible_pairs_conflict() {
    let a = |more: Json| {
        let mut entry = json!({"name": "network:a"});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let open = |more: Json| json!([a(more), "hypervisor:core:b"]);
    let check = |release: &Json| pair(release, &json!([]), "network:a", "hypervisor:core:b");
    assert!(!check(&open(json!({}))));
    assert!(check(&open(json!({"incompatible": [{"name": "hypervisor:core:b"}]}))));
    assert!(check(&open(json!({"incompatible": [{"name": "hypervisor:*"}]}))));
    assert!(
        !check(&open(json!({"compatible": [{"name": "hypervisor:vmware"}]}))),
        "compatible is informational"
    );
    let both =
        json!({"compatible": [{"name": "hypervisor:core:b"}], "incompatible": [{"name": "hypervisor:*"}]});
    assert!(check(&open(both)));
    let alone = json!([a(json!({"incompatible": [{"name": "network:*"}]})), "network:z"]);
    assert!(!pair(&alone, &json!([]), "network:a", "network:a"), "never with itself");
    assert!(pair(&alone, &json!([]), "network:a", "network:z"));
}

#[test]
fn provides_refuses_unlisted_components() {
    let release = json!(["hypervisor:core:kvm", "hypervisor:vmware", "additional_service:x", {
        "name": "storage:friend", "compatible": [{"name": "network:*"}],
    }]);
    let check = |more: Json, other: &str| {
        let mut entry = json!({"name": "networking:core:gridnet"});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pair(&release, &json!([entry]), "network:core:gridnet", other)
    };
    assert!(!check(json!({"compatible_hypervisors": ["core"]}), "hypervisor:core:kvm"));
    assert!(check(json!({"compatible_hypervisors": ["core"]}), "hypervisor:vmware"));
    assert!(check(json!({}), "hypervisor:core:kvm"));
    assert!(check(json!({"compatible_hypervisors": null}), "hypervisor:core:kvm"));
    assert!(check(json!({"compatible_hypervisors": []}), "hypervisor:core:kvm"));
    assert!(!check(json!({"compatible_hypervisors": ["x", "all"]}), "hypervisor:vmware"));
    assert!(!check(json!({"compatible_hypervisors": ["*"]}), "hypervisor:vmware"));
    assert!(check(json!({}), "storage:friend"), "refusal wins over advice");
    assert!(!check(json!({}), "additional_service:x"));
    assert!(!check(json!({"compatible_additional_services": null}), "additional_service:x"));
    assert!(check(json!({"compatible_additional_services": []}), "additional_service:x"));
}

#[test]
fn design_samples_of_provides() {
    let provides = json!([
        {"name": "hypervisor:xen", "compatible_networking": ["core"]},
        {"name": "networking:core:contrail", "compatible_hypervisors": ["core"]},
    ]);
    assert!(pair(&json!([]), &provides, "hypervisor:xen", "networking:core:contrail"));
    let release = json!(["hypervisor:vmware:vcenter", "hypervisor:core:kvm"]);
    let contrail = json!([{"name": "networking:core:contrail", "compatible_hypervisors": ["core"]}]);
    assert!(pair(&release, &contrail, "hypervisor:vmware:vcenter", "network:core:contrail"));
    assert!(!pair(&release, &contrail, "hypervisor:core:kvm", "network:core:contrail"));
}

#[test]
fn bare_subtypes_get_the_plugin_name() {
    let single = json!([{"name": "networking:core"}]);
    let one = registry(&json!([]), &[plugin("gridnet", &single, &json!([]))]);
    assert_eq!(one.components()[0].name.to_string(), "network:core:gridnet");
    let several = json!([{"name": "networking:core"}, {"name": "hypervisor:xen"}]);
    let two = registry(&json!([]), &[plugin("gridnet", &several, &json!([]))]);
    assert_eq!(two.components().len(), 1);
    assert_eq!(
        conflicts(&two, &["hypervisor:xen"]),
        [json!({"component": "network:core", "kind": "invalid", "reason": "specific_name_required"})
            .to_string()]
    );
    assert_eq!(registry(&json!(["network:core"]), &[]).components()[0].name.to_string(), "network:core");
}

fn requiring(requires: &Json) -> Registry {
    let own = json!({"name": "network:own", "requires": requires});
    registry(&json!([own, "storage:a", "storage:b", "hypervisor:x"]), &[])
}

fn unmet(requires: &Json, selection: &[&str]) -> Vec<Json> {
    let mut selection = selection.to_vec();
    selection.push("network:own");
    let decision =
        requiring(requires).check_selection(Selection { components: &selection, required_types: &[] });
    decision.conflicts.iter().map(|finding| finding.to_json()["predicate"].clone()).collect()
}

#[test]
fn predicates_are_evaluated() {
    let both = |predicate: &str| json!([{predicate: {"items": ["storage:a", "storage:b", "storage:*"]}}]);
    for (predicate, none, one, two) in [
        ("one_of", false, true, false),
        ("any_of", false, true, true),
        ("none_of", true, false, false),
        ("all_of", false, false, true),
    ] {
        assert_eq!(unmet(&both(predicate), &[]).is_empty(), none, "{predicate}");
        assert_eq!(unmet(&both(predicate), &["storage:a"]).is_empty(), one, "{predicate}");
        assert_eq!(unmet(&both(predicate), &["storage:a", "storage:b"]).is_empty(), two, "{predicate}");
    }
    for (predicate, holds) in [("one_of", false), ("any_of", false), ("none_of", true), ("all_of", true)] {
        assert_eq!(unmet(&json!([{predicate: {"items": []}}]), &[]).is_empty(), holds, "{predicate}");
    }
    // The component itself is never counted.
    assert_eq!(unmet(&json!([{"any_of": {"items": ["network:*"]}}]), &[]).len(), 1);
    assert_eq!(unmet(&json!([{"none_of": {"items": ["network:*"]}}]), &[]).len(), 0);
    assert_eq!(unmet(&json!([{"all_of": {"items": ["network:own", "network:*"]}}]), &[]).len(), 0);
    // Names without a provider.
    assert_eq!(unmet(&json!([{"all_of": {"items": ["storage:zzz"]}}]), &[]).len(), 1);
    assert_eq!(unmet(&json!([{"all_of": {"items": ["storage:zzz:*"]}}]), &[]).len(), 0);
    // Every predicate of every map is required.
    let all = json!([{"one_of": {"items": ["storage:*"]}, "none_of": {"items": ["hypervisor:x"]}}, {"any_of": {"items": ["hypervisor:*"]}}]);
    assert_eq!(unmet(&all, &["storage:a", "storage:b", "hypervisor:x"]), [json!("none_of"), json!("one_of")]);
}

#[test]
fn name_lists_are_grouped_by_type() {
    let names = json!([{"name": "storage:b"}, {"name": "storage:a"}, {"name": "hypervisor:x"}]);
    assert!(unmet(&names, &["storage:a", "hypervisor:x"]).is_empty());
    assert_eq!(
        conflicts(&requiring(&names), &["network:own", "hypervisor:x"]),
        [json!({"component": "network:own", "items": ["storage:a", "storage:b"], "kind": "requires", "predicate": "any_of"})
            .to_string()]
    );
    assert_eq!(unmet(&names, &[]).len(), 2);
}

#[test]
fn invalid_declarations_are_reported_once() {
    let release = json!([
        {"name": "nonsense"},
        {"name": "network:a", "incompatible": [{"name": "network:"}, {"name": "x"}], "compatible": [{"name": "*"}]},
        {"name": "network:b", "requires": [{"name": "storage:a"}, {"any_of": {"items": []}}]},
        {"name": "network:c", "requires": [{"some_of": {"items": []}}]},
        {"name": "network:d", "requires": [{"any_of": {"items": ["storage"]}}]},
    ]);
    let provides = json!([{"name": "hypervisor:x", "compatible_storages": ["a*", "ok"], "compatible_networking": "all"}]);
    let registry = registry(&release, &[plugin("p", &provides, &json!([]))]);
    let reasons: Vec<String> = registry
        .check_selection(Selection::default())
        .conflicts
        .iter()
        .map(|finding| {
            let findings = finding.to_json();
            format!("{} {}", findings["component"].as_str().unwrap(), findings["reason"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "hypervisor:x bad_token",
            "network:a bad_pattern",
            "network:b mixed_requires",
            "network:c unknown_predicate",
            "network:d bad_pattern",
            "nonsense bad_name",
        ]
    );
}

#[test]
fn duplicates_unknown_names_and_missing_types_are_reported() {
    let (nsxv, nsxt) = (
        json!([{"name": "network:core:nsx", "incompatible": [{"name": "storage:a"}]}]),
        json!(["network:core:nsx"]),
    );
    let none = json!([]);
    let registry = registry(&json!(["storage:a"]), &[plugin("z", &none, &nsxv), plugin("a", &none, &nsxt)]);
    let duplicate =
        json!({"component": "network:core:nsx", "kind": "duplicate", "providers": ["a", "z"]}).to_string();
    assert_eq!(conflicts(&registry, &[]), std::slice::from_ref(&duplicate));
    // The first provider, `a`, declares no incompatibility.
    assert_eq!(conflicts(&registry, &["network:core:nsx", "storage:a"]), std::slice::from_ref(&duplicate));
    let selection =
        Selection { components: &["networking:zzz", "What"], required_types: &["networking", "storage"] };
    let findings: Vec<Json> =
        registry.check_selection(selection).conflicts.iter().map(ComponentConflict::to_json).collect();
    assert_eq!(
        findings[1..],
        [
            json!({"component": "What", "kind": "unknown"}),
            json!({"component": "network:zzz", "kind": "unknown"}),
            json!({"kind": "missing_type", "type": "network"}),
            json!({"kind": "missing_type", "type": "storage"}),
        ]
    );
}

#[test]
fn declarations_of_both_formats_are_merged() {
    let provides =
        json!([{"name": "network:mine", "compatible_storages": ["a"], "compatible_hypervisors": ["all"]}]);
    let components =
        json!([{"name": "network:mine", "label": "Mine", "incompatible": [{"name": "hypervisor:x"}]}]);
    let release = json!(["storage:a", "storage:b", "hypervisor:x", "hypervisor:y"]);
    let registry = registry(&release, &[plugin("p", &provides, &components)]);
    assert_eq!(conflicts(&registry, &["network:mine", "storage:a", "hypervisor:y"]), Vec::<String>::new());
    assert_eq!(
        conflicts(&registry, &["network:mine", "storage:b"]),
        incompatible("network:mine", "storage:b")
    );
    assert_eq!(
        conflicts(&registry, &["network:mine", "hypervisor:x"]),
        incompatible("hypervisor:x", "network:mine")
    );
    assert_eq!(registry.components()[4].label, "Mine");
}

#[test]
fn contradictory_component_always_conflicts() {
    let release = json!([{"name": "network:a", "requires": [{"name": "storage:b"}], "incompatible": [{"name": "storage:b"}]}, "storage:b"]);
    let registry = registry(&release, &[]);
    assert_eq!(conflicts(&registry, &["network:a", "storage:b"]).len(), 1);
    assert_eq!(conflicts(&registry, &["network:a"]).len(), 1);
    let unknown = json!([{"name": "network:a", "requires": [{"name": "storage:gone"}]}]);
    let kinds: Vec<&str> = self::registry(&unknown, &[])
        .check_selection(Selection { components: &["network:a", "storage:gone"], required_types: &[] })
        .conflicts
        .iter()
        .map(ComponentConflict::kind)
        .collect();
    assert_eq!(kinds, ["unknown", "requires"]);
}

#[test]
fn newest_supported_plugin_version_is_used() {
    let releases = |version: &str| vec![json!({"os": "Ubuntu", "version": version, "mode": ["ha"]})];
    let (old, new) = (releases("mitaka-9.0"), releases("newton-10.0"));
    let version = |version: &'static str, releases| PluginComponents {
        name: "p",
        version,
        releases: Some(releases),
        provides: &[],
        components: &[],
    };
    let plugins = [version("1.9.0", &old[..]), version("1.10.0", &old[..]), version("2.0.0", &new[..])];
    let newest = |release: &str| -> Vec<&str> {
        let target = CompatibilityTarget { operating_system: "ubuntu", version: release, mode: None };
        newest_supported(&plugins, Some(target)).iter().map(|plugin| plugin.version).collect()
    };
    assert_eq!(newest("mitaka-9.0"), ["1.10.0"], "a newer version for another release is ignored");
    assert_eq!(newest("newton-10.0"), ["2.0.0"]);
    assert_eq!(newest("ocata-11.0"), Vec::<&str>::new());
    assert_eq!(newest_supported(&plugins, None)[0].version, "2.0.0");
}

#[test]
fn matrix_of_the_design() {
    let release = json!(["hypervisor:core:kvm", "storage:block:lvm"]);
    let open = json!({"compatible_hypervisors": ["all"], "compatible_storages": ["all"], "compatible_monitoring": ["all"]});
    let provide = |name: &str, networking: Option<Json>| {
        let mut entry = open.clone();
        entry["name"] = json!(name);
        if let Some(networking) = networking {
            entry["compatible_networking"] = networking;
        }
        json!([entry])
    };
    let (a, b) = (provide("networking:core:a", None), provide("networking:core:b", None));
    let (c, d) = (
        provide("networking:ml2:c", Some(json!(["ml2"]))),
        provide("networking:ml2:d", Some(json!(["ml2"]))),
    );
    let none = json!([]);
    let plugins =
        [plugin("a", &a, &none), plugin("b", &b, &none), plugin("c", &c, &none), plugin("d", &d, &none)];
    let matrix = registry(&release, &plugins).matrix();
    let subtypes: Vec<String> = matrix.subtypes.iter().map(ToString::to_string).collect();
    assert_eq!(subtypes, ["hypervisor:core", "network:core", "network:ml2", "storage:block"]);
    let cells: Vec<Vec<&str>> =
        matrix.cells.iter().map(|row| row.iter().map(|cell| cell.as_str()).collect()).collect();
    assert_eq!(cells, [["·", "", "", ""], ["", "X", "X", ""], ["", "X", "", ""], ["", "", "", "·"]]);
}

#[test]
fn listing_has_relations_of_both_sides() {
    let release = json!([
        {"name": "hypervisor:vmware", "label": "vCenter", "weight": 5, "default": true, "bind": ["settings:x"]},
        {"name": "storage:a", "compatible": [{"name": "hypervisor:*"}]},
    ]);
    let provides =
        json!([{"name": "networking:core:gridnet", "label": "GridNet", "compatible_storages": ["all"]}]);
    let listing = registry(&release, &[plugin("p", &provides, &json!([]))]).listing();
    assert_eq!(
        Json::from(listing),
        json!([
            {
                "name": "hypervisor:vmware", "label": "vCenter", "weight": 5, "default": true,
                "compatible": [{"name": "storage:a"}],
                "incompatible": [{"name": "network:core:gridnet", "message": "Not compatible with GridNet"}],
            },
            {"name": "storage:a", "label": "storage:a", "weight": 100, "compatible": [{"name": "hypervisor:*"}]},
            {
                "name": "network:core:gridnet", "label": "GridNet", "weight": 100,
                "incompatible": [{"name": "hypervisor:vmware", "message": "Not compatible with vCenter"}],
            },
        ])
    );
}
