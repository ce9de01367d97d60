//! What layers say about a graph as a whole: maps are merged key by key, everything else is overwritten.
//!
//! So callbacks of several layers add up, and no layer can empty a map that a weaker one has filled.

use std::collections::BTreeMap;

use stoker_model::{GraphMetadata, Json, JsonMap};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedMetadata {
    pub metadata: GraphMetadata,
    /// Where each value comes from, by its path: `on_success.node_attributes.status`.
    pub origins: BTreeMap<String, Origin>,
}

/// Indices into the layers of the merged graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub set_by: usize,
    /// Layers that set it too and lost, weak to strong.
    pub overrode: Vec<usize>,
}

/// Merges what each layer says, weak to strong.
pub(crate) fn merge_metadata<'a>(layers: impl Iterator<Item = Option<&'a GraphMetadata>>) -> MergedMetadata {
    let mut merged = MergedMetadata::default();
    let MergedMetadata { metadata, origins } = &mut merged;
    for (layer_idx, layer) in layers.enumerate() {
        let Some(layer) = layer else { continue };
        let mut lay = Laying { layer_idx, origins };
        lay.text(&mut metadata.name, layer.name.as_ref(), "name");
        lay.text(&mut metadata.node_filter, layer.node_filter.as_ref(), "node_filter");
        lay.map(&mut metadata.on_success, layer.on_success.as_ref(), "on_success");
        lay.map(&mut metadata.on_error, layer.on_error.as_ref(), "on_error");
        lay.map(&mut metadata.on_stop, layer.on_stop.as_ref(), "on_stop");
    }
    merged
}

struct Laying<'o> {
    layer_idx: usize,
    origins: &'o mut BTreeMap<String, Origin>,
}

impl Laying<'_> {
    fn text(&mut self, target: &mut Option<String>, source: Option<&String>, path: &str) {
        let Some(source) = source else { return };
        *target = Some(source.clone());
        self.note(path, Vec::new());
    }

    fn map(&mut self, target: &mut Option<JsonMap>, source: Option<&JsonMap>, path: &str) {
        let Some(source) = source else { return };
        self.lay(target.get_or_insert_default(), source, path, &[]);
    }

    /// `lost` are the layers whose value had to make room for this map.
    fn lay(&mut self, target: &mut JsonMap, source: &JsonMap, path: &str, lost: &[usize]) {
        if source.is_empty() {
            if target.is_empty() {
                self.note(path, lost.to_vec());
            }
            return;
        }
        for (key, value) in source {
            let path = format!("{path}.{key}");
            match (target.get_mut(key), value) {
                (Some(Json::Object(target)), Json::Object(source)) => self.lay(target, source, &path, lost),
                (_, Json::Object(source)) => {
                    let lost = self.remove_origins(&path, lost);
                    let mut inner = JsonMap::new();
                    self.lay(&mut inner, source, &path, &lost);
                    target.insert(key.clone(), Json::Object(inner));
                }
                (_, value) => {
                    let lost = self.remove_origins(&path, lost);
                    target.insert(key.clone(), value.clone());
                    self.note(&path, lost);
                }
            }
        }
    }

    fn note(&mut self, path: &str, mut lost: Vec<usize>) {
        let origin = self.origins.entry(path.to_owned());
        let is_new = matches!(origin, std::collections::btree_map::Entry::Vacant(_));
        let origin = origin.or_default();
        if is_new {
            *origin = Origin { set_by: self.layer_idx, overrode: std::mem::take(&mut lost) };
        } else {
            origin.overrode.push(origin.set_by);
            origin.set_by = self.layer_idx;
        }
    }

    /// Takes out everything known about a place and beneath it; who is meant by it has lost.
    fn remove_origins(&mut self, path: &str, lost: &[usize]) -> Vec<usize> {
        let beneath = format!("{path}.");
        let is_meant = |known: &str| known == path || known.starts_with(&beneath);
        let mut losers = lost.to_vec();
        self.origins.retain(|known, origin| {
            if is_meant(known) {
                losers.extend(origin.overrode.iter().copied().chain([origin.set_by]));
            }
            !is_meant(known)
        });
        losers.sort_unstable();
        losers.dedup();
        losers
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graph(on_success: &Json) -> GraphMetadata {
        GraphMetadata { on_success: on_success.as_object().cloned(), ..GraphMetadata::default() }
    }

    fn check(layers: &[GraphMetadata], expected: Json, origins: &[(&str, usize, &[usize])]) {
        let merged = merge_metadata(layers.iter().map(Some));
        assert_eq!(merged.metadata.on_success.map(Json::Object), Some(expected));
        let found: Vec<(&str, usize, &[usize])> =
            merged.origins.iter().map(|(path, o)| (path.as_str(), o.set_by, &o.overrode[..])).collect();
        assert_eq!(found, origins);
    }

    #[test]
    fn maps_add_up() {
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
    fn an_empty_map_empties_nothing() {
        let full = json!({"node_attributes": {"status": "ready"}});
        check(
            &[graph(&full), graph(&json!({})), graph(&json!({"node_attributes": {}}))],
            full,
            &[("on_success.node_attributes.status", 0, &[])],
        );
        check(&[graph(&json!({}))], json!({}), &[("on_success", 0, &[])]);
    }

    #[test]
    fn a_value_and_a_map_replace_each_other() {
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
    fn texts_are_overwritten_and_silence_changes_nothing() {
        let named = |name: &str| GraphMetadata { name: Some(name.to_owned()), ..GraphMetadata::default() };
        let (first, second, silent) = (named("a"), named("b"), GraphMetadata::default());
        let merged = merge_metadata([Some(&first), None, Some(&second), Some(&silent)].into_iter());
        assert_eq!(merged.metadata, second);
        assert_eq!(merged.origins["name"], Origin { set_by: 2, overrode: vec![0] });
    }
}
