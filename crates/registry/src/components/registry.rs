//! The components of a release and of the plugins that fit it.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{FitTarget, Json, NewPlugin, compare_versions};

use super::component::{Component, Provider};
use super::finding::Finding;
use super::name::ComponentName;
use super::read::Reader;

/// A plugin as far as its components go.
#[derive(Clone, Copy, Debug)]
pub struct PluginComponents<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// What it is made for; `None` if it does not say, and then it fits everywhere.
    pub releases: Option<&'a [Json]>,
    pub provides: &'a [Json],
    pub components: &'a [Json],
}

impl<'a> PluginComponents<'a> {
    pub fn of(plugin: &'a NewPlugin) -> Self {
        let provides = plugin.extra.get("provides").and_then(Json::as_array);
        Self {
            name: &plugin.name,
            version: &plugin.version,
            releases: Some(&plugin.releases),
            provides: provides.map_or(&[], Vec::as_slice),
            components: &plugin.components_metadata,
        }
    }
}

/// Of the plugins that fit, the newest version of each, by name.
pub fn newest_fitting<'p, 'a>(
    plugins: &'p [PluginComponents<'a>],
    target: Option<FitTarget<'_>>,
) -> Vec<&'p PluginComponents<'a>> {
    let fits = |plugin: &PluginComponents<'_>| match (target, plugin.releases) {
        (Some(target), Some(releases)) => target.is_covered_by(releases),
        _ => true,
    };
    let mut newest: BTreeMap<&str, &PluginComponents<'a>> = BTreeMap::new();
    for plugin in plugins.iter().filter(|plugin| fits(plugin)) {
        let known = newest.entry(plugin.name).or_insert(plugin);
        if compare_versions(plugin.version, known.version).is_gt() {
            *known = plugin;
        }
    }
    newest.into_values().collect()
}

/// Components in their order: those of the release as it lists them, then those of plugins by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    components: Vec<Component>,
    places: BTreeMap<ComponentName, usize>,
    findings: Vec<Finding>,
}

impl Registry {
    /// The components of a release, and of plugins of which each name is there once.
    pub fn new(release: &[Json], plugins: &[&PluginComponents<'_>]) -> Self {
        let mut registry = Self::default();
        let mut providers: BTreeMap<ComponentName, BTreeSet<Provider>> = BTreeMap::new();
        let mut findings = Vec::new();
        let mut reader = Reader { provider: Provider::Release, findings: &mut findings };
        let mut found: Vec<Component> = release.iter().filter_map(|entry| reader.described(entry)).collect();
        for plugin in plugins {
            let mut reader =
                Reader { provider: Provider::Plugin(plugin.name.to_owned()), findings: &mut findings };
            let own_name = (plugin.provides.len() == 1).then_some(plugin.name);
            found.extend(plugin.provides.iter().filter_map(|entry| reader.provided(entry, own_name)));
            found.extend(plugin.components.iter().filter_map(|entry| reader.described(entry)));
        }
        for component in found {
            providers.entry(component.name.clone()).or_default().insert(component.provider.clone());
            registry.add(component);
        }
        let duplicates = providers.into_iter().filter(|(_, providers)| providers.len() > 1);
        findings.extend(duplicates.map(|(component, providers)| {
            let mut providers: Vec<String> =
                providers.iter().map(|provider| provider.as_str().to_owned()).collect();
            providers.sort();
            Finding::Duplicate { component, providers }
        }));
        registry.findings = findings;
        registry
    }

    /// The first provider's statements count; what it says in another form is added.
    fn add(&mut self, component: Component) {
        match self.places.get(&component.name) {
            None => {
                self.places.insert(component.name.clone(), self.components.len());
                self.components.push(component);
            }
            Some(&place) if self.components[place].provider == component.provider => {
                self.components[place].absorb(component);
            }
            Some(_) => {}
        }
    }

    pub fn components(&self) -> &[Component] {
        &self.components
    }

    pub fn get(&self, name: &ComponentName) -> Option<&Component> {
        self.places.get(name).map(|place| &self.components[*place])
    }

    /// What is wrong with the components themselves, whatever is chosen.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether two components cannot be together: it is enough that one of them says so.
    pub fn conflict(one: &Component, other: &Component) -> bool {
        one.name != other.name && (one.refuses(&other.name) || other.refuses(&one.name))
    }
}
