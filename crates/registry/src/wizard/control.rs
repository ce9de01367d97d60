//! Controls of a wizard in display order.

use stoker_model::{Json, JsonMap};

use super::participant::{sorted_controls, sorted_panes};

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
