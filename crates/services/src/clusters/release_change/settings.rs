//! Settings of a cluster that moves to another release. Values that the operator changed are kept where the new release has
//! the setting; others take the defaults of the new release.

use std::collections::BTreeMap;

use stoker_model::{Json, JsonMap};
use stoker_state::is_secret;

use crate::cluster_settings::setting_problems;

/// What happens to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingEffect {
    /// The operator's value is kept.
    Kept,
    /// The setting does not exist in the new release; its value is lost.
    Dropped,
    /// The operator's value is not valid in the new release; the setting takes the new default.
    Replaced,
    /// The setting is new.
    Added,
    /// The default changed, and the operator had not changed the value.
    Defaulted,
}

impl SettingEffect {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Dropped => "dropped",
            Self::Replaced => "replaced",
            Self::Added => "added",
            Self::Defaulted => "defaulted",
        }
    }
}

/// A setting that the move affects, or whose changed value it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingChange {
    /// Dotted path in the settings, such as `common.debug.value`.
    pub path: String,
    pub effect: SettingEffect,
    /// Values before and after; absent for secrets and where there is none.
    pub old: Option<Json>,
    pub new: Option<Json>,
    /// Why a value is replaced.
    pub reason: Option<String>,
}

pub(super) struct MovedSettings {
    pub(super) settings: JsonMap,
    pub(super) changes: Vec<SettingChange>,
}

type Path = Vec<String>;

/// Moves settings; `old` and `new` are the defaults of both releases.
pub(super) fn move_settings(current: &JsonMap, old: &JsonMap, new: JsonMap) -> MovedSettings {
    let (values, old_values, new_values) = (values_of(current), values_of(old), values_of(&new));
    let change = |path: &Path, effect, old: Option<&Json>, new_value: Option<&Json>| {
        let is_secret = is_secret_setting(current, path) || is_secret_setting(&new, path);
        let public = |value: Option<&Json>| value.filter(|_| !is_secret).cloned();
        SettingChange { path: path.join("."), effect, old: public(old), new: public(new_value), reason: None }
    };
    let mut changes = Vec::new();
    let mut edits: Vec<(Path, Json)> = Vec::new();
    for (path, value) in &values {
        let default = new_values.get(path);
        // A value that neither release knows was added by the operator.
        let is_own = default.is_none() && !old_values.contains_key(path);
        let is_edited = old_values.get(path) != Some(value);
        let (effect, reason) = match default {
            Some(default) if default == value => continue,
            None if !is_own => (SettingEffect::Dropped, None),
            Some(_) if !is_edited => (SettingEffect::Defaulted, None),
            _ => match problem(&new, path, value) {
                Some(reason) => (SettingEffect::Replaced, Some(reason)),
                None => (SettingEffect::Kept, None),
            },
        };
        let after = if effect == SettingEffect::Kept { Some(value) } else { default };
        changes.push(SettingChange { reason, ..change(path, effect, Some(value), after) });
        if effect == SettingEffect::Kept {
            edits.push((path.clone(), value.clone()));
        }
    }
    let added = new_values.iter().filter(|(path, _)| !values.contains_key(*path));
    changes.extend(added.map(|(path, value)| change(path, SettingEffect::Added, None, Some(value))));
    changes.sort_by(|left, right| left.path.cmp(&right.path));
    let mut settings = new;
    for (path, value) in edits {
        set(&mut settings, current, &path, value);
    }
    MovedSettings { settings, changes }
}

/// Returns the values that an operator can change, by path: those of settings, and the switches of sections.
fn values_of(settings: &JsonMap) -> BTreeMap<Path, Json> {
    let mut values = BTreeMap::new();
    for (name, value) in settings {
        collect(&mut vec![name.clone()], value, &mut values);
    }
    values
}

fn collect(path: &mut Path, value: &Json, values: &mut BTreeMap<Path, Json>) {
    let Json::Object(map) = value else {
        values.insert(path.clone(), value.clone());
        return;
    };
    let is_metadata = path.last().is_some_and(|name| name == "metadata");
    let only = if is_metadata {
        Some("enabled")
    } else if map.contains_key("value") {
        Some("value")
    } else {
        None
    };
    for (name, value) in map.iter().filter(|(name, _)| only.is_none_or(|only| only == name.as_str())) {
        path.push(name.clone());
        match only {
            Some(_) => _ = values.insert(path.clone(), value.clone()),
            None => collect(path, value, values),
        }
        path.pop();
    }
}

