//! Compatibility check for enabling plugins in an existing cluster.

use std::collections::BTreeSet;

use super::component::Component;
use super::conflict::ComponentConflict;
use super::name::ComponentName;
use super::registry::Registry;
use super::requires::Choice;

impl Registry {
    /// Returns the conflicts of enabling the plugins in `fresh`, each with the plugin's name. The registry
    /// must consist of the release and exactly the plugins that are enabled afterwards; `selection` are the
    /// components of the cluster.
    ///
    /// A plugin is represented by its components that the cluster chose, or by all of its components if the
    /// cluster chose none. Conflicts inside one plugin are ignored. If the cluster was created without a
    /// component selection, its components are unknown: only plugins are then checked against each other, and
    /// requirements are not checked.
    pub fn enable_conflicts(
        &self,
        selection: &[&str],
        fresh: &BTreeSet<&str>,
    ) -> Vec<(String, ComponentConflict)> {
        let selection: BTreeSet<ComponentName> =
            selection.iter().filter_map(|name| ComponentName::parse(name)).collect();
        let active: Vec<&Component> =
            self.components().iter().filter(|c| self.is_active(c, &selection)).collect();
        let is_fresh = |component: &Component| {
            component.provider.is_plugin() && fresh.contains(component.provider.as_str())
        };
        let mut conflicts = self.duplicates_of(fresh);
        for (idx, one) in active.iter().enumerate() {
            for other in &active[idx + 1..] {
                let fresh_component = [other, one].into_iter().find(|component| is_fresh(component));
                let Some(plugin) = fresh_component.filter(|_| one.provider != other.provider) else {
                    continue;
                };
                if Self::conflict(one, other) {
                    let mut components = [one.name.clone(), other.name.clone()];
                    components.sort_by_key(ToString::to_string);
                    conflicts.push((
                        plugin.provider.as_str().to_owned(),
                        ComponentConflict::Incompatible { components },
                    ));
                }
            }
        }
        if !selection.is_empty() {
            let fresh = active.iter().copied().filter(|component| is_fresh(component));
            conflicts.extend(self.unmet(fresh, &active));
        }
        conflicts
    }

    fn is_active(&self, component: &Component, selection: &BTreeSet<ComponentName>) -> bool {
        let is_chosen = selection.contains(&component.name);
        let mut same_provider = self.components().iter().filter(|other| other.provider == component.provider);
        is_chosen
            || component.provider.is_plugin() && !same_provider.any(|other| selection.contains(&other.name))
    }

    fn duplicates_of(&self, fresh: &BTreeSet<&str>) -> Vec<(String, ComponentConflict)> {
        let duplicate = |finding: &ComponentConflict| match finding {
            ComponentConflict::Duplicate { providers, .. } => {
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
    ) -> Vec<(String, ComponentConflict)> {
        let selected: BTreeSet<&ComponentName> = active.iter().map(|component| &component.name).collect();
        let available: BTreeSet<&ComponentName> =
            self.components().iter().map(|component| &component.name).collect();
        let choice = Choice { selected: &selected, available: &available };
        let mut conflicts = Vec::new();
        for component in fresh {
            for requirement in
                component.requires.iter().filter(|requirement| !requirement.holds(&component.name, choice))
            {
                let finding = ComponentConflict::Requires {
                    component: component.name.clone(),
                    predicate: requirement.predicate,
                    items: requirement.item_texts(),
                };
                conflicts.push((component.provider.as_str().to_owned(), finding));
            }
        }
        conflicts
    }
}
