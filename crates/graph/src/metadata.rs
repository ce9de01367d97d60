//! Merging of graph metadata: maps are merged recursively, other values are overridden.
//!
//! Callbacks of several layers are therefore combined, and a layer cannot empty a map that a weaker layer
//! filled.

use std::collections::BTreeMap;

use stoker_model::{GraphMetadata, Json, JsonMap};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedMetadata {
    pub metadata: GraphMetadata,
    /// Provenance of each value by path, such as `on_success.node_attributes.status`.
    pub origins: BTreeMap<String, Provenance>,
}

/// Indices into the layers of the merged graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    pub set_by: usize,
    /// Weaker layers whose values were overridden, weakest first.
    pub overridden_layers: Vec<usize>,
}

/// Merges the metadata of all layers, given weakest first.
pub(crate) fn merge_metadata<'a>(layers: impl Iterator<Item = Option<&'a GraphMetadata>>) -> MergedMetadata {
    let mut merged = MergedMetadata::default();
    let MergedMetadata { metadata, origins } = &mut merged;
    for (layer_idx, layer) in layers.enumerate() {
        let Some(layer) = layer else { continue };
        let mut merger = LayerMerger { layer_idx, origins };
        merger.merge_value(&mut metadata.name, layer.name.as_ref(), "name");
        merger.merge_value(&mut metadata.node_filter, layer.node_filter.as_ref(), "node_filter");
        let change = layer.on_definition_change.as_ref();
        merger.merge_value(&mut metadata.on_definition_change, change, "on_definition_change");
        merger.merge_map(&mut metadata.on_success, layer.on_success.as_ref(), "on_success");
        merger.merge_map(&mut metadata.on_error, layer.on_error.as_ref(), "on_error");
        merger.merge_map(&mut metadata.on_stop, layer.on_stop.as_ref(), "on_stop");
    }
    merged
}

struct LayerMerger<'o> {
    layer_idx: usize,
    origins: &'o mut BTreeMap<String, Provenance>,
}

