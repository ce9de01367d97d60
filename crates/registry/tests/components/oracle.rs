//! Test oracle: an independent implementation of the compatibility check on strings.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value as Json;
use stoker_registry::components::{Registry, Selection};

use super::real::release;

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.len() > prefix.len() && name.starts_with(prefix),
        None => pattern == name,
    }
}

fn texts<'a>(component: &'a Json, key: &str) -> Vec<&'a str> {
    let entries = component[key].as_array().map_or(&[][..], Vec::as_slice);
    entries.iter().filter_map(|entry| entry["name"].as_str()).collect()
}

fn predicate_holds(predicate: &str, items: &[&str], others: &BTreeSet<&str>, available: &[&str]) -> bool {
    let n_matched = others.iter().filter(|name| items.iter().any(|item| matches(item, name))).count();
    match predicate {
        "one_of" => n_matched == 1,
        "any_of" => n_matched >= 1,
        "none_of" => n_matched == 0,
        _ => items.iter().all(|item| {
            let required: Vec<&&str> = available.iter().filter(|name| matches(item, name)).collect();
            (item.ends_with('*') || !required.is_empty())
                && required.iter().all(|name| others.contains(**name))
        }),
    }
}

fn requirements_hold(component: &Json, chosen: &BTreeSet<&str>, available: &[&str]) -> bool {
    let own = component["name"].as_str().unwrap();
    let others: BTreeSet<&str> = chosen.iter().copied().filter(|name| *name != own).collect();
    let names = texts(component, "requires");
    let kinds: BTreeSet<&str> = names.iter().filter_map(|name| name.split(':').next()).collect();
    let groups_hold = kinds.iter().all(|kind| {
        let group: Vec<&str> =
            names.iter().copied().filter(|name| name.split(':').next() == Some(kind)).collect();
        predicate_holds("any_of", &group, &others, available)
    });
    let mut maps =
        component["requires"].as_array().into_iter().flatten().filter(|entry| entry.get("name").is_none());
    groups_hold
        && maps.all(|map| {
            map.as_object().unwrap().iter().all(|(predicate, body)| {
                let items: Vec<&str> =
                    body["items"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
                predicate_holds(predicate, &items, &others, available)
            })
        })
}

/// Reports whether a selection of known components is compatible.
fn is_compatible(components: &[Json], chosen: &BTreeSet<&str>) -> bool {
    let name = |component: &'_ Json| component["name"].as_str().unwrap().to_owned();
    let all: Vec<String> = components.iter().map(name).collect();
    let available: Vec<&str> = all.iter().map(String::as_str).collect();
    components.iter().filter(|component| chosen.contains(&*name(component))).all(|component| {
        let own = name(component);
        let refuses = |other: &&str| {
            **other != *own && texts(component, "incompatible").iter().any(|item| matches(item, other))
        };
        !chosen.iter().any(refuses) && requirements_hold(component, chosen, &available)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decisions_match_the_oracle(dense in any::<u32>(), mask in any::<u32>()) {
        // Selections are sparse, because most large selections have conflicts.
        let bits = dense & mask;
        thread_local! {
            static RELEASES: Vec<Json> =
                ["liberty-8.0-ubuntu", "mitaka-9.0-ubuntu", "newton-10.0-ubuntu", "ocata-11.0-ubuntu"]
                    .iter().filter_map(|name| release(name)).collect();
        }
        RELEASES.with(|releases| {
            for release in releases {
                let components = release["components_metadata"].as_array().unwrap();
                let names = components.iter().map(|component| component["name"].as_str().unwrap());
                let chosen: BTreeSet<&str> =
                    names.enumerate().filter(|(idx, _)| bits >> idx & 1 == 1).map(|(_, name)| name).collect();
                let selection: Vec<&str> = chosen.iter().copied().collect();
                let registry = Registry::new(components, &[]);
                let decision = registry.check_selection(Selection { components: &selection, required_types: &[] });
                assert_eq!(decision.is_compatible(), is_compatible(components, &chosen), "{selection:?} {decision:?}");
            }
        });
    }
}