/// Returns why a value is not valid for a setting.
fn problem(settings: &JsonMap, path: &Path, value: &Json) -> Option<String> {
    let [section, setting, key] = &path[..] else { return None };
    let submitted = JsonMap::from_iter([(
        setting.clone(),
        Json::Object(JsonMap::from_iter([(key.clone(), value.clone())])),
    )]);
    let stored = settings.get(section).and_then(Json::as_object)?;
    setting_problems(section, stored, &submitted).into_iter().next().map(|problem| problem.message)
}

/// Sets a value. Missing maps on the way are copied from `current`, with everything that describes the setting.
fn set(settings: &mut JsonMap, current: &JsonMap, path: &[String], value: Json) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        settings.insert(name.clone(), value);
        return;
    }
    match (settings.get_mut(name), current.get(name)) {
        (Some(Json::Object(inner)), Some(Json::Object(current))) => set(inner, current, rest, value),
        (_, Some(current)) => _ = settings.insert(name.clone(), current.clone()),
        (_, None) => {}
    }
}

/// Reports whether a value is a password, by the type of its setting or by its name.
fn is_secret_setting(settings: &JsonMap, path: &[String]) -> bool {
    if path.iter().any(|name| is_secret(name)) {
        return true;
    }
    let mut setting = None;
    let mut map = Some(settings);
    for name in path {
        setting = map.and_then(|map| map.get("type"));
        map = map.and_then(|map| map.get(name)).and_then(Json::as_object);
    }
    setting.is_some_and(|setting_type| setting_type == "password")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Json) -> JsonMap {
        if let Json::Object(map) = value { map } else { JsonMap::new() }
    }

    fn lines(changes: &[SettingChange]) -> Vec<String> {
        let text = |value: &Option<Json>| value.as_ref().map_or_else(|| "-".to_owned(), Json::to_string);
        let line = |change: &SettingChange| {
            format!("{} {} {} {}", change.effect.as_str(), change.path, text(&change.old), text(&change.new))
        };
        changes.iter().map(line).collect()
    }

    #[test]
    fn changed_values_are_kept_and_others_take_the_new_defaults() {
        let old = map(json!({
            "common": {
                "metadata": {"label": "Common", "enabled": false},
                "debug": {"type": "checkbox", "value": false}, "level": {"type": "text", "value": "a"},
                "gone": {"type": "text", "value": "x"},
                "driver": {"type": "select", "value": "qemu", "values": [{"data": "qemu"}, {"data": "vm"}]},
                "password": {"type": "password", "value": "old secret"},
            },
            "removed": {"size": {"value": 1}},
        }));
        let mut current = old.clone();
        current["common"]["debug"]["value"] = json!(true);
        current["common"]["metadata"]["enabled"] = json!(true);
        current["common"]["driver"]["value"] = json!("vm");
        current["removed"]["size"]["value"] = json!(2);
        current.insert("mine".to_owned(), json!({"note": {"value": "n", "label": "Note"}}));
        let new = map(json!({
            "common": {
                "metadata": {"label": "General", "enabled": false},
                "debug": {"type": "checkbox", "value": false, "label": "Debug"}, "level": {"type": "text", "value": "b"},
                "driver": {"type": "select", "value": "kvm", "values": [{"data": "kvm"}]},
                "password": {"type": "password", "value": "new secret"},
                "fresh": {"value": 3},
            },
        }));
        let moved = move_settings(&current, &old, new);
        assert_eq!(
            lines(&moved.changes),
            [
                "kept common.debug.value true true",
                "replaced common.driver.value \"vm\" \"kvm\"",
                "added common.fresh.value - 3",
                "dropped common.gone.value \"x\" -",
                "defaulted common.level.value \"a\" \"b\"",
                "kept common.metadata.enabled true true",
                "defaulted common.password.value - -",
                "kept mine.note.value \"n\" \"n\"",
                "dropped removed.size.value 2 -",
            ]
        );
        assert_eq!(
            Json::Object(moved.settings),
            json!({
                "common": {
                    "metadata": {"label": "General", "enabled": true},
                    "debug": {"type": "checkbox", "value": true, "label": "Debug"}, "level": {"type": "text", "value": "b"},
                    "driver": {"type": "select", "value": "kvm", "values": [{"data": "kvm"}]},
                    "password": {"type": "password", "value": "new secret"},
                    "fresh": {"value": 3},
                },
                "mine": {"note": {"value": "n", "label": "Note"}},
            })
        );
    }

    #[test]
    fn unchanged_settings_are_not_reported() {
        let settings = map(json!({"a": {"b": {"value": 1}}, "c": [1], "d": {"metadata": {"label": "x"}}}));
        let moved = move_settings(&settings, &settings, settings.clone());
        assert_eq!((moved.changes, moved.settings), (Vec::new(), settings));
    }
}
