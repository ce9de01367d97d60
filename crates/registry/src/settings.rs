//! Restrictions of settings: what is hidden or disabled on the page of settings, and what may not be saved.

use stoker_conditions::Models;
use stoker_model::{Json, JsonMap};

use crate::restrictions::Effect;

/// A section, a setting or an option to which something happens.
#[derive(Clone, Debug, PartialEq)]
pub struct RestrictedSetting {
    pub section: String,
    /// `None`: the whole section.
    pub setting: Option<String>,
    /// `None`: the whole setting.
    pub option: Option<Json>,
    pub effect: Effect,
    /// Restrictions that cannot be evaluated; they do nothing.
    pub errors: Vec<String>,
    /// Whether it is switched on all the same: a checked box, an enabled section, a chosen option that is disabled.
    pub is_violated: bool,
}

impl RestrictedSetting {
    /// `section`, `section.setting` or `section.setting[data]`.
    pub fn path(&self) -> String {
        let Some(setting) = &self.setting else { return self.section.clone() };
        let place = format!("{}.{setting}", self.section);
        match &self.option {
            None => place,
            Some(Json::String(text)) => format!("{place}[{text}]"),
            Some(other) => format!("{place}[{other}]"),
        }
    }
}

/// Everything that restrictions do to settings `{section: {metadata, setting: {value, restrictions, …}}}`, in their order.
pub fn restricted_settings(settings: &JsonMap, models: &Models<'_, '_>) -> Vec<RestrictedSetting> {
    let mut walk = Walk { models, found: Vec::new() };
    for (name, section) in settings {
        if let Some(section) = section.as_object() {
            walk.section(name, section);
        }
    }
    walk.found
}

struct Walk<'a, 'f, 'm> {
    models: &'a Models<'f, 'm>,
    found: Vec<RestrictedSetting>,
}

impl Walk<'_, '_, '_> {
    fn section(&mut self, name: &str, section: &JsonMap) {
        let metadata = section.get("metadata").and_then(Json::as_object);
        let flag = |key: &str| metadata.and_then(|metadata| metadata.get(key)) == Some(&Json::Bool(true));
        let place = |setting: Option<&str>, option: Option<&Json>| Place {
            section: name.to_owned(),
            setting: setting.map(str::to_owned),
            option: option.cloned(),
        };
        let restrictions = metadata.and_then(|metadata| metadata.get("restrictions"));
        let whole = self.look(place(None, None), restrictions, flag("enabled"));
        // What is hidden, or belongs to a section that is switched off, is in nobody's way.
        let is_off = whole.is_hidden || (flag("toggleable") && !flag("enabled"));
        for (key, setting) in section.iter().filter(|(key, _)| *key != "metadata") {
            let Some(setting) = setting.as_object() else { continue };
            let value = setting.get("value");
            let is_checkbox = setting.get("type").is_some_and(|kind| kind == "checkbox");
            let is_on = !is_off && is_checkbox && value == Some(&Json::Bool(true));
            let own = self.look(place(Some(key), None), setting.get("restrictions"), is_on);
            for option in setting.get("values").and_then(Json::as_array).into_iter().flatten() {
                let is_chosen = !is_off && own.action().is_none() && option.get("data") == value;
                self.look(place(Some(key), option.get("data")), option.get("restrictions"), is_chosen);
            }
        }
    }

    fn look(&mut self, place: Place, restrictions: Option<&Json>, is_on: bool) -> Effect {
        let (effect, errors) = Effect::of(restrictions, self.models);
        if !effect.is_nothing() || !errors.is_empty() {
            let is_violated = is_on && effect.is_disabled && !effect.is_hidden;
            let Place { section, setting, option } = place;
            let effect = effect.clone();
            self.found.push(RestrictedSetting { section, setting, option, effect, errors, is_violated });
        }
        effect
    }
}

struct Place {
    section: String,
    setting: Option<String>,
    option: Option<Json>,
}
