//! What choosing components sets.

use stoker_model::Json;

use super::name::ComponentName;
use super::registry::Registry;

/// A value for a place in a new cluster: in the cluster itself, or in its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub model: BoundModel,
    /// Keys joined by dots.
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
    /// A value for `model:dotted.path`; models that a cluster does not have are nobody's business.
    pub(crate) fn new(place: &str, value: Json) -> Option<Self> {
        let (model, path) = place.split_once(':')?;
        let model =
            [BoundModel::Cluster, BoundModel::Settings].into_iter().find(|known| known.as_str() == model)?;
        Some(Self { model, path: path.to_owned(), value })
    }

    pub fn is_same_place(&self, other: &Self) -> bool {
        (self.model, &self.path) == (other.model, &other.path)
    }
}

impl Registry {
    /// What a selection sets, in the order of the registry: where two set the same place, the later one is meant, and
    /// [`overwritten`] tells which do.
    pub fn bindings(&self, selection: &[&str]) -> Vec<Binding> {
        let chosen: Vec<ComponentName> =
            selection.iter().filter_map(|name| ComponentName::parse(name)).collect();
        let components = self.components().iter().filter(|component| chosen.contains(&component.name));
        components.flat_map(|component| component.bind.iter().flat_map(read_item)).collect()
    }
}

/// A path by itself sets `true`; a pair or a map of one entry sets its value.
fn read_item(item: &Json) -> Vec<Binding> {
    match item {
        Json::String(place) => Binding::new(place, Json::Bool(true)).into_iter().collect(),
        Json::Array(pair) => match &pair[..] {
            [Json::String(place), value] => Binding::new(place, value.clone()).into_iter().collect(),
            _ => Vec::new(),
        },
        Json::Object(map) => {
            map.iter().filter_map(|(place, value)| Binding::new(place, value.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Places that are set again to something else later on, for a warning.
pub fn overwritten(bindings: &[Binding]) -> Vec<&Binding> {
    let is_lost = |idx: usize, binding: &Binding| {
        let later = bindings[idx + 1..].iter().rev().find(|later| later.is_same_place(binding));
        later.is_some_and(|later| later.value != binding.value)
    };
    bindings
        .iter()
        .enumerate()
        .filter(|(idx, binding)| is_lost(*idx, binding))
        .map(|(_, binding)| binding)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_the_registry_decides() {
        let release = json!([
            {"name": "network:a", "bind": [["cluster:net_provider", "neutron"], "settings:a.value", "other:x", ["odd"]]},
            {"name": "network:b", "bind": [{"cluster:net_provider": "nova"}]},
            {"name": "network:c", "bind": ["settings:c"]},
        ]);
        let registry = Registry::new(release.as_array().unwrap(), &[]);
        let bindings = registry.bindings(&["networking:b", "network:a", "network:zzz"]);
        let shown: Vec<String> = bindings
            .iter()
            .map(|binding| format!("{}:{}={}", binding.model.as_str(), binding.path, binding.value))
            .collect();
        assert_eq!(
            shown,
            ["cluster:net_provider=\"neutron\"", "settings:a.value=true", "cluster:net_provider=\"nova\""]
        );
        assert_eq!(overwritten(&bindings), [&bindings[0]]);
    }
}
