//! Wizard of a release that declares components and no wizard: one pane for each component type.
//!
//! Components of one subtype that all exclude each other are the options of a radio control; every other component is a
//! checkbox. The layout of the components of the release does not depend on plugins, so that installing a plugin keeps
//! stored answers valid. A component of a plugin that its wizard does not offer becomes an option or a checkbox, too.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Json, JsonMap};

use super::conflict::WizardConflict;
use super::mix::{MergedWizard, PluginWizard, merge_wizards};
use super::participant::participants;
use crate::components::{Component, ComponentType, Registry};
use crate::labels::words;

/// Option of a radio control that selects none of its components.
const NONE: &str = "none";

/// Returns the merged wizard of a release: the written one or, if the release has none, one generated from its
/// components. Without components the wizard is empty.
pub fn complete_wizard(
    written: &JsonMap,
    required_types: &[String],
    registry: &Registry,
    plugins: &[PluginWizard<'_>],
) -> Result<MergedWizard, Vec<WizardConflict>> {
    let has_components = registry.components().iter().any(|component| !component.provider.is_plugin());
    if !written.is_empty() || !has_components {
        return merge_wizards(&Json::Object(written.clone()), plugins);
    }
    let (base, mut radios) = layout(required_types, registry);
    let mut merged = merge_wizards(&Json::Object(base), plugins)?;
    merged.is_generated = true;
    adopt_controls(&mut merged.wizard, &mut radios);
    add_plugin_components(&mut merged.wizard, &radios, registry);
    complete_radios(&mut merged.wizard, &radios);
    merged
        .wizard
        .retain(|_, pane| pane.as_object().is_some_and(|pane| pane.keys().any(|name| name != METADATA)));
    Ok(merged)
}

/// Panes of written wizards without components; plugins may add controls to them.
const OTHER_PANES: [&str; 2] = ["Mode", "Ready"];

/// Key of a pane that is not a control.
const METADATA: &str = "metadata";

/// Generated radio controls by pane and name, with the subtype of their options.
type Radios = BTreeMap<(String, String), Vec<String>>;

/// Returns the panes with the components of the release. Panes without components are kept, for controls of plugins.
fn layout(required_types: &[String], registry: &Registry) -> (JsonMap, Radios) {
    let required: Vec<ComponentType> =
        required_types.iter().filter_map(|kind| ComponentType::parse(kind)).collect();
    let (mut wizard, mut radios) = (JsonMap::new(), Radios::new());
    for kind in ComponentType::ALL {
        let mut pane = JsonMap::new();
        let mut metadata = JsonMap::new();
        metadata.insert("label".to_owned(), Json::from(kind.pane_label()));
        if required.contains(kind) {
            metadata.insert("required".to_owned(), Json::Bool(true));
        }
        pane.insert(METADATA.to_owned(), Json::Object(metadata));
        for group in groups(*kind, registry) {
            match &group[..] {
                [component] => add_checkbox(&mut pane, component, registry),
                options => {
                    let subtype = parent(options[0]).to_vec();
                    let name = unused(&pane, &radio_name(&pane, *kind, &subtype));
                    let mut radio = JsonMap::new();
                    radio.insert("type".to_owned(), Json::from("radio"));
                    radio.insert("values".to_owned(), Json::Array(Vec::new()));
                    for component in options {
                        add_option(&mut radio, component, registry);
                    }
                    pane.insert(name.clone(), Json::Object(radio));
                    radios.insert((kind.pane().to_owned(), name), subtype);
                }
            }
        }
        wizard.insert(kind.pane().to_owned(), Json::Object(pane));
    }
    wizard.extend(OTHER_PANES.map(|pane| (pane.to_owned(), Json::Object(JsonMap::new()))));
    (wizard, radios)
}

/// Returns the components of the release of a type as choices: sets of one subtype that exclude each other, and single
/// components. The order is that of the first member of each.
fn groups(kind: ComponentType, registry: &Registry) -> Vec<Vec<&Component>> {
    let is_own = |component: &&Component| component.name.kind() == kind && !component.provider.is_plugin();
    let mut rest: Vec<&Component> = registry.components().iter().filter(is_own).collect();
    rest.reverse();
    let mut groups = Vec::new();
    while let Some(first) = rest.pop() {
        // All components connected with the first one by conflicts.
        let mut connected = vec![first];
        let mut idx = 0;
        while let Some(one) = connected.get(idx).copied() {
            let is_connected =
                |other: &&&Component| parent(other) == parent(first) && Registry::conflict(one, other);
            let neighbours: Vec<&Component> = rest.iter().rev().filter(is_connected).copied().collect();
            rest.retain(|other| !neighbours.iter().any(|neighbour| neighbour.name == other.name));
            connected.extend(neighbours);
            idx += 1;
        }
        let is_clique = connected
            .iter()
            .enumerate()
            .all(|(idx, one)| connected[idx + 1..].iter().all(|other| Registry::conflict(one, other)));
        if is_clique {
            groups.push(connected);
        } else {
            groups.extend(connected.into_iter().map(|component| vec![component]));
        }
    }
    groups
}

/// Returns the path without its last segment; empty for a single segment.
fn parent(component: &Component) -> &[String] {
    let path = component.name.path();
    &path[..path.len().saturating_sub(1)]
}

/// Returns the name of a radio control. The first one of a pane has the name that written wizards use, so that the
/// options of plugins for those are merged into it.
fn radio_name(pane: &JsonMap, kind: ComponentType, subtype: &[String]) -> String {
    let main = match kind {
        ComponentType::Hypervisor => Some("hypervisor"),
        ComponentType::Network => Some("manager"),
        ComponentType::Storage | ComponentType::Monitoring | ComponentType::AdditionalService => None,
    };
    match main.filter(|main| !pane.contains_key(*main)) {
        Some(main) => main.to_owned(),
        None if subtype.is_empty() => kind.as_str().to_owned(),
        None => subtype.join("_"),
    }
}

fn unused(pane: &JsonMap, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| name != METADATA && !pane.contains_key(name)).unwrap_or_default()
}

