//! Task definitions as written, compared with those of the last success.

use std::collections::BTreeMap;

use stoker_model::{Json, JsonMap, OnDefinitionChange, Task};
use stoker_state::{AppliedGraph, AttributeChange, AttributeChangeKind, SourceDigests};

use super::SCHEDULING;
use crate::compute::subjects::Redefinitions;
use crate::definition::{PARAMETERS, TYPE};
use crate::digests::digest_functions;
use crate::helpers::Helpers;
use crate::input::PlanningInput;

/// Fields besides the parameters that decide what a task does. All others decide when and where it runs.
const FIELDS: &[&str] = &[TYPE, "test_pre", "test_post"];

/// What the tasks of an input use besides their fields: its files and layers, and digests of the helpers that each
/// task calls.
pub fn source_digests(input: &PlanningInput<'_>) -> SourceDigests {
    let helpers = Helpers::new(&input.library);
    let mut sources = input.sources.clone();
    sources.helpers = BTreeMap::new();
    if helpers.is_empty() {
        return sources;
    }
    for task in input.tasks {
        let fields = FIELDS.iter().chain([&PARAMETERS]).filter_map(|name| task.field(name));
        let used = helpers.reachable(fields, "");
        if !used.is_empty() {
            let digests = used.into_iter().map(|(name, functions)| (name, digest_functions(&functions)));
            sources.helpers.insert(task.name.clone(), digests.collect());
        }
    }
    sources
}

/// For each graph of the applied states, the tasks that it defines differently.
pub(crate) fn redefinitions<'a>(input: &PlanningInput<'a>) -> Vec<Redefinitions<'a>> {
    let graphs = input.old.filter(|_| !input.request.force).map_or(&[][..], |old| old.graphs());
    if graphs.is_empty() || input.on_definition_change == OnDefinitionChange::Keep {
        return Vec::new();
    }
    let sources = source_digests(input);
    let changes = |graph: &AppliedGraph, task: &'a Task| {
        let changes = definition_changes(task, &sources, graph);
        (!changes.is_empty()).then(|| (task.name.as_str(), changes.into()))
    };
    graphs.iter().map(|graph| input.tasks.iter().filter_map(|task| changes(graph, task)).collect()).collect()
}

/// The attributes in which a task differs from its applied definition. A part that was not recorded counts as equal.
fn definition_changes(task: &Task, sources: &SourceDigests, applied: &AppliedGraph) -> Vec<AttributeChange> {
    let Some(old_fields) = applied.tasks.get(&task.name) else { return Vec::new() };
    let (old, new) = (attributes(old_fields), attributes(&task.fields));
    let mut comparison = Comparison {
        task: &task.name,
        layers: &sources.layers,
        old_layers: applied.sources.as_ref().map(|sources| &sources.layers),
        changes: Vec::new(),
    };
    comparison
        .compare(&old, &new, String::clone, |attribute| attribute.split('.').next().unwrap_or_default());
    if let Some(old) = &applied.sources {
        for (part, old, new) in
            [("files", &old.files, &sources.files), ("helpers", &old.helpers, &sources.helpers)]
        {
            let none = BTreeMap::new();
            let (old, new) = (old.get(&task.name).unwrap_or(&none), new.get(&task.name).unwrap_or(&none));
            let attribute = |name: &String| format!("{part}.{name}");
            // Content has no layer of its own; a file is named by the parameters.
            comparison.compare(&by_ref(old), &by_ref(new), attribute, |_| "");
        }
    }
    comparison.changes
}

fn by_ref(map: &BTreeMap<String, String>) -> BTreeMap<String, &String> {
    map.iter().map(|(key, value)| (key.clone(), value)).collect()
}

