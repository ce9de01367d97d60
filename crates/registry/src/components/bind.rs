//! Bindings: values that a selection of components sets in a new cluster.

use stoker_model::Json;

use super::name::ComponentName;
use super::registry::Registry;

/// Value for a path in the cluster itself or in its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub model: BoundModel,
    /// Dotted path of the setting.
    pub path: String,
    pub value: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundModel {
    Cluster,
    Settings,
}

impl BoundModel {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Settings => "settings",
        }
    }
}

impl Binding {
    /// Parses `model:dotted.path`. `None` for models other than the cluster and its settings.
    pub(crate) fn new(target: &str, value: Json) -> Option<Self> {
        let (model, path) = target.split_once(':')?;
        let model = [BoundModel::Cluster, BoundModel::Settings]
            .into_iter()
            .find(|candidate| candidate.as_str() == model)?;
        Some(Self { model, path: path.to_owned(), value })
    }

    /// Fields of a cluster that bindings can set.
    pub const CLUSTER_FIELDS: &'static [&'static str] = &["mode", "net_provider", "net_segment_type"];

    /// Reports whether bindings can set the target `model:dotted.path`.
    pub fn is_known_target(target: &str) -> bool {
        Self::new(target, Json::Null).is_some_and(|binding| match binding.model {
            BoundModel::Cluster => Self::CLUSTER_FIELDS.contains(&&*binding.path),
            BoundModel::Settings => !binding.path.is_empty(),
        })
    }

    pub fn is_same_target(&self, other: &Self) -> bool {
        (self.model, &self.path) == (other.model, &other.path)
    }
}

impl Registry {
    /// Returns the bindings of a selection in registry order. If two bindings set the same path, the later
    /// one wins; [`overwritten_bindings`] reports such cases.
    pub fn bindings(&self, selection: &[&str]) -> Vec<Binding> {
        let names: Vec<ComponentName> =
            selection.iter().filter_map(|name| ComponentName::parse(name)).collect();
        let components = self.components().iter().filter(|component| names.contains(&component.name));
        components.flat_map(|component| component.bind.iter().flat_map(read_item)).collect()
    }
}

/// Parses a binding: a path alone sets `true`; a pair or a map of one entry sets a value.
fn read_item(item: &Json) -> Vec<Binding> {
    match item {
        Json::String(target) => Binding::new(target, Json::Bool(true)).into_iter().collect(),
        Json::Array(pair) => match &pair[..] {
            [Json::String(target), value] => Binding::new(target, value.clone()).into_iter().collect(),
            _ => Vec::new(),
        },
        Json::Object(map) => {
            map.iter().filter_map(|(target, value)| Binding::new(target, value.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the bindings that are later overwritten with a different value, for a warning.
pub fn overwritten_bindings(bindings: &[Binding]) -> Vec<&Binding> {
    let is_overwritten = |idx: usize, binding: &Binding| {
        let later = bindings[idx + 1..].iter().rev().find(|later| later.is_same_target(binding));
        later.is_some_and(|later| later.value != binding.value)
    };
    bindings
        .iter()
        .enumerate()
        .filter(|(idx, binding)| is_overwritten(*idx, binding))
        .map(|(_, binding)| binding)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_components_overwrite_earlier_bindings() {
        let release = json!([
            {"name": "network:a", "bind": [["cluster:net_provider", "neutron"], "settings:a.value", "other:x", ["odd"]]},
            {"name": "network:b", "bind": [{"cluster:net_provider": "nova"}]},
            {"name": "network:c", "bind": ["settings:c"]},
        ]);
        let registry = Registry::new(release.as_array().unwrap(), &[]);
        let bindings = registry.bindings(&["networking:b", "network:a", "network:zzz"]);
        let assignments: Vec<String> = bindings
            .iter()
            .map(|binding| format!("{}:{}={}", binding.model.as_str(), binding.path, binding.value))
            .collect();
        assert_eq!(
            assignments,
            ["cluster:net_provider=\"neutron\"", "settings:a.value=true", "cluster:net_provider=\"nova\""]
        );
        assert_eq!(overwritten_bindings(&bindings), [&bindings[0]]);
    }
}
