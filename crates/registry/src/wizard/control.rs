//! Controls of a wizard, in the order in which they are asked.

use stoker_model::{Json, JsonMap};

use super::participant::{sorted_controls, sorted_panes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of several options.
    Choice,
    Checkbox,
    Text,
}

pub(super) struct Control<'a> {
    pub(super) pane: &'a str,
    pub(super) name: &'a str,
    pub(super) body: &'a JsonMap,
    /// What is said about the whole pane.
    pub(super) pane_metadata: Option<&'a JsonMap>,
    pub(super) kind: Kind,
}

impl<'a> Control<'a> {
    pub(super) fn path(&self) -> String {
        format!("{}.{}", self.pane, self.name)
    }

    pub(super) fn options(&self) -> Vec<&'a JsonMap> {
        let options = self.body.get("values").and_then(Json::as_array).into_iter().flatten();
        options.filter_map(Json::as_object).filter(|option| option.contains_key("data")).collect()
    }

    /// What counts when nobody answers.
    pub(super) fn default_value(&self) -> Json {
        if let Some(value) = self.body.get("value").filter(|value| !value.is_null()) {
            return value.clone();
        }
        match self.kind {
            Kind::Choice => {
                self.options().first().and_then(|option| option.get("data")).cloned().unwrap_or_default()
            }
            Kind::Checkbox => Json::Bool(false),
            Kind::Text => Json::from(""),
        }
    }
}

/// Every control that asks something; others, of type `custom`, are drawings.
pub(super) fn controls(wizard: &JsonMap) -> Vec<Control<'_>> {
    let mut found = Vec::new();
    for (pane, members) in sorted_panes(wizard) {
        let pane_metadata = members.get("metadata").and_then(Json::as_object);
        for (name, body) in sorted_controls(members) {
            let kind = match body.get("type").and_then(Json::as_str) {
                Some("radio" | "select") => Kind::Choice,
                Some("checkbox") => Kind::Checkbox,
                Some("text" | "password") => Kind::Text,
                _ => continue,
            };
            found.push(Control { pane, name, body, pane_metadata, kind });
        }
    }
    found
}