/// The attributes of a definition with their values as written.
fn attributes(fields: &JsonMap) -> BTreeMap<String, &Json> {
    let mut attributes: BTreeMap<String, &Json> =
        FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?))).collect();
    match fields.get(PARAMETERS) {
        Some(Json::Object(parameters)) => {
            let inputs = parameters.iter().filter(|(key, _)| !SCHEDULING.contains(&key.as_str()));
            attributes.extend(inputs.map(|(key, value)| (format!("{PARAMETERS}.{key}"), value)));
        }
        // Null parameters are no parameters.
        Some(Json::Null) | None => {}
        Some(other) => _ = attributes.insert(PARAMETERS.to_owned(), other),
    }
    attributes
}

struct Comparison<'c> {
    task: &'c str,
    layers: &'c BTreeMap<String, BTreeMap<String, String>>,
    old_layers: Option<&'c BTreeMap<String, BTreeMap<String, String>>>,
    changes: Vec<AttributeChange>,
}

impl Comparison<'_> {
    fn compare<V: PartialEq>(
        &mut self,
        old: &BTreeMap<String, V>,
        new: &BTreeMap<String, V>,
        attribute: impl Fn(&String) -> String,
        field: impl Fn(&str) -> &str,
    ) {
        for (name, value) in new {
            let kind = match old.get(name) {
                Some(old) if old == value => continue,
                Some(_) => AttributeChangeKind::Changed,
                None => AttributeChangeKind::Added,
            };
            let layer = layer(self.layers, self.task, field(name));
            self.changes.push(AttributeChange { attribute: attribute(name), kind, layer });
        }
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            let layer = self.old_layers.and_then(|layers| layer(layers, self.task, field(name)));
            let kind = AttributeChangeKind::Removed;
            self.changes.push(AttributeChange { attribute: attribute(name), kind, layer });
        }
    }
}

fn layer(layers: &BTreeMap<String, BTreeMap<String, String>>, task: &str, field: &str) -> Option<String> {
    layers.get(task)?.get(field).cloned()
}

/// Attributes listed in a reason; the others are only counted.
const N_LISTED: usize = 3;

/// The reason of a plan for a task that was redefined.
pub(crate) fn redefinition_text(changes: &[AttributeChange]) -> String {
    let listed: Vec<String> = changes.iter().take(N_LISTED).map(attribute_text).collect();
    let more = match changes.len().saturating_sub(N_LISTED) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    format!("its definition changed: {}{more}", listed.join(", "))
}

