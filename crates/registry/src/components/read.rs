//! Parsing of component declarations. Invalid parts are reported as findings and omitted.

use std::collections::BTreeMap;

use stoker_model::Json;

use super::component::{Component, Provider, Relation, WEIGHT_DEFAULT};
use super::conflict::{ComponentConflict, InvalidReason};
use super::name::{ComponentName, ComponentPattern, ComponentType, NameToken};
use super::requires::{Item, Predicate, Requirement};

/// Parses the components of one provider.
pub(super) struct Reader<'f> {
    pub(super) provider: Provider,
    pub(super) findings: &'f mut Vec<ComponentConflict>,
}

impl Reader<'_> {
    /// Parses an entry of a release or of `components.yaml`; a plain string is a name.
    pub(super) fn parse_described(&mut self, entry: &Json) -> Option<Component> {
        let name = self.name(entry)?;
        let mut component = self.component(name, entry);
        component.compatible = self.relations(entry.get("compatible"), &component.name);
        component.incompatible = self.relations(entry.get("incompatible"), &component.name);
        component.requires = self.requires(entry.get("requires"), &component.name);
        Some(component)
    }

    /// Parses an entry of `provides`. A bare subtype is completed with `own_name`, which is set if the plugin
    /// provides a single component.
    pub(super) fn parse_provided(&mut self, entry: &Json, own_name: Option<&str>) -> Option<Component> {
        let name = self.name(entry)?;
        let name = self.complete_name(name, own_name)?;
        let mut component = self.component(name, entry);
        let mut accepts = BTreeMap::new();
        for kind in ComponentType::ALL {
            let tokens = match entry.get(kind.compatible_key()) {
                None | Some(Json::Null) => continue,
                Some(Json::Array(items)) => self.tokens(items, *kind, &component.name),
                Some(_) => {
                    self.invalid(&component.name.to_string(), InvalidReason::BadToken);
                    Vec::new()
                }
            };
            accepts.insert(*kind, tokens);
        }
        component.accepts = Some(accepts);
        Some(component)
    }

    fn invalid(&mut self, component: &str, reason: InvalidReason) {
        let finding = ComponentConflict::Invalid { component: component.to_owned(), reason };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn name(&mut self, entry: &Json) -> Option<ComponentName> {
        let value = entry.get("name").unwrap_or(entry);
        let name = value.as_str().and_then(ComponentName::parse);
        if name.is_none() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.invalid(&text, InvalidReason::BadName);
        }
        name
    }

    /// Completes a name in `provides`, which may lack its specific part.
    fn complete_name(&mut self, name: ComponentName, own_name: Option<&str>) -> Option<ComponentName> {
        if !name.is_bare_subtype() {
            return Some(name);
        }
        let completed = own_name.and_then(|own_name| name.with_segment(own_name));
        if completed.is_none() {
            self.invalid(&name.to_string(), InvalidReason::SpecificNameRequired);
        }
        completed
    }

    fn component(&self, name: ComponentName, entry: &Json) -> Component {
        let text = |key: &str| entry.get(key).and_then(Json::as_str).map(str::to_owned);
        let mut component = Component::new(name, self.provider.clone());
        if let Some(label) = text("label").filter(|label| !label.trim().is_empty()) {
            component.label = label;
            component.has_own_label = true;
        }
        component.description = text("description");
        component.weight = entry.get("weight").and_then(Json::as_i64).unwrap_or(WEIGHT_DEFAULT);
        component.is_default = entry.get("default").and_then(Json::as_bool).unwrap_or(false);
        component.bind = entry.get("bind").and_then(Json::as_array).cloned().unwrap_or_default();
        component
    }

    fn tokens(&mut self, items: &[Json], kind: ComponentType, name: &ComponentName) -> Vec<NameToken> {
        let parsed = items.iter().map(|item| item.as_str().and_then(|text| NameToken::parse(text, kind)));
        let tokens: Vec<NameToken> = parsed.flatten().collect();
        if tokens.len() < items.len() {
            self.invalid(&name.to_string(), InvalidReason::BadToken);
        }
        tokens
    }

    fn relations(&mut self, entries: Option<&Json>, name: &ComponentName) -> Vec<Relation> {
        let entries = entries.and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let relation = |entry: &Json| {
            let pattern = ComponentPattern::parse(relation_name(entry)?)?;
            Some(Relation { pattern, message: message_of(entry) })
        };
        let relations: Vec<Relation> = entries.iter().filter_map(relation).collect();
        if relations.len() < entries.len() {
            self.invalid(&name.to_string(), InvalidReason::BadPattern);
        }
        relations
    }

    fn requires(&mut self, entries: Option<&Json>, name: &ComponentName) -> Vec<Requirement> {
        let entries = entries.and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let n_names = entries.iter().filter(|entry| relation_name(entry).is_some()).count();
        let read = match n_names {
            0 => predicates(entries),
            _ if n_names == entries.len() => Ok(name_groups(entries)),
            _ => Err(InvalidReason::MixedRequires),
        };
        let requirements = read.unwrap_or_else(|reason| {
            self.invalid(&name.to_string(), reason);
            Vec::new()
        });
        let has_bad_items =
            requirements.iter().flat_map(|requirement| &requirement.items).any(|item| item.pattern.is_none());
        if has_bad_items {
            self.invalid(&name.to_string(), InvalidReason::BadPattern);
        }
        requirements
    }
}

/// Returns the name from `{name: …}` or a plain string.
fn relation_name(entry: &Json) -> Option<&str> {
    entry.get("name").unwrap_or(entry).as_str()
}

/// Returns the message; `description` is accepted as an alias.
fn message_of(entry: &Json) -> Option<String> {
    message_in(entry, "message").or_else(|| message_in(entry, "description"))
}

fn message_in(entry: &Json, key: &str) -> Option<String> {
    entry.get(key).and_then(Json::as_str).map(str::to_owned)
}

/// Parses the legacy notation, a list of names: of each type, at least one name is required. The first
/// message of a group is used.
fn name_groups(entries: &[Json]) -> Vec<Requirement> {
    let mut groups: Vec<Requirement> = Vec::new();
    let mut group_indexes: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        let item = Item::new(relation_name(entry).unwrap_or_default());
        let kind = item.text.split(':').next().unwrap_or_default().to_owned();
        let group_idx = *group_indexes.entry(kind).or_insert(groups.len());
        if group_idx == groups.len() {
            groups.push(Requirement {
                predicate: Predicate::AnyOf,
                items: Vec::new(),
                message: None,
                message_invalid: None,
            });
        }
        let group = &mut groups[group_idx];
        group.items.push(item);
        group.message = group.message.take().or_else(|| message_of(entry));
    }
    groups
}

/// Parses the predicate notation: every predicate of every map is required.
fn predicates(entries: &[Json]) -> Result<Vec<Requirement>, InvalidReason> {
    let mut requirements = Vec::new();
    for entry in entries {
        let map = entry.as_object().ok_or(InvalidReason::UnknownPredicate)?;
        if !map.keys().all(|key| Predicate::parse(key).is_some()) {
            return Err(InvalidReason::UnknownPredicate);
        }
        for predicate in Predicate::ALL {
            let Some(body) = map.get(predicate.as_str()) else { continue };
            let items = body.get("items").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            let text = |item: &Json| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
            let items = items.iter().map(|item| Item::new(&text(item))).collect();
            requirements.push(Requirement {
                predicate: *predicate,
                items,
                message: message_of(body),
                message_invalid: message_in(body, "message_invalid"),
            });
        }
    }
    Ok(requirements)
}
