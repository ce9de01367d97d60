//! Component list for the API.

use stoker_model::{Json, JsonMap};

use super::component::{Component, Relation};
use super::registry::Registry;
use super::requires::Requirement;

impl Registry {
    /// Returns all components in registry order. A relation declared by one component is listed for both.
    pub fn listing(&self) -> Vec<Json> {
        self.components().iter().map(|component| Json::Object(self.entry(component))).collect()
    }

    fn entry(&self, component: &Component) -> JsonMap {
        let mut entry = JsonMap::new();
        let mut set = |key: &str, value: Json| _ = entry.insert(key.to_owned(), value);
        set("name", Json::from(component.name.to_string()));
        set("label", Json::from(&*component.label));
        if let Some(description) = &component.description {
            set("description", Json::from(&**description));
        }
        set("weight", Json::from(component.weight));
        if component.is_default {
            set("default", Json::Bool(true));
        }
        for (key, relations) in
            [("compatible", self.compatible(component)), ("incompatible", self.incompatible(component))]
        {
            if !relations.is_empty() {
                set(key, Json::from(relations));
            }
        }
        if !component.requires.is_empty() {
            set("requires", component.requires.iter().map(requirement).collect());
        }
        entry
    }

    fn others<'r>(&'r self, component: &'r Component) -> impl Iterator<Item = &'r Component> {
        self.components().iter().filter(|other| other.name != component.name)
    }

    fn compatible(&self, component: &Component) -> Vec<Json> {
        let declares = |one: &Component, other: &Component| {
            one.compatible.iter().any(|relation| relation.pattern.matches(&other.name))
        };
        let declared = component.compatible.iter().map(relation);
        let by_others =
            self.others(component).filter(|other| declares(other, component) && !declares(component, other));
        declared.chain(by_others.map(|other| relation_to(&other.name.to_string(), None))).collect()
    }

    fn incompatible(&self, component: &Component) -> Vec<Json> {
        let declared = component.incompatible.iter().map(relation);
        let is_new = |other: &&Component| {
            Self::conflict(component, other) && component.incompatibility_with(&other.name).is_none()
        };
        let by_others = self.others(component).filter(is_new).map(|other| {
            let message = format!("Not compatible with {}", other.label);
            relation_to(&other.name.to_string(), Some(&message))
        });
        declared.chain(by_others).collect()
    }
}

fn relation(relation: &Relation) -> Json {
    relation_to(&relation.pattern.to_string(), relation.message.as_deref())
}

fn relation_to(name: &str, message: Option<&str>) -> Json {
    let mut map = JsonMap::new();
    map.insert("name".to_owned(), Json::from(name));
    map.extend(message.map(|message| ("message".to_owned(), Json::from(message))));
    Json::Object(map)
}

/// Lists of names are converted to the equivalent predicate.
fn requirement(requirement: &Requirement) -> Json {
    let mut body = JsonMap::new();
    let items = requirement.items.iter().map(|item| Json::from(&*item.text));
    body.insert("items".to_owned(), items.collect());
    body.extend(requirement.message.as_deref().map(|message| ("message".to_owned(), Json::from(message))));
    let mut map = JsonMap::new();
    map.insert(requirement.predicate.as_str().to_owned(), Json::Object(body));
    Json::Object(map)
}
