//! Registry of the components of a release and its plugins.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{CompatibilityTarget, Json, NewPlugin, compare_versions};

use super::component::{Component, Provider};
use super::conflict::ComponentConflict;
use super::name::ComponentName;
use super::read::Reader;
use crate::labels::{readable, words};

/// Component declarations of a plugin.
#[derive(Clone, Copy, Debug)]
pub struct PluginComponents<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// Supported releases; `None` means that none are declared, so that all releases are supported.
    pub releases: Option<&'a [Json]>,
    pub provides: &'a [Json],
    pub components: &'a [Json],
}

impl<'a> PluginComponents<'a> {
    pub fn from_plugin(plugin: &'a NewPlugin) -> Self {
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

/// Returns the newest version of each plugin that supports the target, sorted by name.
pub fn newest_supported<'p, 'a>(
    plugins: &'p [PluginComponents<'a>],
    target: Option<CompatibilityTarget<'_>>,
) -> Vec<&'p PluginComponents<'a>> {
    let fits = |plugin: &PluginComponents<'_>| match (target, plugin.releases) {
        (Some(target), Some(releases)) => target.is_covered_by(releases),
        _ => true,
    };
    let mut newest: BTreeMap<&str, &PluginComponents<'a>> = BTreeMap::new();
    for plugin in plugins.iter().filter(|plugin| fits(plugin)) {
        let current = newest.entry(plugin.name).or_insert(plugin);
        if compare_versions(plugin.version, current.version).is_gt() {
            *current = plugin;
        }
    }
    newest.into_values().collect()
}

/// Components in order: those of the release as listed, then those of plugins sorted by plugin name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    components: Vec<Component>,
    indexes: BTreeMap<ComponentName, usize>,
    findings: Vec<ComponentConflict>,
    /// Whether messages contain labels instead of names.
    pub(super) is_readable: bool,
}

impl Registry {
    /// Builds a registry; plugin names must be unique.
    pub fn new(release: &[Json], plugins: &[&PluginComponents<'_>]) -> Self {
        let mut registry = Self::default();
        let mut providers: BTreeMap<ComponentName, BTreeSet<Provider>> = BTreeMap::new();
        let mut findings = Vec::new();
        let mut reader = Reader { provider: Provider::Release, findings: &mut findings };
        let mut components: Vec<Component> =
            release.iter().filter_map(|entry| reader.parse_described(entry)).collect();
        for plugin in plugins {
            let mut reader =
                Reader { provider: Provider::Plugin(plugin.name.to_owned()), findings: &mut findings };
            let own_name = (plugin.provides.len() == 1).then_some(plugin.name);
            components
                .extend(plugin.provides.iter().filter_map(|entry| reader.parse_provided(entry, own_name)));
            components.extend(plugin.components.iter().filter_map(|entry| reader.parse_described(entry)));
        }
        for component in components {
            providers.entry(component.name.clone()).or_default().insert(component.provider.clone());
            registry.add(component);
        }
        let duplicates = providers.into_iter().filter(|(_, providers)| providers.len() > 1);
        findings.extend(duplicates.map(|(component, providers)| {
            let mut providers: Vec<String> =
                providers.iter().map(|provider| provider.as_str().to_owned()).collect();
            providers.sort();
            ComponentConflict::Duplicate { component, providers }
        }));
        registry.findings = findings;
        registry
    }

    /// Adds a component. The first provider wins; further declarations by the same provider are merged.
    fn add(&mut self, component: Component) {
        match self.indexes.get(&component.name) {
            None => {
                self.indexes.insert(component.name.clone(), self.components.len());
                self.components.push(component);
            }
            Some(&idx) if self.components[idx].provider == component.provider => {
                self.components[idx].absorb(component);
            }
            Some(_) => {}
        }
    }

    /// Prepares the registry for messages to users: replaces translation keys, and gives each component without a label
    /// one from the title of its plugin, or from its name. Messages then contain labels instead of names.
    #[must_use]
    pub fn into_readable(mut self, titles: &BTreeMap<&str, &str>) -> Self {
        let mut counts: BTreeMap<Provider, usize> = BTreeMap::new();
        for component in &self.components {
            *counts.entry(component.provider.clone()).or_default() += 1;
        }
        for component in &mut self.components {
            let title = titles.get(component.provider.as_str()).filter(|title| !title.trim().is_empty());
            let own = words(component.name.path().last().map_or("", String::as_str));
            component.label = match title {
                _ if component.has_own_label => readable(&component.label).into_owned(),
                None => own,
                Some(title) if counts.get(&component.provider) == Some(&1) => (*title).to_owned(),
                Some(title) => format!("{title} ({own})"),
            };
            component.translate();
        }
        self.is_readable = true;
        self
    }

    pub fn set_label(&mut self, name: &ComponentName, label: &str) {
        if let Some(idx) = self.indexes.get(name) {
            label.clone_into(&mut self.components[*idx].label);
        }
    }

    pub fn components(&self) -> &[Component] {
        &self.components
    }

    pub fn get(&self, name: &ComponentName) -> Option<&Component> {
        self.indexes.get(name).map(|idx| &self.components[*idx])
    }

    /// Problems of the declarations, independent of any selection.
    pub fn findings(&self) -> &[ComponentConflict] {
        &self.findings
    }

    /// Reports whether two components conflict, which either of them may declare.
    pub fn conflict(one: &Component, other: &Component) -> bool {
        one.name != other.name && (one.refuses(&other.name) || other.refuses(&one.name))
    }
}
