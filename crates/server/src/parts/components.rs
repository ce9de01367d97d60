//! Components: how they are read, and how they are listed with what the others say about them.

use stoker_manifest::reader::{Fields, json_list, list_of, string, string_of};
use stoker_manifest::{Problems, codes};
use stoker_model::{Json, JsonMap};
use stoker_yaml::Node;

/// Relations that hold both ways, whoever states them.
const MUTUAL: &[&str] = &["compatible", "incompatible"];
const PREDICATES: &[&str] = &["any_of", "all_of", "one_of", "none_of"];

/// A list of components. The shape is checked; whether names lead anywhere is for those who choose among them.
pub(crate) fn read(node: &Node, problems: &mut Problems) -> Option<Vec<Json>> {
    list_of(component)(node, problems)?;
    json_list(node, problems)
}

fn component(node: &Node, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let name = fields.required("name", string_of(1..=255));
    fields.optional("compatible", list_of(related));
    fields.optional("incompatible", list_of(related));
    fields.optional("requires", list_of(requirement));
    fields.rest();
    name.map(drop)
}

fn related(node: &Node, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let name = fields.required("name", string);
    fields.rest();
    name.map(drop)
}

/// `{name}`, or predicates: `{one_of: {items: […]}}`.
fn requirement(node: &Node, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let mut n_known = usize::from(fields.node().get("name").is_some());
    fields.optional("name", string);
    for predicate in PREDICATES {
        n_known += usize::from(fields.node().get(predicate).is_some());
        fields.optional(predicate, items);
    }
    fields.rest();
    if n_known == 0 {
        let message = format!("must have `name` or one of {}", PREDICATES.join(", "));
        problems.error(codes::MISSING, node.span, message);
        return None;
    }
    Some(())
}

fn items(node: &Node, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let items = fields.required("items", list_of(string));
    fields.rest();
    items.map(drop)
}

/// The components as they are listed: without `bind`, which is the server's business, and each with what the others
/// say about it. A component says nothing about itself, even where its own pattern matches it.
pub(crate) fn listing(components: &[Json]) -> Vec<JsonMap> {
    let plain: Vec<JsonMap> = components.iter().filter_map(Json::as_object).map(plain).collect();
    let mut listed = plain.clone();
    for (stated_by, component) in plain.iter().enumerate() {
        for (about, other) in listed.iter_mut().enumerate() {
            if about != stated_by {
                complete(other, component);
            }
        }
    }
    listed
}

fn plain(component: &JsonMap) -> JsonMap {
    let mut shown = component.clone();
    shown.shift_remove("bind");
    shown.get_mut("name").into_iter().for_each(canonize);
    for relation in ["compatible", "incompatible", "requires"] {
        let entries = shown.get_mut(relation).and_then(Json::as_array_mut).into_iter().flatten();
        for entry in entries.filter_map(Json::as_object_mut) {
            entry.get_mut("name").into_iter().for_each(canonize);
            for predicate in PREDICATES {
                let items = entry.get_mut(*predicate).and_then(|predicate| predicate.get_mut("items"));
                items.and_then(Json::as_array_mut).into_iter().flatten().for_each(canonize);
            }
        }
    }
    shown
}

/// Adds to `other` what `component` says about it, unless it says so itself.
fn complete(other: &mut JsonMap, component: &JsonMap) {
    let (Some(name), Some(other_name)) = (name_of(component), name_of(other).map(str::to_owned)) else {
        return;
    };
    for relation in MUTUAL {
        if !states(component, relation, &other_name) || states(other, relation, name) {
            continue;
        }
        let mut entry = JsonMap::from_iter([("name".to_owned(), Json::from(name))]);
        if *relation == "incompatible" {
            let label = component.get("label").and_then(Json::as_str).unwrap_or(name);
            entry.insert("message".to_owned(), Json::from(format!("Not compatible with {label}")));
        }
        let entries = other.entry(*relation).or_insert_with(|| Json::Array(Vec::new()));
        entries.as_array_mut().into_iter().for_each(|entries| entries.push(Json::Object(entry.clone())));
    }
}

fn states(component: &JsonMap, relation: &str, about: &str) -> bool {
    let entries = component.get(relation).and_then(Json::as_array).into_iter().flatten();
    entries.filter_map(|entry| entry.get("name")?.as_str()).any(|pattern| matches(pattern, about))
}

fn name_of(component: &JsonMap) -> Option<&str> {
    component.get("name")?.as_str()
}

/// `networking` is another spelling of `network`; what is shown has one.
fn canonize(name: &mut Json) {
    if let Json::String(name) = name
        && let Some(rest) = name.strip_prefix("networking:")
    {
        *name = format!("network:{rest}");
    }
}

/// A pattern is a name, or leading segments with `*` for one or more others. A `*` elsewhere matches nothing.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix(":*") {
        Some(lead) if !lead.contains('*') => name
            .strip_prefix(lead)
            .and_then(|rest| rest.strip_prefix(':'))
            .is_some_and(|rest| !rest.is_empty()),
        Some(_) => false,
        None => !pattern.contains('*') && pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(components: &Json) -> Json {
        Json::from(listing(components.as_array().unwrap()))
    }

    #[test]
    fn a_pattern_matches_whole_segments() {
        for (pattern, name, expected) in [
            ("hypervisor:qemu", "hypervisor:qemu", true),
            ("hypervisor:qemu", "hypervisor:qemu:kvm", false),
            ("hypervisor:*", "hypervisor:qemu", true),
            ("hypervisor:*", "hypervisor:qemu:kvm", true),
            ("hypervisor:libvirt:*", "hypervisor:libvirt", false),
            ("hypervisor:libvirt:*", "hypervisor:libvirt2:x", false),
            ("storage:*:ceph", "storage:block:ceph", false),
            ("storage:*:*", "storage:block:ceph", false),
            ("*", "storage:block:ceph", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_one_side_says_both_sides_show() {
        let components = json!([
            {"name": "hypervisor:vmware", "label": "vCenter", "bind": ["settings:x"]},
            {"name": "networking:tun", "incompatible": [{"name": "hypervisor:*", "message": "no tunnels"}]},
            {"name": "storage:ceph", "compatible": [{"name": "networking:tun"}]},
        ]);
        assert_eq!(
            listed(&components),
            json!([
                {"name": "hypervisor:vmware", "label": "vCenter",
                 "incompatible": [{"name": "network:tun", "message": "Not compatible with network:tun"}]},
                {"name": "network:tun", "incompatible": [{"name": "hypervisor:*", "message": "no tunnels"}],
                 "compatible": [{"name": "storage:ceph"}]},
                {"name": "storage:ceph", "compatible": [{"name": "network:tun"}]},
            ])
        );
    }

    #[test]
    fn nothing_is_said_twice_and_nothing_about_oneself() {
        let components = json!([
            {"name": "network:a", "incompatible": [{"name": "network:*"}]},
            {"name": "network:b", "label": "B", "incompatible": [{"name": "network:a", "message": "no"}]},
        ]);
        assert_eq!(listed(&components), components);
    }

    #[test]
    fn requirements_stay_on_their_side() {
        let components = json!([
            {"name": "network:a", "requires": [{"one_of": {"items": ["networking:b"]}}]},
            {"name": "network:b"},
        ]);
        let expected = json!([
            {"name": "network:a", "requires": [{"one_of": {"items": ["network:b"]}}]},
            {"name": "network:b"},
        ]);
        assert_eq!(listed(&components), expected);
    }
}
