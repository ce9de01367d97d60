//! Merging of plugin wizards into that of a release.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Json, JsonMap, compare_versions};

use super::canonical::canonical;
use super::conflict::{WizardConflict, kinds};
use super::participant::sorted_panes;
use crate::components::{ComponentName, ComponentType};

/// Wizard additions of one plugin.
#[derive(Clone, Debug)]
pub struct PluginWizard<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub wizard: &'a Json,
    /// Components of the plugin, linked to its options.
    pub components: Vec<ComponentName>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedWizard {
    pub wizard: JsonMap,
    /// Plugin that added an option or a checkbox, by `Pane.control.values["data"]` (the data as JSON) or
    /// `Pane.control`. Choosing it enables the plugin.
    pub owners: BTreeMap<String, String>,
    /// Whether the wizard is generated from components. Its answers are a component selection even if they select none.
    pub is_generated: bool,
}

/// Origin of elements that no plugin added.
const RELEASE: &str = "release";

/// Merges wizards. The newest version of each plugin is used. The result does not depend on the order of
/// plugins.
pub fn merge_wizards(
    release: &Json,
    plugins: &[PluginWizard<'_>],
) -> Result<MergedWizard, Vec<WizardConflict>> {
    let Some(release) = release.as_object().filter(|panes| !panes.is_empty()) else {
        return Ok(MergedWizard::default());
    };
    let mut mixed = release.clone();
    let mut mixer = Mixer::default();
    let mut newest: BTreeMap<&str, &PluginWizard<'_>> = BTreeMap::new();
    for plugin in plugins {
        let current = newest.entry(plugin.name).or_insert(plugin);
        if compare_versions(plugin.version, current.version).is_gt() {
            *current = plugin;
        }
    }
    for plugin in newest.into_values() {
        mixer.merge_plugin(&mut mixed, release, plugin);
    }
    if mixer.conflicts.is_empty() {
        return Ok(MergedWizard { wizard: mixed, owners: mixer.owners, is_generated: false });
    }
    mixer.conflicts.sort();
    mixer.conflicts.dedup();
    Err(mixer.conflicts)
}

#[derive(Default)]
pub(super) struct Mixer<'a> {
    pub(super) owners: BTreeMap<String, String>,
    /// Plugin that first added a path; other paths are from the release.
    origins: BTreeMap<String, &'a str>,
    pub(super) conflicts: Vec<WizardConflict>,
    pub(super) plugin: &'a str,
    /// Component for new options of the plugin that name none.
    pub(super) linked: Option<String>,
}

/// Returns the component type of a pane.
fn pane_type(pane: &str) -> Option<ComponentType> {
    ComponentType::ALL.iter().copied().find(|kind| kind.pane() == pane)
}

impl<'a> Mixer<'a> {
    /// Reports a conflict with the earlier value at a path.
    pub(super) fn conflict(&mut self, path: String, kind: &'static str) {
        let other = self.origin(&path).unwrap_or(RELEASE);
        let other = (other != self.plugin).then(|| other.to_owned());
        self.push(path, kind, other);
    }

    /// Reports an error of the plugin itself.
    pub(super) fn plugin_error(&mut self, path: String, kind: &'static str) {
        self.push(path, kind, None);
    }

    fn push(&mut self, path: String, kind: &'static str, other: Option<String>) {
        let panes = Vec::new();
        self.conflicts.push(WizardConflict { path, kind, plugin: self.plugin.to_owned(), other, panes });
    }

    /// Reports a pane that the release does not have.
    fn unknown_pane(&mut self, pane: &str, release: &JsonMap) {
        self.conflict(pane.to_owned(), kinds::UNKNOWN_PANE);
        if let Some(conflict) = self.conflicts.last_mut() {
            conflict.panes = sorted_panes(release).into_iter().map(|(name, _)| name.to_owned()).collect();
        }
    }

    /// Records the plugin as origin of a path.
    pub(super) fn record_origin(&mut self, path: String) {
        self.origins.entry(path).or_insert(self.plugin);
    }