/// Returns the body of a choice, without its type or `data`.
fn choice(component: &Component, registry: &Registry) -> JsonMap {
    let is_namesake = |other: &&Component| {
        other.name.kind() == component.name.kind()
            && other.name != component.name
            && other.label == component.label
    };
    let is_ambiguous = registry.components().iter().any(|other| is_namesake(&other));
    let label = match parent(component).last().filter(|_| is_ambiguous) {
        Some(subtype) => format!("{} ({})", component.label, words(subtype).to_lowercase()),
        None => component.label.clone(),
    };
    let mut body = JsonMap::new();
    body.insert("label".to_owned(), Json::from(label));
    body.extend(component.description.as_deref().map(|text| ("description".to_owned(), Json::from(text))));
    body.insert("weight".to_owned(), Json::from(component.weight));
    body.insert("component".to_owned(), Json::from(component.name.to_string()));
    body
}

fn add_checkbox(pane: &mut JsonMap, component: &Component, registry: &Registry) {
    let mut checkbox = JsonMap::new();
    checkbox.insert("type".to_owned(), Json::from("checkbox"));
    checkbox.insert("value".to_owned(), Json::from(component.is_default));
    checkbox.extend(choice(component, registry));
    let name = unused(pane, &component.name.path().join("_"));
    pane.insert(name, Json::Object(checkbox));
}

fn add_option(radio: &mut JsonMap, component: &Component, registry: &Registry) {
    let short = component.name.path().last().map_or("", String::as_str);
    if component.is_default {
        radio.entry("value").or_insert_with(|| Json::from(short));
    }
    let Some(options) = radio.get_mut("values").and_then(Json::as_array_mut) else { return };
    let is_used =
        short == NONE || options.iter().any(|option| option.get("data").is_some_and(|data| data == short));
    let data = if is_used { component.name.to_string() } else { short.to_owned() };
    let mut option = JsonMap::new();
    option.insert("data".to_owned(), Json::from(data));
    option.extend(choice(component, registry));
    options.push(Json::Object(option));
}

