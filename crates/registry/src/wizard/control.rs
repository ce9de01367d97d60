//! Controls of a wizard in display order.

use stoker_model::{Json, JsonMap};

use super::participant::{sorted_controls, sorted_panes};

/// Prefix of binds and conditions that refer to a control as `Pane.control`.
pub(crate) const WIZARD_MODEL: &str = "wizard:";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlKind {
    /// One option of a list.
    Choice,
    Checkbox,
    Text,
}

pub(super) struct Control<'a> {
    pub(super) pane: &'a str,
    pub(super) name: &'a str,
    pub(super) body: &'a JsonMap,
    /// Metadata of the pane.
    pub(super) pane_metadata: Option<&'a JsonMap>,
    pub(super) kind: ControlKind,
}

impl<'a> Control<'a> {
    pub(super) fn path(&self) -> String {
        format!("{}.{}", self.pane, self.name)
    }

    pub(super) fn options(&self) -> Vec<&'a JsonMap> {
        let options = self.body.get("values").and_then(Json::as_array).into_iter().flatten();
        options.filter_map(Json::as_object).filter(|option| option.contains_key("data")).collect()
    }

    /// Returns the value of the control if it is not answered.
    pub(super) fn default_value(&self) -> Json {
        if let Some(value) = self.body.get("value").filter(|value| !value.is_null()) {
            return value.clone();
        }
        match self.kind {
            ControlKind::Choice => {
                self.options().first().and_then(|option| option.get("data")).cloned().unwrap_or_default()
            }
            ControlKind::Checkbox => Json::Bool(false),
            ControlKind::Text => Json::from(""),
        }
    }

    /// Reports whether the control can have the value, regardless of restrictions.
    pub(super) fn accepts(&self, value: &Json) -> bool {
        match self.kind {
            ControlKind::Choice => self.options().iter().any(|option| option.get("data") == Some(value)),
            ControlKind::Checkbox => value.is_boolean(),
            ControlKind::Text => value.is_string(),
        }
    }

    /// Returns what the binds set when the control has a value, in order. Binds of options follow those of the control.
    pub(super) fn bound_values(&self, value: &Json) -> Vec<(&'a str, Json)> {
        let is_on = self.kind == ControlKind::Checkbox && *value == Json::Bool(true);
        let mut values = bound(self.body, value, is_on);
        if self.kind == ControlKind::Choice {
            let option = self.options().into_iter().find(|option| option.get("data") == Some(value));
            values.extend(option.into_iter().flat_map(|option| bound(option, value, true)));
        }
        values
    }
}

/// Returns the binds of a control or an option: a path gets the value of the control; maps set their values if `sets_maps`.
fn bound<'a>(body: &'a JsonMap, value: &Json, sets_maps: bool) -> Vec<(&'a str, Json)> {
    let items = match body.get("bind") {
        Some(Json::Array(items)) => &items[..],
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    let mut values = Vec::new();
    for item in items {
        match item {
            Json::String(target) => values.push((target.as_str(), value.clone())),
            Json::Object(map) if sets_maps => {
                values.extend(map.iter().map(|(target, value)| (target.as_str(), value.clone())));
            }
            _ => {}
        }
    }
    values
}

/// Returns all controls with a value; controls of type `custom` have none.
pub(super) fn controls(wizard: &JsonMap) -> Vec<Control<'_>> {
    let mut controls = Vec::new();
    for (pane, members) in sorted_panes(wizard) {
        let pane_metadata = members.get("metadata").and_then(Json::as_object);
        for (name, body) in sorted_controls(members) {
            let kind = match body.get("type").and_then(Json::as_str) {
                Some("radio" | "select") => ControlKind::Choice,
                Some("checkbox") => ControlKind::Checkbox,
                Some("text" | "password") => ControlKind::Text,
                _ => continue,
            };
            controls.push(Control { pane, name, body, pane_metadata, kind });
        }
    }
    controls
}