    /// Returns the origin of a path or of its nearest ancestor.
    fn origin(&self, path: &str) -> Option<&'a str> {
        let ends = path.char_indices().filter(|(_, letter)| matches!(letter, '.' | '[')).map(|(at, _)| at);
        let mut ends: Vec<usize> = ends.collect();
        ends.push(path.len());
        ends.iter().rev().find_map(|end| self.origins.get(&path[..*end]).copied())
    }

    fn merge_plugin(&mut self, mixed: &mut JsonMap, release: &JsonMap, plugin: &PluginWizard<'a>) {
        self.plugin = plugin.name;
        let panes = match plugin.wizard {
            Json::Object(panes) => panes,
            Json::Null => return,
            _ => return self.plugin_error(String::new(), kinds::TYPE),
        };
        for (pane, addition) in panes.iter().filter(|(_, addition)| !addition.is_null()) {
            match addition.as_object() {
                _ if !release.contains_key(pane) => self.unknown_pane(pane, release),
                None => self.conflict(pane.clone(), kinds::TYPE),
                Some(controls) => {
                    let checkboxes = new_checkboxes(mixed.get(pane), controls);
                    self.linked = only_component(plugin, pane);
                    self.merge_key(mixed, pane, addition, pane);
                    for name in checkboxes {
                        self.own_checkbox(mixed, pane, name);
                    }
                }
            }
        }
    }

    /// Records the plugin as owner of a new checkbox, and links the checkbox to the component of the plugin.
    fn own_checkbox(&mut self, mixed: &mut JsonMap, pane: &str, name: &str) {
        self.owners.insert(format!("{pane}.{name}"), self.plugin.to_owned());
        let checkbox = mixed.get_mut(pane).and_then(|pane| pane.get_mut(name)).and_then(Json::as_object_mut);
        if let (Some(checkbox), Some(component)) = (checkbox, &self.linked) {
            checkbox.entry("component").or_insert_with(|| Json::from(&**component));
        }
    }

    pub(super) fn merge_map(&mut self, base: &mut JsonMap, addition: &JsonMap, path: &str) {
        for (key, value) in addition.iter().filter(|(_, value)| !value.is_null()) {
            let path = format!("{path}.{key}");
            self.merge_key(base, key, value, &path);
        }
    }

    /// Merges one value at `path`.
    fn merge_key(&mut self, base: &mut JsonMap, key: &str, value: &Json, path: &str) {
        let is_absent = base.get(key).is_none_or(Json::is_null);
        if is_absent {
            // Maps and options are merged into an empty value, because their content has to be checked too.
            let start = match value {
                Json::Object(_) => Json::Object(JsonMap::new()),
                Json::Array(_) if key == "values" => Json::Array(Vec::new()),
                _ => value.clone(),
            };
            base.insert(key.to_owned(), start);
            self.record_origin(path.to_owned());
        }
        let Some(old) = base.get_mut(key) else { return };
        match (old, value) {
            (Json::Array(old), Json::Array(options)) if key == "values" => {
                self.merge_options(old, options, path);
            }
            _ if is_absent && !value.is_object() => {}
            (old @ (Json::String(_) | Json::Array(_)), Json::String(_) | Json::Array(_)) if key == "bind" => {
                self.merge_bind(old, value, path);
            }
            (Json::Object(old), Json::Object(addition)) => self.merge_map(old, addition, path),
            (Json::Array(old), Json::Array(items)) => {
                let mut canonical_items: BTreeSet<String> = old.iter().map(canonical).collect();
                old.extend(items.iter().filter(|item| canonical_items.insert(canonical(item))).cloned());
            }
            (Json::Object(_) | Json::Array(_), _) | (_, Json::Object(_) | Json::Array(_)) => {
                self.conflict(path.to_owned(), kinds::TYPE);
            }
            (old, value) if old == value => {}
            _ => self.conflict(path.to_owned(), kinds::SCALAR),
        }
    }
}

/// Returns the names of the checkboxes that a pane does not have yet.
fn new_checkboxes<'c>(existing: Option<&Json>, controls: &'c JsonMap) -> Vec<&'c str> {
    let is_new = |name: &str| existing.and_then(|existing| existing.get(name)).is_none_or(Json::is_null);
    let is_checkbox = |control: &Json| control.get("type").is_some_and(|kind| kind == "checkbox");
    let added = controls.iter().filter(|(name, control)| is_new(name) && is_checkbox(control));
    added.map(|(name, _)| name.as_str()).collect()
}

/// Returns the plugin's component for a pane, if there is exactly one.
fn only_component(plugin: &PluginWizard<'_>, pane: &str) -> Option<String> {
    let kind = pane_type(pane)?;
    let mut fitting = plugin.components.iter().filter(|name| name.kind() == kind);
    let only = fitting.next()?;
    fitting.next().is_none().then(|| only.to_string())
}