impl LayerMerger<'_> {
    fn merge_value<T: Clone>(&mut self, target: &mut Option<T>, source: Option<&T>, path: &str) {
        let Some(source) = source else { return };
        *target = Some(source.clone());
        self.record(path, Vec::new());
    }

    fn merge_map(&mut self, target: &mut Option<JsonMap>, source: Option<&JsonMap>, path: &str) {
        let Some(source) = source else { return };
        self.merge_into(target.get_or_insert_default(), source, path, &[]);
    }

    /// Merges a map. `overridden` are the layers whose value this map replaces.
    fn merge_into(&mut self, target: &mut JsonMap, source: &JsonMap, path: &str, overridden: &[usize]) {
        if source.is_empty() {
            if target.is_empty() {
                self.record(path, overridden.to_vec());
            }
            return;
        }
        for (key, value) in source {
            let path = format!("{path}.{key}");
            match (target.get_mut(key), value) {
                (Some(Json::Object(target)), Json::Object(source)) => {
                    self.merge_into(target, source, &path, overridden);
                }
                (_, Json::Object(source)) => {
                    let overridden = self.remove_origins(&path, overridden);
                    let mut inner = JsonMap::new();
                    self.merge_into(&mut inner, source, &path, &overridden);
                    target.insert(key.clone(), Json::Object(inner));
                }
                (_, value) => {
                    let overridden = self.remove_origins(&path, overridden);
                    target.insert(key.clone(), value.clone());
                    self.record(&path, overridden);
                }
            }
        }
    }

    fn record(&mut self, path: &str, mut overridden: Vec<usize>) {
        let origin = self.origins.entry(path.to_owned());
        let is_new = matches!(origin, std::collections::btree_map::Entry::Vacant(_));
        let origin = origin.or_default();
        if is_new {
            *origin =
                Provenance { set_by: self.layer_idx, overridden_layers: std::mem::take(&mut overridden) };
        } else {
            origin.overridden_layers.push(origin.set_by);
            origin.set_by = self.layer_idx;
        }
    }

    /// Removes the provenance of a path and everything below it; returns the layers that are overridden.
    fn remove_origins(&mut self, path: &str, overridden: &[usize]) -> Vec<usize> {
        let prefix = format!("{path}.");
        let is_removed = |other: &str| other == path || other.starts_with(&prefix);
        let mut overridden_layers = overridden.to_vec();
        self.origins.retain(|other, origin| {
            if is_removed(other) {
                overridden_layers.extend(origin.overridden_layers.iter().copied().chain([origin.set_by]));
            }
            !is_removed(other)
        });
        overridden_layers.sort_unstable();
        overridden_layers.dedup();
        overridden_layers
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::OnDefinitionChange;

    use super::*;

    fn graph(on_success: &Json) -> GraphMetadata {
        GraphMetadata { on_success: on_success.as_object().cloned(), ..GraphMetadata::default() }
    }

    fn check(layers: &[GraphMetadata], expected: Json, origins: &[(&str, usize, &[usize])]) {
        let merged = merge_metadata(layers.iter().map(Some));
        assert_eq!(merged.metadata.on_success.map(Json::Object), Some(expected));
        let actual: Vec<(&str, usize, &[usize])> = merged
            .origins
            .iter()
            .map(|(path, o)| (path.as_str(), o.set_by, &o.overridden_layers[..]))
            .collect();
        assert_eq!(actual, origins);
    }

    #[test]
    fn maps_are_merged() {
        check(
            &[
                graph(&json!({"node_attributes": {"status": "ready", "error_msg": "a"}})),
                graph(&json!({"node_attributes": {"status": "error"}})),
                graph(&json!({"node_attributes": {"pending_addition": false, "status": "stopped"}})),
            ],
            json!({"node_attributes": {"status": "stopped", "error_msg": "a", "pending_addition": false}}),
            &[
                ("on_success.node_attributes.error_msg", 0, &[]),
                ("on_success.node_attributes.pending_addition", 2, &[]),
                ("on_success.node_attributes.status", 2, &[0, 1]),
            ],
        );
    }

    #[test]
    fn empty_map_overrides_nothing() {
        let full = json!({"node_attributes": {"status": "ready"}});
        check(
            &[graph(&full), graph(&json!({})), graph(&json!({"node_attributes": {}}))],
            full,
            &[("on_success.node_attributes.status", 0, &[])],
        );
        check(&[graph(&json!({}))], json!({}), &[("on_success", 0, &[])]);
    }

    #[test]
    fn scalar_and_map_replace_each_other() {
        check(
            &[
                graph(&json!({"a": {"b": 1, "c": 2}})),
                graph(&json!({"a": 3})),
                graph(&json!({"a": {"d": 4}})),
            ],
            json!({"a": {"d": 4}}),
            &[("on_success.a.d", 2, &[0, 1])],
        );
    }

    #[test]
    fn later_layer_decides_about_changed_definitions() {
        let with = |on_definition_change| GraphMetadata { on_definition_change, ..GraphMetadata::default() };
        let layers =
            [with(Some(OnDefinitionChange::Keep)), with(Some(OnDefinitionChange::Rerun)), with(None)];
        let merged = merge_metadata(layers.iter().map(Some));
        assert_eq!(merged.metadata.on_definition_change, Some(OnDefinitionChange::Rerun));
        let provenance = Provenance { set_by: 1, overridden_layers: vec![0] };
        assert_eq!(merged.origins["on_definition_change"], provenance);
    }

    #[test]
    fn texts_are_overridden_and_missing_values_are_ignored() {
        let named = |name: &str| GraphMetadata { name: Some(name.to_owned()), ..GraphMetadata::default() };
        let (first, second, silent) = (named("a"), named("b"), GraphMetadata::default());
        let merged = merge_metadata([Some(&first), None, Some(&second), Some(&silent)].into_iter());
        assert_eq!(merged.metadata, second);
        assert_eq!(merged.origins["name"], Provenance { set_by: 2, overridden_layers: vec![0] });
    }
}
