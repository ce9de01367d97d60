//! Property tests of component compatibility.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_registry::components::{ComponentConflict, Registry, Selection};

const NAMES: &[&str] = &[
    "network:a",
    "network:a:b",
    "networking:core:c",
    "hypervisor:x",
    "hypervisor:core:y",
    "storage:s",
    "additional_service:t",
];

fn patterns() -> impl Strategy<Value = Json> {
    let patterns = vec![
        "network:*",
        "network:a:*",
        "hypervisor:*",
        "storage:s",
        "network:a",
        "hypervisor:core:y",
        "bad",
        "network:",
    ];
    prop::collection::vec(prop::sample::select(patterns).prop_map(|name| json!({"name": name})), 0..3)
        .prop_map(Json::from)
}

fn predicates() -> impl Strategy<Value = Json> {
    let predicate = prop::sample::select(vec!["one_of", "any_of", "all_of", "none_of"]);
    let items = prop::collection::vec(
        prop::sample::select(vec!["network:*", "storage:s", "hypervisor:*", "storage:none"]),
        0..3,
    );
    prop::collection::vec(
        (predicate, items).prop_map(|(predicate, items)| json!({predicate: {"items": items}})),
        0..2,
    )
    .prop_map(Json::from)
}

fn components() -> impl Strategy<Value = Vec<Json>> {
    let one = |name: &'static str| {
        (patterns(), patterns(), predicates()).prop_map(move |(compatible, incompatible, requires)| {
            json!({"name": name, "compatible": compatible, "incompatible": incompatible, "requires": requires})
        })
    };
    NAMES.iter().map(|name| one(name)).collect::<Vec<_>>()
}

fn selections() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(NAMES), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compatibility_is_symmetric_and_matches_listing_and_matrix(components in components()) {
        let registry = Registry::new(&components, &[]);
        for one in registry.components() {
            prop_assert!(!Registry::conflict(one, one));
            for other in registry.components() {
                prop_assert_eq!(Registry::conflict(one, other), Registry::conflict(other, one));
            }
        }
        let matrix = registry.matrix();
        for (row_idx, row) in matrix.cells.iter().enumerate() {
            for (column_idx, cell) in row.iter().enumerate() {
                prop_assert_eq!(*cell, matrix.cells[column_idx][row_idx]);
            }
        }
        // Parsed as components of a release, the listing has the same conflicts.
        let reparsed = Registry::new(&registry.listing(), &[]);
        for one in registry.components() {
            for other in registry.components() {
                let twins = (reparsed.get(&one.name).unwrap(), reparsed.get(&other.name).unwrap());
                prop_assert_eq!(Registry::conflict(one, other), Registry::conflict(twins.0, twins.1));
            }
        }
    }

    #[test]
    fn decision_is_independent_of_order_spelling_and_repetition(components in components(), selection in selections()) {
        let registry = Registry::new(&components, &[]);
        let decide = |selection: &[&str]| registry.check_selection(Selection { components: selection, required_types: &[] });
        let decision = decide(&selection);
        let mut reversed: Vec<&str> = selection.iter().rev().copied().collect();
        reversed.extend(selection.first());
        prop_assert_eq!(&decide(&reversed), &decision);
        let canonical: Vec<String> = selection.iter().map(|name| name.replace("networking:", "network:")).collect();
        let canonical: Vec<&str> = canonical.iter().map(String::as_str).collect();
        prop_assert_eq!(&decide(&canonical), &decision);
        let mut backwards = components.clone();
        backwards.reverse();
        let other = Registry::new(&backwards, &[]).check_selection(Selection { components: &selection, required_types: &[] });
        prop_assert_eq!(&other, &decision);
    }

    #[test]
    fn larger_selection_keeps_incompatibilities(components in components(), selection in selections(), added in prop::sample::select(NAMES)) {
        let registry = Registry::new(&components, &[]);
        let incompatible = |selection: &[&str]| -> Vec<Json> {
            let decision = registry.check_selection(Selection { components: selection, required_types: &[] });
            decision.conflicts.iter().filter(|finding| finding.kind() == "incompatible").map(ComponentConflict::to_json).collect()
        };
        let before = incompatible(&selection);
        let mut longer = selection.clone();
        longer.push(added);
        let after = incompatible(&longer);
        prop_assert!(before.iter().all(|finding| after.contains(finding)));
    }
}
