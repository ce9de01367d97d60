//! Restrictions of settings: effects on the settings page and violations that prevent saving.

use stoker_conditions::Models;
use stoker_model::{Json, JsonMap};

use crate::restrictions::RestrictionEffect;

/// A section, setting or option with an active restriction.
#[derive(Clone, Debug, PartialEq)]
pub struct RestrictedSetting {
    pub section: String,
    /// Name of the setting; `None` for the whole section.
    pub setting: Option<String>,
    /// Value of the option; `None` for the whole setting.
    pub option: Option<Json>,
    pub effect: RestrictionEffect,
    /// Errors of restrictions that cannot be evaluated; those have no effect.
    pub errors: Vec<String>,
    /// Disabled but in use: a checked box, an enabled section or a selected option.
    pub is_violated: bool,
}

impl RestrictedSetting {
    /// Returns `section`, `section.setting` or `section.setting[data]`.
    pub fn path(&self) -> String {
        let Some(setting) = &self.setting else { return self.section.clone() };
        let path = format!("{}.{setting}", self.section);
        match &self.option {
            None => path,
            Some(Json::String(text)) => format!("{path}[{text}]"),
            Some(other) => format!("{path}[{other}]"),
        }
    }
}

/// Evaluates all restrictions of settings `{section: {metadata, setting: {value, restrictions, …}}}`, in
/// document order.
pub fn restricted_settings(settings: &JsonMap, models: &Models<'_, '_>) -> Vec<RestrictedSetting> {
    let mut visitor = Visitor { models, restricted: Vec::new() };
    for (name, section) in settings {
        if let Some(section) = section.as_object() {
            visitor.section(name, section);
        }
    }
    visitor.restricted
}

struct Visitor<'a, 'f, 'm> {
    models: &'a Models<'f, 'm>,
    restricted: Vec<RestrictedSetting>,
}

impl Visitor<'_, '_, '_> {
    fn section(&mut self, name: &str, section: &JsonMap) {
        let metadata = section.get("metadata").and_then(Json::as_object);
        let flag = |key: &str| metadata.and_then(|metadata| metadata.get(key)) == Some(&Json::Bool(true));
        let target = |setting: Option<&str>, option: Option<&Json>| Target {
            section: name.to_owned(),
            setting: setting.map(str::to_owned),
            option: option.cloned(),
        };
        let restrictions = metadata.and_then(|metadata| metadata.get("restrictions"));
        let section_effect = self.evaluate(target(None, None), restrictions, flag("enabled"));
        // Hidden settings and settings of a disabled section are not in use.
        let is_off = section_effect.is_hidden || (flag("toggleable") && !flag("enabled"));
        for (key, setting) in section.iter().filter(|(key, _)| *key != "metadata") {
            let Some(setting) = setting.as_object() else { continue };
            let value = setting.get("value");
            let is_checkbox = setting.get("type").is_some_and(|kind| kind == "checkbox");
            let is_on = !is_off && is_checkbox && value == Some(&Json::Bool(true));
            let setting_effect = self.evaluate(target(Some(key), None), setting.get("restrictions"), is_on);
            for option in setting.get("values").and_then(Json::as_array).into_iter().flatten() {
                let is_chosen = !is_off && setting_effect.action().is_none() && option.get("data") == value;
                self.evaluate(target(Some(key), option.get("data")), option.get("restrictions"), is_chosen);
            }
        }
    }

    fn evaluate(&mut self, target: Target, restrictions: Option<&Json>, is_on: bool) -> RestrictionEffect {
        let (effect, errors) = RestrictionEffect::evaluate(restrictions, self.models);
        if !effect.is_empty() || !errors.is_empty() {
            let is_violated = is_on && effect.is_disabled && !effect.is_hidden;
            let Target { section, setting, option } = target;
            let effect = effect.clone();
            self.restricted.push(RestrictedSetting { section, setting, option, effect, errors, is_violated });
        }
        effect
    }
}

struct Target {
    section: String,
    setting: Option<String>,
    option: Option<Json>,
}