fn attribute_text(change: &AttributeChange) -> String {
    let attribute = &change.attribute;
    match (change.kind, &change.layer) {
        (AttributeChangeKind::Removed, Some(layer)) => format!("`{attribute}` (removed from layer {layer})"),
        (AttributeChangeKind::Removed, None) => format!("`{attribute}` (no layer sets it any more)"),
        (_, Some(layer)) => format!("`{attribute}` (layer {layer})"),
        (_, None) => format!("`{attribute}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(fields: Json) -> Task {
        let Json::Object(fields) = fields else { panic!("not a map: {fields}") };
        Task { name: "a".to_owned(), fields }
    }

    fn base() -> Json {
        json!({
            "type": "shell", "version": "2.1.0", "roles": ["db"], "requires": ["x"], "condition": true,
            "parameters": {"cmd": "run", "env": {"A": 1, "B": true}, "timeout": 5, "retries": 1},
            "test_pre": {"cmd": "true"},
        })
    }

    fn map(key: &str, text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
        BTreeMap::from([("a".to_owned(), BTreeMap::from([(key.to_owned(), text.to_owned())]))])
    }

    fn changes_between(old: Json, new: Json) -> String {
        let graph = AppliedGraph { tasks: [("a".to_owned(), task(old).fields)].into(), sources: None };
        let changes = definition_changes(&task(new), &SourceDigests::default(), &graph);
        if changes.is_empty() { String::new() } else { redefinition_text(&changes) }
    }

    #[test]
    fn each_attribute_is_compared() {
        let changed = |path: &str, value: Json, expected: &str| {
            let mut new = base();
            *new.pointer_mut(path).unwrap() = value;
            let text = changes_between(base(), new);
            assert_eq!(text, format!("its definition changed: `{expected}`"), "{path}");
        };
        changed("/type", json!("puppet"), "type");
        changed("/parameters/cmd", json!({"yaql_exp": "$.cmd"}), "parameters.cmd");
        changed("/parameters/env/A", json!(true), "parameters.env");
        changed("/parameters/env/B", json!(null), "parameters.env");
        changed("/test_pre/cmd", json!("false"), "test_pre");
    }

    #[test]
    fn scheduling_is_not_compared() {
        let mut new = base();
        new["parameters"] = json!({
            "env": {"B": true, "A": 1}, "cmd": "run", "timeout": 9, "retries": 2, "interval": 3,
            "retry_interrupted": true, "strategy": {"type": "one_by_one"},
        });
        for (field, value) in [
            ("requires", json!([])),
            ("required_for", json!(["y"])),
            ("cross_depends", json!([{"name": "z"}])),
            ("condition", json!(false)),
            ("roles", json!("*")),
            ("tags", json!("*")),
            ("version", json!("3.0.0")),
            ("fail_on_error", json!(false)),
            ("fault_tolerance", json!(1)),
            ("my_own_key", json!(1)),
        ] {
            new[field] = value;
        }
        assert_eq!(changes_between(base(), new), "");
    }

    #[test]
    fn added_and_removed_attributes_are_changes() {
        let mut fewer = base();
        fewer["parameters"].as_object_mut().unwrap().shift_remove("env");
        assert_eq!(changes_between(fewer.clone(), base()), "its definition changed: `parameters.env`");
        let removed = "its definition changed: `parameters.env` (no layer sets it any more)";
        assert_eq!(changes_between(base(), fewer), removed);
        let many = json!({"parameters": {"a": 1, "b": 1, "c": 1, "d": null, "e": 1}});
        let text = "its definition changed: `parameters.a`, `parameters.b`, `parameters.c` and 2 more";
        assert_eq!(changes_between(json!({}), many), text);
        assert_eq!(changes_between(json!({"parameters": null}), json!({})), "");
    }

    #[test]
    fn sources_are_compared_where_recorded() {
        let sources = |files: &str, helpers: &str, layer: &str| SourceDigests {
            files: map("/etc/motd", files),
            helpers: map("port", helpers),
            layers: map("parameters", layer),
        };
        let applied = |sources: Option<SourceDigests>| AppliedGraph {
            tasks: [("a".to_owned(), task(base()).fields)].into(),
            sources,
        };
        let text = |new: &SourceDigests, new_fields: Json, applied: &AppliedGraph| {
            redefinition_text(&definition_changes(&task(new_fields), new, applied))
        };
        let graph = applied(Some(sources("1", "1", "cluster")));
        assert!(definition_changes(&task(base()), &sources("1", "1", "x"), &graph).is_empty());
        let file = text(&sources("2", "1", "cluster"), base(), &graph);
        assert_eq!(file, "its definition changed: `files./etc/motd`");
        let helper = text(&sources("1", "2", "cluster"), base(), &graph);
        assert_eq!(helper, "its definition changed: `helpers.port`");
        let mut edited = base();
        edited["parameters"]["cmd"] = json!("other");
        let layer = text(&sources("1", "1", "plugin"), edited, &graph);
        assert_eq!(layer, "its definition changed: `parameters.cmd` (layer plugin)");
        let mut fewer = base();
        fewer["parameters"].as_object_mut().unwrap().shift_remove("cmd");
        let removed = text(&sources("1", "1", "cluster"), fewer, &graph);
        assert_eq!(removed, "its definition changed: `parameters.cmd` (removed from layer cluster)");
        // Unknown parts are equal.
        assert!(definition_changes(&task(base()), &sources("2", "2", "x"), &applied(None)).is_empty());
        let unknown = AppliedGraph::default();
        assert!(definition_changes(&task(base()), &sources("2", "2", "x"), &unknown).is_empty());
    }
}