/// Gives controls of plugins that extend a control which this wizard does not have a type: options become those of a
/// radio control; other extensions have no effect and are removed.
fn adopt_controls(wizard: &mut JsonMap, radios: &mut Radios) {
    for (pane_name, pane) in wizard {
        let Some(pane) = pane.as_object_mut() else { continue };
        pane.retain(|name, control| {
            name == METADATA || ["type", "values"].iter().any(|key| control.get(key).is_some())
        });
        for (name, control) in pane.iter_mut().filter(|(name, _)| *name != METADATA) {
            if let Some(control) = control.as_object_mut().filter(|control| !control.contains_key("type")) {
                control.insert("type".to_owned(), Json::from("radio"));
                radios.insert((pane_name.clone(), name.clone()), Vec::new());
            }
        }
    }
}

/// Adds the components of plugins that no choice selects.
fn add_plugin_components(wizard: &mut JsonMap, radios: &Radios, registry: &Registry) {
    let offered: BTreeSet<String> =
        participants(wizard, registry).iter().map(|choice| choice.component.name.to_string()).collect();
    let is_missing = |component: &&Component| !offered.contains(&component.name.to_string());
    for component in registry.components().iter().filter(is_missing) {
        let pane_name = component.name.kind().pane();
        let Some(pane) = wizard.get_mut(pane_name).and_then(Json::as_object_mut) else { continue };
        let own =
            radios.iter().filter(|((pane, _), subtype)| pane == pane_name && *subtype == parent(component));
        let excluding =
            own.map(|((_, name), _)| name).find(|name| excludes_all(&pane[*name], component, registry));
        match excluding.and_then(|name| pane.get_mut(name)).and_then(Json::as_object_mut) {
            Some(radio) => add_option(radio, component, registry),
            None => add_checkbox(pane, component, registry),
        }
    }
}

/// Reports whether a component excludes every option of a control.
fn excludes_all(control: &Json, component: &Component, registry: &Registry) -> bool {
    let options = control.get("values").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let component_of = |option: &Json| {
        let name = option.get("component").and_then(Json::as_str)?;
        registry.get(&crate::components::ComponentName::parse(name)?)
    };
    options
        .iter()
        .all(|option| component_of(option).is_some_and(|other| Registry::conflict(component, other)))
}

/// Sets the label, weight and default of radio controls, sorts their options, and adds the option for none. It is
/// omitted from the only control of a required type.
fn complete_radios(wizard: &mut JsonMap, radios: &Radios) {
    for ((pane_name, name), subtype) in radios {
        let Some(pane) = wizard.get_mut(pane_name).and_then(Json::as_object_mut) else { continue };
        let is_required = pane.get(METADATA).is_some_and(|metadata| metadata.get("required").is_some());
        let is_only = pane.keys().filter(|key| *key != METADATA).count() == 1;
        let Some(radio) = pane.get_mut(name).and_then(Json::as_object_mut) else { continue };
        let weight = |option: &Json| option.get("weight").and_then(Json::as_i64).unwrap_or(100);
        let Some(options) = radio.get_mut("values").and_then(Json::as_array_mut) else { continue };
        options.sort_by_key(weight);
        let lowest = options.first().map_or(100, weight);
        if !(is_required && is_only) {
            let mut none = JsonMap::new();
            none.insert("data".to_owned(), Json::from(NONE));
            none.insert("label".to_owned(), Json::from("None"));
            options.insert(0, Json::Object(none));
        }
        let first = options.first().and_then(|option| option.get("data")).cloned().unwrap_or_default();
        let label = if subtype.is_empty() { words(name) } else { words(&subtype.join(" ")) };
        radio.entry("value").or_insert(first);
        radio.entry("label").or_insert_with(|| Json::from(label));
        radio.entry("weight").or_insert_with(|| Json::from(lowest));
    }
}
