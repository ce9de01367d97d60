//! Whether a plugin can be switched on in a cluster that has made its choice.

use std::collections::BTreeSet;

use super::component::Component;
use super::finding::Finding;
use super::name::ComponentName;
use super::registry::Registry;
use super::requires::Chosen;

impl Registry {
    /// What speaks against switching on `fresh`, by name of the plugin. The registry is that of the release and of exactly
    /// the plugins that are enabled afterwards; `chosen` are the components of the cluster.
    ///
    /// A plugin stands for those of its components that the cluster chose, or for all of them if it chose none. What a
    /// plugin says about itself is its own affair. Of a cluster that was made without choosing, nobody knows what it
    /// has; then only enabled plugins are held against each other, and requirements are not asked for.
    pub fn against_enabling(&self, chosen: &[&str], fresh: &BTreeSet<&str>) -> Vec<(String, Finding)> {
        let chosen: BTreeSet<ComponentName> =
            chosen.iter().filter_map(|name| ComponentName::parse(name)).collect();
        let active: Vec<&Component> = self.components().iter().filter(|c| self.counts(c, &chosen)).collect();
        let is_fresh = |component: &Component| {
            component.provider.is_plugin() && fresh.contains(component.provider.as_str())
        };
        let mut found = self.duplicates_of(fresh);
        for (idx, one) in active.iter().enumerate() {
            for other in &active[idx + 1..] {
                let concerned = [other, one].into_iter().find(|component| is_fresh(component));
                let Some(plugin) = concerned.filter(|_| one.provider != other.provider) else { continue };
                if Self::conflict(one, other) {
                    let mut components = [one.name.clone(), other.name.clone()];
                    components.sort_by_key(ToString::to_string);
                    found.push((plugin.provider.as_str().to_owned(), Finding::Incompatible { components }));
                }
            }
        }
        if !chosen.is_empty() {
            let fresh = active.iter().copied().filter(|component| is_fresh(component));
            found.extend(self.unmet(fresh, &active));
        }
        found
    }

    fn counts(&self, component: &Component, chosen: &BTreeSet<ComponentName>) -> bool {
        let is_chosen = chosen.contains(&component.name);
        let mut of_same = self.components().iter().filter(|other| other.provider == component.provider);
        is_chosen || component.provider.is_plugin() && !of_same.any(|other| chosen.contains(&other.name))
    }

    fn duplicates_of(&self, fresh: &BTreeSet<&str>) -> Vec<(String, Finding)> {
        let duplicate = |finding: &Finding| match finding {
            Finding::Duplicate { providers, .. } => {
                let plugin = providers.iter().rev().find(|provider| fresh.contains(provider.as_str()))?;
                Some((plugin.clone(), finding.clone()))
            }
            _ => None,
        };
        self.findings().iter().filter_map(duplicate).collect()
    }

    fn unmet<'r>(
        &self,
        fresh: impl Iterator<Item = &'r Component>,
        active: &[&Component],
    ) -> Vec<(String, Finding)> {
        let selected: BTreeSet<&ComponentName> = active.iter().map(|component| &component.name).collect();
        let available: BTreeSet<&ComponentName> =
            self.components().iter().map(|component| &component.name).collect();
        let all = Chosen { selected: &selected, available: &available };
        let mut found = Vec::new();
        for component in fresh {
            for requirement in component.requires.iter().filter(|known| !known.holds(&component.name, all)) {
                let finding = Finding::Requires {
                    component: component.name.clone(),
                    predicate: requirement.predicate,
                    items: requirement.item_texts(),
                };
                found.push((component.provider.as_str().to_owned(), finding));
            }
        }
        found
    }
}
